import { Trans, useLingui } from '@lingui/react/macro'
import { useInfiniteQuery } from '@tanstack/react-query'
import type { ListedRefundRequest } from '#contract/refund-request.ts'
import { refundRequestsQuery } from '../../api/inbox.ts'
import { useNetwork } from '../../api/use-config.ts'
import { orderLine } from '../../payment-view/describe-row.ts'
import { CustomerReason, RefundRequestActions } from '../../payment-view/RefundRequestActions.tsx'
import { Link } from '../../router/Link.tsx'
import { pathTo } from '../../router/paths.ts'
import { ForRole } from '../../session/ForRole.tsx'
import { Address } from '../../ui/Address.tsx'
import { Amount } from '../../ui/Amount.tsx'
import { Badge } from '../../ui/Badge.tsx'
import { Card } from '../../ui/Card.tsx'
import { CopyButton } from '../../ui/CopyButton.tsx'
import { Fact, Facts } from '../../ui/Facts.tsx'
import { Time } from '../../ui/Time.tsx'
import { UntrustedText } from '../../ui/UntrustedText.tsx'
import { InboxList } from './InboxList.tsx'

/** Refunds that payers ask for, each with its evidence. Only people of the account get here. */
export function RefundRequests() {
  return (
    <InboxList
      itemsOf={({ requests }) => requests}
      keyOf={({ requestId }) => requestId}
      query={useInfiniteQuery(refundRequestsQuery)}
      title={<Trans>Refund requests</Trans>}
    >
      {(request) => (
        <li>
          <RequestCard request={request} />
        </li>
      )}
    </InboxList>
  )
}

function RequestCard({ request }: { request: ListedRefundRequest }) {
  const { t } = useLingui()
  const network = useNetwork(request.network)
  const { paymentId, amountAtomic, decimals, symbol, state } = request
  const order = orderLine(request)
  return (
    <Card>
      <div className="flex flex-wrap items-baseline justify-between gap-x-4 gap-y-1">
        <h2>
          <Amount atomic={amountAtomic} decimals={decimals} exact size="lg" symbol={symbol} />
        </h2>
        <Time at={request.timestamp} className="text-sm text-muted" />
      </div>
      <p className="mt-2 text-sm">
        <CustomerReason reason={request.reason} />
      </p>
      <Facts className="mt-3">
        {order !== null && (
          <Fact name={t`For`} long>
            <UntrustedText text={order} />
          </Fact>
        )}
        <Fact name={t`Signed by`} long>
          <Address copy full value={request.payer} />
        </Fact>
        <Fact name={t`Paid to`} long>
          <Address copy full value={request.recipient} />
        </Fact>
        <Fact name={t`Network`}>{network?.name ?? request.network}</Fact>
        <Fact name={t`Payment`}>
          <Link
            className="underline decoration-edge underline-offset-4"
            to={pathTo('payment', { params: { paymentId } })}
          >
            <Trans>Show the payment</Trans>
          </Link>
        </Fact>
      </Facts>
      <div className="mt-4 flex flex-wrap items-center gap-2">
        {state === 'refunding' ? (
          <Badge tone="info">
            <Trans>Refund under way</Trans>
          </Badge>
        ) : (
          <ForRole least="operator">
            <RefundRequestActions primary request={request} />
          </ForRole>
        )}
        <CopyButton label={t`Copy signature`} quiet text value={request.signature} />
      </div>
    </Card>
  )
}
