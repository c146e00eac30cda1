import { Trans, useLingui } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import type { RefundRequest } from '#contract/refund-request.ts'
import { refundRequestsQuery } from '../../../api/inbox.ts'
import { useNetwork } from '../../../api/use-config.ts'
import {
  CustomerReason,
  RefundRequestActions,
} from '../../../payment-view/RefundRequestActions.tsx'
import { Link } from '../../../router/Link.tsx'
import { pathTo } from '../../../router/paths.ts'
import { ForRole } from '../../../session/ForRole.tsx'
import { PageHeader } from '../../../shell/PageHeader.tsx'
import { QueryError } from '../../../shell/QueryError.tsx'
import { StaleBanner } from '../../../shell/StaleBanner.tsx'
import { Address } from '../../../ui/Address.tsx'
import { Amount } from '../../../ui/Amount.tsx'
import { Badge } from '../../../ui/Badge.tsx'
import { buttonClass } from '../../../ui/button-class.ts'
import { Card } from '../../../ui/Card.tsx'
import { CopyButton } from '../../../ui/CopyButton.tsx'
import { EmptyState } from '../../../ui/EmptyState.tsx'
import { Fact, Facts } from '../../../ui/Facts.tsx'
import { Icon } from '../../../ui/Icon.tsx'
import { Skeleton } from '../../../ui/Skeleton.tsx'
import { Time } from '../../../ui/Time.tsx'

/** Refunds that payers ask for, each with its evidence. Only people of the account get here. */
export function RefundRequests() {
  return (
    <>
      <Link
        className={buttonClass({ variant: 'quiet', size: 'sm' }, 'mb-4 -ms-2.5')}
        to={pathTo('overview', {})}
      >
        <Icon name="arrowLeft" /> <Trans>Overview</Trans>
      </Link>
      <PageHeader title={<Trans>Refund requests</Trans>} />
      <Requests />
    </>
  )
}

function Requests() {
  const { t } = useLingui()
  const query = useQuery(refundRequestsQuery)
  const { data, error, refetch, isFetching } = query
  if (!data) {
    if (error) return <QueryError busy={isFetching} error={error} onRetry={() => void refetch()} />
    return (
      <div aria-busy="true" aria-label={t`Loading`} role="status">
        <Skeleton className="h-40 rounded-xl" />
      </div>
    )
  }
  const { requests, total } = data
  const shown = requests.length
  return (
    <>
      <StaleBanner error={error} onRetry={() => void refetch()} readAt={query.dataUpdatedAt} />
      {shown === 0 ? (
        <Card>
          <EmptyState icon="check" title={<Trans>All done</Trans>} />
        </Card>
      ) : (
        <ul className="grid gap-4">
          {requests.map((request) => (
            <li key={request.requestId}>
              <RequestCard request={request} />
            </li>
          ))}
        </ul>
      )}
      {total > shown && (
        <p className="mt-4 text-sm text-muted">
          <Trans>
            Newest {shown} of {total}
          </Trans>
        </p>
      )}
    </>
  )
}

function RequestCard({ request }: { request: RefundRequest }) {
  const { t } = useLingui()
  const network = useNetwork(request.network)
  const { paymentId, amountAtomic, decimals, symbol, state } = request
  return (
    <Card>
      <div className="flex flex-wrap items-baseline justify-between gap-x-4 gap-y-1">
        <h2 className="text-base font-semibold">
          <Amount atomic={amountAtomic} decimals={decimals} exact symbol={symbol} />
        </h2>
        <Time at={request.timestamp} className="text-sm text-muted" />
      </div>
      <p className="mt-2 text-sm">
        <CustomerReason reason={request.reason} />
      </p>
      <Facts className="mt-3">
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
            <RefundRequestActions request={request} />
          </ForRole>
        )}
        <CopyButton label={t`Copy signature`} text value={request.signature} />
      </div>
    </Card>
  )
}
