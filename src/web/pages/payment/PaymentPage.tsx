import { Trans, useLingui } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { isSettled } from '#contract/payment.ts'
import { ApiError } from '../../api/errors.ts'
import { useLiveState } from '../../api/events.ts'
import { paymentQuery } from '../../api/queries.ts'
import { useSession } from '../../api/session.ts'
import { Link } from '../../router/Link.tsx'
import { pathTo } from '../../router/paths.ts'
import { useParams } from '../../router/use-route.tsx'
import { PageHeader } from '../../shell/PageHeader.tsx'
import { QueryError } from '../../shell/QueryError.tsx'
import { StaleBanner } from '../../shell/StaleBanner.tsx'
import { Card } from '../../ui/Card.tsx'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { Icon } from '../../ui/Icon.tsx'
import { Skeleton } from '../../ui/Skeleton.tsx'
import { buttonClass } from '../../ui/button-class.ts'
import { PaymentDetail } from './PaymentDetail.tsx'

const POLL_MS = 3_000
const SLOW_POLL_MS = 20_000

/** One payment: what the service says, step by step, and what the chain says beside it. */
export function PaymentPage() {
  const { paymentId } = useParams('payment')
  const live = useLiveState().kind === 'live'
  const query = useQuery({
    ...paymentQuery(paymentId),
    // Events bring the news; reading again is for when they do not, and for confirmations, which no event counts.
    refetchInterval: ({ state: { data } }) =>
      data &&
      isSettled(data.status) &&
      data.attribution.missing.length === 0 &&
      data.refund.pendingAtomic === '0'
        ? false
        : live && data?.status !== 'pending'
          ? SLOW_POLL_MS
          : POLL_MS,
  })

  return (
    <>
      <Link
        className={buttonClass({ variant: 'quiet', size: 'sm' }, 'mb-4 -ms-2.5')}
        to={pathTo('payments', {})}
      >
        <Icon name="arrowLeft" /> <Trans>Payments</Trans>
      </Link>
      <StaleBanner
        error={query.data && query.error}
        onRetry={() => void query.refetch()}
        readAt={query.dataUpdatedAt}
      />
      {query.data ? (
        <PaymentDetail payment={query.data} />
      ) : (
        <>
          <PageHeader title={<Trans>Payment</Trans>} />
          {query.error instanceof ApiError && query.error.code === 'NOT_FOUND' ? (
            <UnknownPayment id={paymentId} />
          ) : query.error ? (
            <Card>
              <QueryError
                busy={query.isFetching}
                error={query.error}
                onRetry={() => void query.refetch()}
              />
            </Card>
          ) : (
            <PaymentSkeleton />
          )}
        </>
      )}
    </>
  )
}

function PaymentSkeleton() {
  const { t } = useLingui()
  return (
    <div aria-busy="true" aria-label={t`Loading`} role="status">
      <Skeleton className="h-12 w-64" />
      <Skeleton className="mt-3 h-5 w-80" />
      <div className="mt-8 grid gap-4 lg:grid-cols-[minmax(0,1fr)_340px]">
        <Skeleton className="h-96 rounded-xl" />
        <Skeleton className="h-72 rounded-xl" />
      </div>
    </div>
  )
}

/** Where no payment of this id is, or none that the reader may see: nobody is told which of the two. */
function UnknownPayment({ id }: { id: string }) {
  const state = useSession()
  const all = state.kind === 'known' && state.session?.role
  return (
    <Card>
      <EmptyState
        action={
          <Link className={buttonClass({})} to={pathTo('payments', {})}>
            <Trans>All payments</Trans>
          </Link>
        }
        icon="search"
        title={<Trans>Payment not found</Trans>}
      >
        <span className="mb-2 block font-mono text-[13px] [overflow-wrap:anywhere]">{id}</span>
        {all ? <Trans>Check the ID.</Trans> : <Trans>Check the link, or switch wallets.</Trans>}
      </EmptyState>
    </Card>
  )
}
