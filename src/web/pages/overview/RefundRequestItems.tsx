import { Plural, Trans } from '@lingui/react/macro'
import type { ListedRefundRequest } from '#contract/refund-request.ts'
import { useConfig } from '../../api/use-config.ts'
import { orderLine } from '../../payment-view/describe-row.ts'
import { CustomerReason, RefundRequestActions } from '../../payment-view/RefundRequestActions.tsx'
import { Link } from '../../router/Link.tsx'
import { pathTo } from '../../router/paths.ts'
import { ForRole } from '../../session/ForRole.tsx'
import { Address } from '../../ui/Address.tsx'
import { Amount } from '../../ui/Amount.tsx'
import { buttonClass } from '../../ui/button-class.ts'
import { Time } from '../../ui/Time.tsx'
import { UntrustedText } from '../../ui/UntrustedText.tsx'
import { InboxItem } from './InboxItem.tsx'

/** As many as do not push the rest of the inbox out of sight. */
const MOST = 3

/** Refunds that payers ask for: the newest to decide here, the others on their page. */
export function RefundRequestItems({
  requests,
  total,
}: {
  requests: readonly ListedRefundRequest[]
  total: number
}) {
  const more = total - Math.min(total, MOST)
  return (
    <>
      {requests.slice(0, MOST).map((request) => (
        <RefundRequestItem key={request.requestId} request={request} />
      ))}
      {more > 0 && (
        <InboxItem
          action={
            <Link
              className={buttonClass({ size: 'sm' })}
              to={pathTo('overview', { search: { show: 'refundRequests' } })}
            >
              <Trans>Show</Trans>
            </Link>
          }
          icon="back"
          title={<Plural one="# more refund request" other="# more refund requests" value={more} />}
          tone="info"
        />
      )}
    </>
  )
}

function RefundRequestItem({ request }: { request: ListedRefundRequest }) {
  const { sellerWallets } = useConfig()
  const { paymentId, amountAtomic, decimals, symbol, state } = request
  const amount = <Amount atomic={amountAtomic} decimals={decimals} symbol={symbol} />
  const payer = <Address value={request.payer} />
  const time = <Time at={request.timestamp} />
  const order = orderLine(request)
  return (
    <InboxItem
      action={
        state === 'open' && (
          <ForRole least="operator">
            <RefundRequestActions request={request} />
          </ForRole>
        )
      }
      icon="back"
      title={
        <Link
          className="underline decoration-edge underline-offset-4"
          to={pathTo('payment', { params: { paymentId } })}
        >
          {state === 'refunding' ? (
            <Trans>Refund of {amount} under way</Trans>
          ) : (
            <Trans>Refund of {amount} requested</Trans>
          )}
        </Link>
      }
      tone="info"
    >
      {order !== null && (
        <span className="block">
          <Trans>For</Trans>{' '}
          <q>
            <UntrustedText text={order} />
          </q>
        </span>
      )}
      <Trans>
        Requested by {payer}, {time}.
      </Trans>{' '}
      <CustomerReason reason={request.reason} />
      {/* Anyone can pay a wallet of their own and have it recorded by this account. */}
      {!sellerWallets.includes(request.recipient) && (
        <span className="block">
          <Trans>Paid to</Trans> <Address copy full value={request.recipient} />
        </span>
      )}
    </InboxItem>
  )
}
