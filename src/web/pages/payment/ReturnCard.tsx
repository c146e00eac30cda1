import { useQuery } from '@tanstack/react-query'
import { Trans, useLingui } from '@lingui/react/macro'
import { formatAmount } from '#contract/amount.ts'
import type { PaymentStatusBody } from '#contract/payment-body.ts'
import { isPaid } from '#contract/payment.ts'
import { hasRole } from '#contract/role.ts'
import { describeError } from '../../errors/codes.ts'
import { joinMessage } from '../../errors/join-message.ts'
import { useSession } from '../../api/session.ts'
import { pathTo } from '../../router/paths.ts'
import { Link } from '../../router/Link.tsx'
import { Amount } from '../../ui/Amount.tsx'
import { buttonClass } from '../../ui/button-class.ts'
import { Card } from '../../ui/Card.tsx'
import { Fact, Facts } from '../../ui/Facts.tsx'
import { Skeleton } from '../../ui/Skeleton.tsx'
import { StatusPill } from '../../ui/StatusPill.tsx'
import { requestsOfPaymentQuery } from '../../api/inbox.ts'
import { referenceOf } from '../../payment-view/describe-row.ts'
import { CustomerReason, RefundRequestActions } from '../../payment-view/RefundRequestActions.tsx'
import type { RefundRequest } from '#contract/refund-request.ts'
import { ForRole } from '../../session/ForRole.tsx'
import { Time } from '../../ui/Time.tsx'
import { UntrustedText } from '../../ui/UntrustedText.tsx'
import { readReturned } from './returned.ts'

/** For the payee of a payment that arrived: what went back of it, and a payment that sends the rest, through the same review as any other. */
export function ReturnCard({ payment }: { payment: PaymentStatusBody }) {
  const session = useSession()
  const { t } = useLingui()
  const viewer = session.kind === 'known' ? session.viewer : null
  const mine =
    viewer !== null && (viewer.wallets === 'all' || viewer.wallets.includes(payment.recipient))
  // Who only looks at the account refunds nothing.
  const refunds =
    session.kind === 'known' &&
    (hasRole(session.session?.role, 'operator') ||
      session.session?.wallets.includes(payment.recipient))
  const { data, error } = useQuery({
    // An event about any payment may be about a return of this one.
    queryKey: ['paymentSummary', 'returned', payment.paymentId],
    queryFn: ({ signal }) => readReturned(payment, signal),
    enabled: mine && isPaid(payment.status),
  })
  const { data: asked } = useQuery({
    ...requestsOfPaymentQuery(payment.paymentId),
    enabled: mine && isPaid(payment.status),
  })
  if (!mine || !isPaid(payment.status)) return null
  const money = { decimals: payment.decimals, symbol: payment.symbol }
  return (
    <Card subtitle={<Trans>A separate payment to the payer.</Trans>} title={<Trans>Refund</Trans>}>
      {asked && asked.requests.length > 0 && (
        <ul className="mb-4 space-y-4 border-b border-line pb-4">
          {asked.requests.map((request) => (
            <li key={request.requestId}>
              <Request request={request} />
            </li>
          ))}
        </ul>
      )}
      {data ? (
        <>
          <Facts>
            {data.paidAtomic > 0n && (
              <Fact name={<Trans>Refunded</Trans>}>
                <Amount atomic={data.paidAtomic} exact {...money} />
              </Fact>
            )}
            {data.underWayAtomic > 0n && (
              <Fact name={<Trans>Under way</Trans>}>
                <Amount atomic={data.underWayAtomic} exact {...money} />
              </Fact>
            )}
            <Fact name={<Trans>Refundable</Trans>}>
              <Amount atomic={data.leftAtomic} exact {...money} />
            </Fact>
          </Facts>
          {data.returns.length > 0 && (
            <ul className="mt-3 space-y-2 border-t border-line pt-3 text-sm">
              {data.returns.map((row) => (
                <li className="flex items-center justify-between gap-3" key={row.paymentId}>
                  <Link
                    className="underline decoration-edge underline-offset-4"
                    to={pathTo('payment', { params: { paymentId: row.paymentId } })}
                  >
                    <Amount atomic={row.amountAtomic} {...money} />
                  </Link>
                  <StatusPill status={row.status} />
                </li>
              ))}
            </ul>
          )}
          {refunds && data.leftAtomic > 0n && (
            <Link
              className={buttonClass({}, 'mt-4')}
              to={pathTo('checkout', {
                search: {
                  to: payment.sender,
                  network: payment.network,
                  asset: payment.asset,
                  amount: formatAmount(data.leftAtomic, payment.decimals),
                  reference: referenceOf(payment)?.slice(0, 100),
                  refundOf: payment.paymentId,
                },
              })}
            >
              {data.returns.length > 0 ? <Trans>Refund the rest</Trans> : <Trans>Refund</Trans>}
            </Link>
          )}
        </>
      ) : error ? (
        <p className="text-sm text-muted">
          {joinMessage({
            title: describeError(error).title,
            body: t`Refunded amount unknown. Refunds are unavailable here.`,
          })}
        </p>
      ) : (
        <Skeleton className="h-16" />
      )}
    </Card>
  )
}

/** What the payer asked for, and what became of it. */
function Request({ request }: { request: RefundRequest }) {
  const { amountAtomic, decimals, symbol, state, declined } = request
  const amount = <Amount atomic={amountAtomic} decimals={decimals} exact symbol={symbol} />
  return (
    <div className="text-sm">
      <p className="font-medium">
        {state === 'open' && <Trans>Refund of {amount} requested</Trans>}
        {state === 'refunding' && <Trans>Refund of {amount} under way</Trans>}
        {state === 'refunded' && <Trans>Request for {amount} refunded</Trans>}
        {state === 'declined' && <Trans>Request for {amount} declined</Trans>}
      </p>
      <p className="text-muted">
        <Trans>Signed by the payer.</Trans> <Time at={request.timestamp} />
      </p>
      <p className="mt-1">
        <CustomerReason reason={request.reason} />
      </p>
      {state === 'declined' && declined?.note && (
        <p className="mt-1 [overflow-wrap:anywhere]">
          <Trans>Your note to the customer:</Trans>{' '}
          <q>
            <UntrustedText text={declined.note} />
          </q>
        </p>
      )}
      {state === 'open' && (
        <ForRole least="operator">
          <div className="mt-3 flex gap-2">
            <RefundRequestActions request={request} />
          </div>
        </ForRole>
      )}
    </div>
  )
}
