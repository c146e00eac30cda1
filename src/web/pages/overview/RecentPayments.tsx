import { useQuery } from '@tanstack/react-query'
import { Trans, useLingui } from '@lingui/react/macro'
import { useEffect } from 'react'
import { useNewPayments } from '../../api/new-payments.ts'
import { newArrivals } from '../../api/merge-payment.ts'
import { newestQuery, type Viewer } from '../../api/queries.ts'
import { serverNow } from '../../api/clock.ts'
import { pathTo } from '../../router/paths.ts'
import { Link } from '../../router/Link.tsx'
import { QueryError } from '../../shell/QueryError.tsx'
import { buttonClass } from '../../ui/button-class.ts'
import { Card } from '../../ui/Card.tsx'
import { Skeleton } from '../../ui/Skeleton.tsx'
import { PaymentCard } from '../../payment-view/PaymentCard.tsx'

const SHOWN = 6

/** The newest payments. Short enough that a new one may take its place at the top by itself. */
export function RecentPayments({ viewer }: { viewer: Viewer }) {
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
        <div
          aria-busy="true"
          aria-label={t`Loading payments`}
          className="space-y-2 px-5 pb-5"
          role="status"
        >
          {Array.from({ length: SHOWN }, (_, index) => (
            <Skeleton className="h-14" key={index} />
          ))}
        </div>
      )}
    </Card>
  )
}
