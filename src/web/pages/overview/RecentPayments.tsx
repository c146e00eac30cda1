import { useInfiniteQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import { useArrivals } from '../../api/arrivals.ts'
import { matchesFilter } from '../../api/merge-payment.ts'
import { paymentsQuery, type Viewer } from '../../api/queries.ts'
import { queryClient } from '../../api/query-client.ts'
import { pathTo } from '../../paths.ts'
import { Link } from '../../router/Link.tsx'
import { QueryError } from '../../shell/QueryError.tsx'
import { buttonClass } from '../../ui/button-class.ts'
import { Card } from '../../ui/Card.tsx'
import { Skeleton } from '../../ui/Skeleton.tsx'
import { PaymentCard } from '../payments/PaymentCard.tsx'

const SHOWN = 6

/** The newest payments. Short enough that a new one may take its place at the top by itself. */
export function RecentPayments({ viewer }: { viewer: Viewer }) {
  const options = paymentsQuery(viewer, {}, SHOWN)
  const { data, error, refetch, isFetching } = useInfiniteQuery(options)
  const rows = data?.pages[0]?.payments ?? []
  const newest = useArrivals()[0]
  const missing = newest !== undefined && data !== undefined && matchesFilter(newest, viewer, {}) && !rows.some((row) => row.paymentId === newest.paymentId)

  useEffect(() => {
    if (missing) void queryClient.invalidateQueries({ queryKey: options.queryKey, exact: true })
    // The arrival's id is what makes a new reading necessary, not the options' identity.
    // oxlint-disable-next-line react/exhaustive-deps
  }, [missing, newest?.paymentId])

  return (
    <Card
      action={
        <Link className={buttonClass({ variant: 'quiet', size: 'sm' }, '-my-1')} to={pathTo('payments', {})}>
          All payments
        </Link>
      }
      flush
      title="Latest payments"
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
        <div aria-busy="true" aria-label="Loading payments" className="space-y-2 px-5 pb-5" role="status">
          {Array.from({ length: SHOWN }, (_, index) => (
            <Skeleton className="h-14" key={index} />
          ))}
        </div>
      )}
    </Card>
  )
}
