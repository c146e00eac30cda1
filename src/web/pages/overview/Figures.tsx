import { plural } from '@lingui/core/macro'
import { Plural, Trans, useLingui } from '@lingui/react/macro'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { lazy, Suspense, type ReactNode, useEffect } from 'react'
import type { EndpointResponse } from '#contract/endpoints.ts'
import { serverNow } from '../../api/clock.ts'
import { newArrivals } from '../../api/merge-payment.ts'
import { useNewPayments } from '../../api/new-payments.ts'
import { summaryQuery, type Viewer, newestQuery } from '../../api/queries.ts'
import { formatNumber } from '../../locales/formats.ts'
import { purposeOf } from '../../payment-view/describe-row.ts'
import { PaymentCard } from '../../payment-view/PaymentCard.tsx'
import { Link } from '../../router/Link.tsx'
import { navigate } from '../../router/location.ts'
import { pathTo } from '../../router/paths.ts'
import { useSearch } from '../../router/use-route.tsx'
import { PageHeader } from '../../shell/PageHeader.tsx'
import { PageSkeleton } from '../../shell/PageSkeleton.tsx'
import { QueryError } from '../../shell/QueryError.tsx'
import { StaleBanner } from '../../shell/StaleBanner.tsx'
import { Address } from '../../ui/Address.tsx'
import { Card } from '../../ui/Card.tsx'
import { Segmented } from '../../ui/Segmented.tsx'
import { Skeleton } from '../../ui/Skeleton.tsx'
import { UntrustedText } from '../../ui/UntrustedText.tsx'
import { buttonClass } from '../../ui/button-class.ts'
import { StatusMix } from '../../ui/chart/StatusMix.tsx'
import { AssetCard } from './AssetCard.tsx'
import { NothingYet } from './NothingYet.tsx'

const SHOWN = 6

/** The newest payments. Short enough that a new one may take its place at the top by itself. */
function RecentPayments({ viewer }: { viewer: Viewer }) {
  const { t } = useLingui()
  const { data, error, refetch, isFetching } = useQuery(newestQuery(viewer, {}, SHOWN))
  const rows = data?.payments ?? []
  const [newest] = newArrivals(useNewPayments(), rows, {
    viewer,
    filter: {},
    zone: 'utc',
    now: serverNow(),
  })
  const newestId = data && newest?.paymentId

  useEffect(() => {
    if (newestId) void refetch()
  }, [newestId, refetch])

  return (
    <Card
      action={
        <Link
          className={buttonClass({ variant: 'quiet', size: 'sm' }, '-my-1 -me-2.5')}
          to={pathTo('payments', {})}
        >
          <Trans>All payments</Trans>
        </Link>
      }
      flush
      title={<Trans>Latest payments</Trans>}
    >
      {data ? (
        <ul className="divide-y divide-line border-t border-line">
          {rows.map((row) => (
            <li key={row.paymentId}>
              <PaymentCard row={row} />
            </li>
          ))}
        </ul>
      ) : error ? (
        <QueryError busy={isFetching} error={error} onRetry={() => void refetch()} />
      ) : (
        <div aria-busy="true" aria-label={t`Loading`} className="space-y-2 px-5 pb-5" role="status">
          {Array.from({ length: SHOWN }, (_, index) => (
            <Skeleton className="h-14" key={index} />
          ))}
        </div>
      )}
    </Card>
  )
}

// They read the browser's store and the service before they show anything.
const Inbox = lazy(() => import('./Inbox.tsx').then((module) => ({ default: module.Inbox })))
const Undelivered = lazy(() =>
  import('./Undelivered.tsx').then((module) => ({ default: module.Undelivered })),
)
const RefundRequests = lazy(() =>
  import('./RefundRequests.tsx').then((module) => ({
    default: module.RefundRequests,
  })),
)
const Unmatched = lazy(() =>
  import('./Unmatched.tsx').then((module) => ({ default: module.Unmatched })),
)

const RANGES = ['7', '30', '90'] as const

/** What happened lately; for an operator who asks for it, money that no order has evidence for, or that nobody was told of, or that payers ask back. */
export function Figures({ viewer }: { viewer: Viewer }) {
  const { show } = useSearch('overview')
  if (show === undefined || viewer.wallets !== 'all') return <Lately viewer={viewer} />
  return (
    <Suspense fallback={<PageSkeleton />}>
      {show === 'unmatched' && <Unmatched />}
      {show === 'undelivered' && <Undelivered />}
      {show === 'refundRequests' && <RefundRequests />}
    </Suspense>
  )
}

