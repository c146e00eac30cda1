import { Trans, useLingui } from '@lingui/react/macro'
import { useInfiniteQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { refundableOf } from '#contract/payment.ts'
import type { UndeliveredPayment } from '#contract/unmatched-endpoints.ts'
import { call } from '../../api/client.ts'
import { undeliveredQuery } from '../../api/inbox.ts'
import { describeError } from '../../errors/codes.ts'
import { joinMessage } from '../../errors/row.ts'
import { pathTo } from '../../router/paths.ts'
import { Link } from '../../router/Link.tsx'
import { useNetwork } from '../../api/use-config.ts'
import { ForRole } from '../../session/ForRole.tsx'
import { Address } from '../../ui/Address.tsx'
import { Amount } from '../../ui/Amount.tsx'
import { Banner } from '../../ui/Banner.tsx'
import { Button } from '../../ui/Button.tsx'
import { buttonClass } from '../../ui/button-class.ts'
import { Card } from '../../ui/Card.tsx'
import { Fact, Facts } from '../../ui/Facts.tsx'
import { Time } from '../../ui/Time.tsx'
import { toast } from '../../ui/Toast.tsx'
import { UntrustedText } from '../../ui/UntrustedText.tsx'
import { InboxList } from './InboxList.tsx'

/** Payments that were settled while their caller was gone. Only operators get here. */
export function Undelivered() {
  const query = useInfiniteQuery(undeliveredQuery)
  return (
    <InboxList
      itemsOf={({ payments }) => payments}
      keyOf={({ paymentId }) => paymentId}
      query={query}
      subtitle={<Trans>Customers can retry with the same payment.</Trans>}
      title={<Trans>Undelivered payments</Trans>}
    >
      {(payment) => <PaymentItem onChanged={() => void query.refetch()} payment={payment} />}
    </InboxList>
  )
}

function PaymentItem({
  payment,
  onChanged,
}: {
  payment: UndeliveredPayment
  onChanged: () => void
}) {
  const { t } = useLingui()
  const network = useNetwork(payment.network)
  const [busy, setBusy] = useState(false)
  const [problem, setProblem] = useState<string>()
  const { paymentId, resource } = payment

  async function reopen() {
    try {
      await call(
        'undeliveredReopen',
        { params: { paymentId }, body: {} },
        { idempotencyKey: crypto.randomUUID() },
      )
      onChanged()
    } catch (error) {
      toast(joinMessage(describeError(error)), { tone: 'bad' })
    }
  }

  async function close() {
    setBusy(true)
    setProblem(undefined)
    try {
      await call(
        'undeliveredClose',
        { params: { paymentId }, body: {} },
        { idempotencyKey: crypto.randomUUID() },
      )
      onChanged()
      toast(t`Marked as delivered`, { undo: () => void reopen() })
    } catch (error) {
      setProblem(joinMessage(describeError(error)))
      setBusy(false)
    }
  }

  return (
    <li>
      <Card>
        <div className="flex flex-wrap items-baseline justify-between gap-x-4 gap-y-1">
          <h2>
            <Amount
              atomic={payment.amountAtomic}
              decimals={payment.decimals}
              exact
              size="lg"
              symbol={payment.symbol}
            />
          </h2>
          <Time at={payment.timestamp} className="text-sm text-muted" />
        </div>
        <Facts className="mt-3">
          <Fact name={t`From`} long>
            <Address copy full value={payment.sender} />
          </Fact>
          {resource !== null && (
            <Fact name={t`Resource`} long>
              <UntrustedText text={resource} />
            </Fact>
          )}
          <Fact name={t`Network`}>{network?.name ?? payment.network}</Fact>
          {payment.refund.state === 'partial' && (
            <Fact name={t`Refunded`}>
              <Amount
                atomic={payment.refund.refundedAtomic}
                decimals={payment.decimals}
                symbol={payment.symbol}
              />
            </Fact>
          )}
        </Facts>
        <div className="mt-4 flex flex-wrap gap-2 border-t border-line pt-4">
          <ForRole least="operator">
            <Button busy={busy} onClick={() => void close()} size="sm">
              <Trans>Mark as delivered</Trans>
            </Button>
            {refundableOf(payment) > 0n && (
              <Link
                className={buttonClass({ size: 'sm' })}
                to={pathTo('refund', { params: { paymentId } })}
              >
                <Trans>Refund</Trans>
              </Link>
            )}
          </ForRole>
          <Link
            className={buttonClass({ size: 'sm' })}
            to={pathTo('payment', { params: { paymentId } })}
          >
            <Trans>Show the payment</Trans>
          </Link>
        </div>
        {problem && (
          <Banner className="mt-3" role="alert" tone="bad">
            {problem}
          </Banner>
        )}
      </Card>
    </li>
  )
}
