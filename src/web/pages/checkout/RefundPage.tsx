import { Trans, useLingui } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { useCallback, useState } from 'react'
import { formatAmount } from '#contract/amount.ts'
import type { PaymentStatusBody } from '#contract/payment-body.ts'
import { isPaid, refundableOf } from '#contract/payment.ts'
import { useRefundWallets } from '../../api/hosted-wallets.ts'
import { paymentQuery } from '../../api/queries.ts'
import { useNetwork } from '../../api/use-config.ts'
import { Link } from '../../router/Link.tsx'
import { navigate } from '../../router/location.ts'
import { pathTo } from '../../router/paths.ts'
import { useParams, useSearch } from '../../router/use-route.tsx'
import { PageHeader } from '../../shell/PageHeader.tsx'
import { PageSkeleton } from '../../shell/PageSkeleton.tsx'
import { QueryError } from '../../shell/QueryError.tsx'
import { Address } from '../../ui/Address.tsx'
import { Amount } from '../../ui/Amount.tsx'
import { Banner } from '../../ui/Banner.tsx'
import { Card } from '../../ui/Card.tsx'
import { Fact, Facts } from '../../ui/Facts.tsx'
import { Icon } from '../../ui/Icon.tsx'
import { UntrustedText } from '../../ui/UntrustedText.tsx'
import { buttonClass } from '../../ui/button-class.ts'
import { Checkout } from './Checkout.tsx'
import { PayFrom, type PayingWallet } from './PayFrom.tsx'
import { HostedCheckout } from './hosted/HostedCheckout.tsx'

const PENDING_POLL_MS = 3_000

/**
 * Returns a payment, in whole or part. The payment decides to whom, on which network and in which
 * asset; only the amount and the reason are open. With an amount in the address the review comes
 * first.
 */
export function RefundPage() {
  const { paymentId } = useParams('refund')
  const { data, error, isFetching, refetch } = useQuery({
    ...paymentQuery(paymentId),
    // A refund that is prepared and not signed expires, and what it held can be refunded.
    refetchInterval: ({ state }) =>
      state.data && state.data.refund.pendingAtomic !== '0' ? PENDING_POLL_MS : false,
  })
  return (
    <div className="mx-auto max-w-[880px]">
      <Link
        className={buttonClass({ variant: 'quiet', size: 'sm' }, 'no-print mb-4 -ms-2.5')}
        to={pathTo('payment', { params: { paymentId } })}
      >
        <Icon name="arrowLeft" /> <Trans>Payment</Trans>
      </Link>
      {data ? (
        <Refund key={paymentId} payment={data} />
      ) : error ? (
        <>
          <PageHeader title={<Trans>Refund</Trans>} />
          <Card>
            <QueryError busy={isFetching} error={error} onRetry={() => void refetch()} />
          </Card>
        </>
      ) : (
        <PageSkeleton />
      )}
    </div>
  )
}

function Refund({ payment }: { payment: PaymentStatusBody }) {
  const { t } = useLingui()
  const { amount, reason, from, payment: refundPaymentId } = useSearch('refund')
  const { paymentId } = payment
  const managed = useRefundWallets(payment)
  const [chosen, setChosen] = useState<PayingWallet>()
  const left = refundableOf(payment)
  // What is prepared here counts as on its way: the form stays.
  const [open, setOpen] = useState(left > 0n)
  if (!open && left > 0n) setOpen(true)
  const addressOf = useCallback(
    (at: { payment?: string }) =>
      pathTo('refund', { params: { paymentId }, search: { payment: at.payment, from } }),
    [paymentId, from],
  )
  // Opened again, this address shows the form: what is signed is not prepared once more.
  const forget = useCallback(() => navigate(addressOf({}), { replace: true }), [addressOf])
  if (managed === undefined) return <PageSkeleton />
  const payer = from ?? payment.recipient
  const isManaged = managed.some(({ wallet }) => wallet === payer)
  const source = managed.length === 0 ? 'own' : (chosen ?? (isManaged ? 'managed' : 'own'))
  const closed =
    payment.refundOf !== null || !isPaid(payment.status)
      ? t`This payment cannot be refunded.`
      : !open && refundPaymentId === undefined
        ? t`Nothing left to refund.`
        : undefined
  const prefill = {
    network: payment.network,
    asset: payment.asset,
    to: payment.sender,
    amount: amount ?? formatAmount(left, payment.decimals),
    description: reason,
    refund: payment,
  }
  const begin = amount !== undefined
  return (
    <>
      <div className="no-print">
        <PageHeader
          action={
            managed.length > 0 &&
            closed === undefined &&
            refundPaymentId === undefined && <PayFrom onChange={setChosen} value={source} />
          }
          title={<Trans>Refund</Trans>}
        />
      </div>
      {closed !== undefined ? (
        <>
          <Original payment={payment} />
          <Banner role="note" tone="info">
            {closed}
          </Banner>
        </>
      ) : source === 'managed' ? (
        <>
          <Original payment={payment} />
          <HostedCheckout
            begin={begin}
            onSigned={forget}
            prefill={{ from: payer, network: payment.network, asset: payment.asset }}
            refund={{ payment, amount: prefill.amount, reason }}
            wallets={managed}
          />
        </>
      ) : (
        <Checkout
          addressOf={addressOf}
          prefill={prefill}
          begin={begin}
          item={<Original begun={refundPaymentId !== undefined} payment={payment} />}
          paymentId={refundPaymentId}
        />
      )}
    </>
  )
}

/** What is refunded, and to whom: nothing of it can be changed. */
function Original({
  payment,
  begun,
}: {
  payment: PaymentStatusBody
  /** What is reviewed below is no longer refundable. */
  begun?: boolean
}) {
  const { t } = useLingui()
  const network = useNetwork(payment.network)
  const { amountAtomic, decimals, symbol, metadata, paymentId } = payment
  const money = { decimals, symbol, exact: true }
  const left = refundableOf(payment)
  const reference = metadata?.['referenceId']
  return (
    <Card className="mb-4">
      <h2 className="mb-3 font-medium">
        <Trans>
          Refund of{' '}
          <Link
            className="underline decoration-edge underline-offset-4"
            to={pathTo('payment', { params: { paymentId } })}
          >
            <Amount atomic={amountAtomic} {...money} />
          </Link>
        </Trans>
      </h2>
      <Facts>
        <Fact long name={t`Paid by`}>
          <Address copy full value={payment.sender} />
        </Fact>
        <Fact long name={t`Paid to`}>
          <Address copy full value={payment.recipient} />
        </Fact>
        <Fact name={t`Network`}>{network?.name ?? payment.network}</Fact>
        {typeof reference === 'string' && (
          <Fact name={t`Reference`}>
            <UntrustedText text={reference} />
          </Fact>
        )}
        {!begun && left !== BigInt(amountAtomic) && (
          <Fact name={t`Refundable`}>
            <Amount atomic={left} {...money} />
          </Fact>
        )}
      </Facts>
    </Card>
  )
}
