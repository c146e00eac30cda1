import { useInfiniteQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import { useArrivals } from '../../api/arrivals.ts'
import { newArrivals } from '../../api/merge-payment.ts'
import { paymentsQuery, type Viewer } from '../../api/queries.ts'
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
  const { data, error, refetch, isFetching } = useInfiniteQuery(paymentsQuery(viewer, {}, SHOWN))
  const rows = data?.pages[0]?.payments ?? []
  const [newest] = newArrivals(useArrivals(), rows, { viewer, filter: {} })
  const newestId = data && newest?.paymentId

  useEffect(() => {
    if (newestId) void refetch()
  }, [newestId, refetch])

  return (
    <Card
      action={
        <Link className={buttonClass({ variant: 'quiet', size: 'sm' }, '-my-1 -me-2.5')} to={pathTo('payments', {})}>
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
