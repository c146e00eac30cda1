import { useInfiniteQuery } from '@tanstack/react-query'
import { useArrivals } from '../../api/arrivals.ts'
import { newArrivals } from '../../api/merge-payment.ts'
import { paymentsQuery, type PaymentFilter, type Viewer } from '../../api/queries.ts'
import { queryClient } from '../../api/query-client.ts'
import { pathTo } from '../../paths.ts'
import { Link } from '../../router/Link.tsx'
import { navigate } from '../../router/location.ts'
import { QueryError } from '../../shell/QueryError.tsx'
import { StaleBanner } from '../../shell/StaleBanner.tsx'
import { buttonClass } from '../../ui/button-class.ts'
import { Button } from '../../ui/Button.tsx'
import { Card } from '../../ui/Card.tsx'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { ListSkeleton } from './ListSkeleton.tsx'
import { NewPaymentsPill } from './NewPaymentsPill.tsx'
import { PaymentRows } from './PaymentRows.tsx'

/** The payments a filter names, newest first, page after page. */
export function PaymentList({ viewer, filter }: { viewer: Viewer; filter: PaymentFilter }) {
  const options = paymentsQuery(viewer, filter)
  const { data, error, dataUpdatedAt, isFetching, isFetchingNextPage, isFetchNextPageError, hasNextPage, fetchNextPage, refetch } = useInfiniteQuery(options)
  const arrivals = useArrivals()

  if (!data) {
    if (error) return <QueryError busy={isFetching} error={error} onRetry={() => void refetch()} />
    return <ListSkeleton />
  }

  const rows = data.pages.flatMap((page) => page.payments)
  const total = data.pages[0]?.total ?? rows.length
  const fresh = newArrivals(arrivals, rows, { viewer, filter })

  async function showNew() {
    // Only the first page is read again: the rows further down are still those that were read.
    queryClient.setQueryData(options.queryKey, (old) => old && { pages: old.pages.slice(0, 1), pageParams: old.pageParams.slice(0, 1) })
    window.scrollTo({ top: 0 })
    await refetch()
  }

  return (
    <>
      <StaleBanner error={isFetchNextPageError ? null : error} onRetry={() => void refetch()} readAt={dataUpdatedAt} />
      <NewPaymentsPill count={fresh.length} onShow={() => void showNew()} />
      {rows.length === 0 ? (
        <Card>{Object.values(filter).some(Boolean) ? <NothingFound searched={filter.q !== undefined} /> : <FirstRun />}</Card>
      ) : (
        <>
          <PaymentRows onEnd={() => hasNextPage && !isFetching && !isFetchNextPageError && void fetchNextPage()} rows={rows} total={total} />
          <div className="mt-3 flex min-h-10 flex-wrap items-center justify-between gap-3 text-sm text-muted">
            <span className="figures">
              {rows.length < total
                ? `${rows.length.toLocaleString()} of ${total.toLocaleString()} payments`
                : total === 1
                  ? '1 payment'
                  : `${total.toLocaleString()} payments`}
            </span>
            <span className="hidden text-xs lg:inline" aria-hidden>
              <Key>j</Key> <Key>k</Key> to move, <Key>Enter</Key> to open
            </span>
            {hasNextPage && (
              <Button busy={isFetchingNextPage} onClick={() => void fetchNextPage()} size="sm">
                {isFetchNextPageError ? 'Could not load more. Try again' : 'Load more'}
              </Button>
            )}
          </div>
        </>
      )}
    </>
  )
}

function Key({ children }: { children: string }) {
  return <kbd className="rounded-sm border border-line bg-surface px-1.5 py-0.5 font-mono text-xs">{children}</kbd>
}

function NothingFound({ searched }: { searched: boolean }) {
  return (
    <EmptyState
      action={<Button onClick={() => navigate(pathTo('payments', {}), { replace: true })}>Clear filters</Button>}
      icon="search"
      title="No payment matches"
    >
      {searched
        ? 'The search finds whole ids, addresses and references, and a web address from its beginning, with https://.'
        : 'Nothing here fits all of the filters at once.'}
    </EmptyState>
  )
}

function FirstRun() {
  return (
    <EmptyState
      action={
        <Link className={buttonClass({ variant: 'primary' })} to={pathTo('checkout', {})}>
          Make a first payment
        </Link>
      }
      icon="payments"
      title="No payments yet"
    >
      What you send or receive through this desk stands here, live, the moment it is made.
    </EmptyState>
  )
}