function Lately({ viewer }: { viewer: Viewer }) {
  const { t } = useLingui()
  const search = useSearch('overview')
  const days = search.days ?? '30'
  const query = useQuery({
    ...summaryQuery(viewer, Number(days)),
    placeholderData: keepPreviousData,
  })
  return (
    <>
      <PageHeader
        action={
          <Segmented
            label={t`Time range`}
            onChange={(value) =>
              navigate(pathTo('overview', { search: { ...search, days: value } }), {
                replace: true,
              })
            }
            options={RANGES.map((value) => ({
              value,
              label: t`${plural(Number(value), { one: '# day', other: '# days' })}`,
            }))}
            value={days}
          />
        }
        subtitle={
          viewer.wallets === 'all' ? (
            <Trans>All merchant wallets</Trans>
          ) : (
            <Trans>Your wallets</Trans>
          )
        }
        title={<Trans>Overview</Trans>}
      />
      <StaleBanner
        error={query.data && query.error}
        onRetry={() => void query.refetch()}
        readAt={query.dataUpdatedAt}
      />
      <div className="mb-4 empty:hidden">
        <Suspense>
          <Inbox viewer={viewer} />
        </Suspense>
      </div>
      {query.data ? (
        <Summary summary={query.data} viewer={viewer} />
      ) : query.error ? (
        <QueryError
          busy={query.isFetching}
          error={query.error}
          onRetry={() => void query.refetch()}
        />
      ) : (
        <SummarySkeleton />
      )}
    </>
  )
}

function Summary({
  summary,
  viewer,
}: {
  summary: EndpointResponse<'paymentSummary'>
  viewer: Viewer
}) {
  const total = summary.statuses.reduce((sum, { count }) => sum + count, 0)
  const { rankedPayments } = summary
  const ranked = total > rankedPayments && (
    <Plural one="Of the latest payment" other="Of the latest # payments" value={rankedPayments} />
  )
  if (total === 0 && summary.assets.length === 0) return <NothingYet viewer={viewer} />
  return (
    <div className="grid gap-4 xl:grid-cols-3">
      <div className="grid min-w-0 content-start gap-4 xl:col-span-2">
        <AssetCard assets={summary.assets} />
        <RecentPayments viewer={viewer} />
      </div>
      <div className="grid min-w-0 content-start gap-4 sm:max-xl:grid-cols-2">
        <Card
          subtitle={<Plural one="# payment" other="# payments" value={total} />}
          title={<Trans>Status</Trans>}
        >
          <StatusMix statuses={summary.statuses} />
        </Card>
        <Ranking
          empty={<Trans>Nothing yet</Trans>}
          entries={summary.topPayers.map(({ address, count }) => ({
            kind: 'address',
            name: address,
            count,
          }))}
          subtitle={ranked}
          title={<Trans>Top payers</Trans>}
        />
        <Ranking
          empty={<Trans>Nothing yet</Trans>}
          entries={summary.topResources.map(({ resource, count }) => ({
            kind: 'resource',
            name: resource,
            count,
          }))}
          subtitle={ranked}
          title={<Trans>Paid resources</Trans>}
        />
      </div>
    </div>
  )
}

function SummarySkeleton() {
  const { t } = useLingui()
  return (
    <div
      aria-busy="true"
      aria-label={t`Loading`}
      className="grid gap-4 xl:grid-cols-3"
      role="status"
    >
      <div className="grid gap-4 xl:col-span-2">
        <Skeleton className="h-112 rounded-xl" />
        <Skeleton className="h-76 rounded-xl" />
      </div>
      <div className="grid content-start gap-4">
        <Skeleton className="h-52 rounded-xl" />
        <Skeleton className="h-52 rounded-xl" />
      </div>
    </div>
  )
}

type RankingProps = {
  title: ReactNode
  subtitle: ReactNode
  empty: ReactNode
  entries: readonly { kind: 'address' | 'resource'; name: string; count: number }[]
}

/** The first five by number of payments; each leads to its payments. */
function Ranking({ title, subtitle, empty, entries }: RankingProps) {
  const top = entries.slice(0, 5)
  const max = Math.max(1, ...top.map(({ count }) => count))
  return (
    <Card subtitle={subtitle} title={title}>
      {top.length === 0 && <p className="text-sm text-muted">{empty}</p>}
      <ul className="space-y-3 pointer-coarse:space-y-4">
        {top.map(({ kind, name, count }) => (
          <li key={name}>
            <Link
              className="group touch-target block rounded-sm text-sm"
              to={pathTo('payments', { search: { q: name } })}
            >
              <span className="flex items-baseline justify-between gap-3">
                <span className="min-w-0 truncate group-hover:underline" title={name}>
                  {kind === 'address' ? (
                    <Address value={name} />
                  ) : (
                    <UntrustedText text={purposeOf({ resource: name, metadata: null }) ?? name} />
                  )}
                </span>
                <span className="figures shrink-0 text-muted">{formatNumber(count)}</span>
              </span>
              <span aria-hidden className="mt-1 block h-1 rounded-full bg-neutral-soft">
                <span
                  className="forced-fill block h-1 rounded-full bg-edge"
                  style={{ width: `${(count / max) * 100}%` }}
                />
              </span>
            </Link>
          </li>
        ))}
      </ul>
    </Card>
  )
}
