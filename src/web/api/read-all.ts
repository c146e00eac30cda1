import { call } from './client.ts'
import { ApiError } from './errors.ts'
import type { ListQuery } from './payment-filter.ts'
import { walletsOf, type PaymentPage, type Viewer } from './queries.ts'
import { queryClient } from './query-client.ts'

/** As many rows as one answer of the service may hold. */
const MOST_ROWS = 500

/** Every payment a query names, page after page, the newest first. `until` keeps later ones out. @throws ApiError */
export async function* readAllPayments(
  viewer: Viewer,
  query: ListQuery,
  { until, signal }: { until: number | undefined; signal: AbortSignal },
): AsyncGenerator<PaymentPage> {
  let cursor: string | undefined
  do {
    const page: PaymentPage = await queryClient.fetchQuery({
      queryKey: ['paymentExport', viewer, query, until, cursor],
      queryFn: () =>
        call(
          'paymentList',
          {
            query: {
              ...query,
              ...(until !== undefined && {
                until: String(Math.min(until, Number(query.until ?? until))),
              }),
              wallets: walletsOf(viewer),
              limit: String(MOST_ROWS),
              cursor,
            },
          },
          { signal },
        ),
      gcTime: 0,
      retry: (failures, error) =>
        !signal.aborted &&
        error instanceof ApiError &&
        (error.code === 'RATE_LIMIT' || (error.retryable && failures < 3)),
    })
    yield page
    cursor = page.nextCursor ?? undefined
  } while (cursor)
}
