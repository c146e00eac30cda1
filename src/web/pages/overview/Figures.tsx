import { keepPreviousData, useQuery } from '@tanstack/react-query'
import type { EndpointResponse } from '#contract/endpoints.ts'
import { summaryQuery, type Viewer } from '../../api/queries.ts'
import { pathTo } from '../../paths.ts'
import { Link } from '../../router/Link.tsx'
import { navigate } from '../../router/location.ts'
import { useSearch } from '../../router/use-route.ts'
import { PageHeader } from '../../shell/PageHeader.tsx'
import { QueryError } from '../../shell/QueryError.tsx'
import { StaleBanner } from '../../shell/StaleBanner.tsx'
import { buttonClass } from '../../ui/button-class.ts'
import { Card } from '../../ui/Card.tsx'
import { StatusMix } from '../../ui/chart/StatusMix.tsx'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { Segmented } from '../../ui/Segmented.tsx'
import { Skeleton } from '../../ui/Skeleton.tsx'
import { AssetCard } from './AssetCard.tsx'
import { Ranking } from './Ranking.tsx'
import { RecentPayments } from './RecentPayments.tsx'

const ranges = [
  { value: '7', label: '7 days' },
  { value: '30', label: '30 days' },
  { value: '90', label: '90 days' },
] as const

export function Figures({ viewer }: { viewer: Viewer }) {
  const days = useSearch('overview').days ?? '30'
  const query = useQuery({ ...summaryQuery(viewer, Number(days)), placeholderData: keepPreviousData })
  return (
    <>
      <PageHeader
        action={
          <Segmented
            label="Time range"
            onChange={(value) => navigate(pathTo('overview', { search: { days: value } }), { replace: true })}
            options={ranges}
            value={days}
          />
        }
        subtitle={viewer.wallets === 'all' ? 'All wallets of this desk' : 'Your wallets'}
        title="Overview"
      />
      <StaleBanner error={query.data && query.error} onRetry={() => void query.refetch()} readAt={query.dataUpdatedAt} />
      {query.data ? (
        <Summary summary={query.data} viewer={viewer} />
      ) : query.error ? (
        <QueryError busy={query.isFetching} error={query.error} onRetry={() => void query.refetch()} />
      ) : (
        <SummarySkeleton />
      )}
    </>
  )
}

function Summary({ summary, viewer }: { summary: EndpointResponse<'paymentSummary'>; viewer: Viewer }) {
  const total = summary.statuses.reduce((sum, { count }) => sum + count, 0)
  if (total === 0) {
    return (
      <Card>
        <EmptyState
          action={
            <Link className={buttonClass({ variant: 'primary' })} to={pathTo('checkout', {})}>
              Make a first payment
            </Link>
          }
          icon="payments"
          title="No payments in this time"
        >
          The first one shows up here the moment it is made, without a reload.
        </EmptyState>
      </Card>
    )
  }
  return (
    <div className="grid gap-4 xl:grid-cols-3">
      <div className="grid min-w-0 content-start gap-4 xl:col-span-2">
        {summary.assets.map((asset) => (
          <AssetCard asset={asset} key={`${asset.network} ${asset.asset}`} />
        ))}
        <RecentPayments viewer={viewer} />
      </div>
      <div className="grid min-w-0 content-start gap-4 sm:max-xl:grid-cols-2">
        <Card subtitle={`${total.toLocaleString()} payments`} title="How they ended">
          <StatusMix statuses={summary.statuses} />
        </Card>
        <Ranking
          empty="No payer yet."
          entries={summary.topPayers.map(({ address, count }) => ({ kind: 'address', name: address, count }))}
          title="Who pays most often"
        />
        <Ranking
          empty="No payment named a resource."
          entries={summary.topResources.map(({ resource, count }) => ({ kind: 'resource', name: resource, count }))}
          title="What is paid for"
        />
      </div>
    </div>
  )
}

function SummarySkeleton() {
  return (
    <div aria-busy="true" aria-label="Loading figures" className="grid gap-4 xl:grid-cols-3" role="status">
      <div className="grid gap-4 xl:col-span-2">
        <Skeleton className="h-76 rounded-xl" />
        <Skeleton className="h-76 rounded-xl" />
      </div>
      <div className="grid content-start gap-4">
        <Skeleton className="h-52 rounded-xl" />
        <Skeleton className="h-52 rounded-xl" />
      </div>
    </div>
  )
}
