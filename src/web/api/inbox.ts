import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { call, callProxy } from './client.ts'
import { webhooksQuery, whileOnePage } from './queries.ts'

type PageQuery = { limit: string; offset: string }

/** A list of the inbox, read page by page, each after what was read before. */
function inboxList<Page extends { total: number }>(
  queryKey: readonly string[],
  read: (query: PageQuery, options: { signal: AbortSignal }) => Promise<Page>,
  countOf: (page: Page) => number,
) {
  return infiniteQueryOptions({
    queryKey,
    queryFn: ({ signal, pageParam }) =>
      read({ limit: '100', offset: String(pageParam) }, { signal }),
    initialPageParam: 0,
    getNextPageParam: ({ total }, pages) => {
      const count = pages.reduce((sum, page) => sum + countOf(page), 0)
      return count < total ? count : undefined
    },
    staleTime: 10_000,
    refetchInterval: whileOnePage(30_000),
  })
}

/** Money that arrived and that no order has evidence for, undecided first; an operator's alone. */
export const unmatchedQuery = inboxList(
  ['unmatchedList'],
  (query, options) => call('unmatchedList', { query }, options),
  ({ transfers }) => transfers.length,
)

/** Payments that are paid and that no caller was told of, newest first; an operator's alone. */
export const undeliveredQuery = inboxList(
  ['undeliveredList'],
  (query, options) => call('undeliveredList', { query }, options),
  ({ payments }) => payments.length,
)

/** Refunds that payers ask for and that nobody has decided about, newest first; for people of the account. */
export const refundRequestsQuery = inboxList(
  ['refundRequests', 'open'],
  (query, options) => call('refundRequestList', { query }, options),
  ({ requests }) => requests.length,
)

/** Payments of links and invoices that the merchant owes back, those that were made longest ago first; for people of the account. */
export const surplusQuery = infiniteQueryOptions({
  queryKey: ['surplusList'],
  queryFn: ({ signal, pageParam }) =>
    callProxy('surplusList', { body: { ...(pageParam && { after: pageParam }) } }, { signal }),
  initialPageParam: '',
  getNextPageParam: ({ next }) => next,
  staleTime: 10_000,
  refetchInterval: whileOnePage(30_000),
})

/** The account's webhooks with the number of failed deliveries. A key without `keys:manage` is asked once. */
export const failedWebhooksQuery = queryOptions({
  ...webhooksQuery,
  refetchInterval: ({ state }) => (state.error ? false : 30_000),
  refetchOnWindowFocus: ({ state }) => !state.error,
})

/** Paid files whose source gave their payer nothing; for people of the account. */
export const fileFailuresQuery = queryOptions({
  queryKey: ['fileFailures'],
  queryFn: ({ signal }) => callProxy('fileFailures', {}, { signal }),
  staleTime: 10_000,
  refetchInterval: 30_000,
})

/** The requests of one payment, and what its payer may ask for. */
export function requestsOfPaymentQuery(paymentId: string) {
  return queryOptions({
    queryKey: ['refundRequests', paymentId],
    queryFn: ({ signal }) => call('refundRequestRead', { params: { paymentId } }, { signal }),
    staleTime: 5_000,
  })
}
