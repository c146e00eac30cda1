import { Trans } from '@lingui/react/macro'
import { useState } from 'react'
import type { PaymentStatusBody } from '#contract/payment-body.ts'
import { call } from '../../api/client.ts'
import { pathTo } from '../../router/paths.ts'
import { Link } from '../../router/Link.tsx'
import { QueryError } from '../../shell/QueryError.tsx'
import { Amount } from '../../ui/Amount.tsx'
import { Button } from '../../ui/Button.tsx'
import { buttonClass } from '../../ui/button-class.ts'
import { Card } from '../../ui/Card.tsx'
import { Fact, Facts } from '../../ui/Facts.tsx'
import { Icon } from '../../ui/Icon.tsx'
import { StatusPill } from '../../ui/StatusPill.tsx'

/**
 * A payment of this merchant, by its id: its state, and its proof, which can be checked like any
 * other.
 */
export function PaymentIdView({ id, onProof }: { id: string; onProof: (header: string) => void }) {
  const [payment, setPayment] = useState<PaymentStatusBody>()
  const [error, setError] = useState<unknown>()
  const [busy, setBusy] = useState(false)

  async function look() {
    setBusy(true)
    setError(undefined)
    try {
      setPayment(await call('paymentStatus', { params: { paymentId: id } }))
    } catch (problem) {
      setError(problem)
    } finally {
      setBusy(false)
    }
  }

  if (error) return <QueryError busy={busy} error={error} onRetry={() => void look()} />
  if (!payment) {
    return (
      <Card
        subtitle={
          <Trans>
            It belongs to this merchant. The payer, the recipient and the operator can view it.
          </Trans>
        }
        title={<Trans>A payment id</Trans>}
      >
        <Button
          busy={busy}
          icon={<Icon name="search" />}
          onClick={() => void look()}
          variant="primary"
        >
          <Trans>Look it up</Trans>
        </Button>
      </Card>
    )
  }
  const { paymentProof } = payment
  return (
    <Card
      action={<StatusPill status={payment.status} />}
      title={<Trans>The service’s record</Trans>}
    >
      <Facts>
        <Fact name={<Trans>Amount</Trans>}>
          <Amount
            atomic={payment.amountAtomic}
            decimals={payment.decimals}
            exact
            symbol={payment.symbol}
          />
        </Fact>
      </Facts>
      <div className="mt-4 flex flex-wrap gap-2">
        <Link
          className={buttonClass({ variant: paymentProof ? 'secondary' : 'primary' })}
          to={pathTo('payment', { params: { paymentId: id } })}
        >
          <Trans>Show the payment</Trans>
        </Link>
        {paymentProof && (
          <Button
            icon={<Icon name="shield" />}
            onClick={() => onProof(paymentProof)}
            variant="primary"
          >
            <Trans>Check its proof</Trans>
          </Button>
        )}
      </div>
    </Card>
  )
}
