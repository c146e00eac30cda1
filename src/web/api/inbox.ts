import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { call, callProxy } from './client.ts'
import { webhooksQuery } from './queries.ts'

/** Money that arrived and that no order has evidence for, undecided first; an operator's alone. */
export const unmatchedQuery = infiniteQueryOptions({
  queryKey: ['unmatchedList'],
  queryFn: ({ signal, pageParam }) =>
    call('unmatchedList', { query: { limit: '100', offset: String(pageParam) } }, { signal }),
  initialPageParam: 0,
  getNextPageParam: ({ total }, pages) => {
    const read = pages.reduce((sum, { transfers }) => sum + transfers.length, 0)
    return read < total ? read : undefined
  },
  staleTime: 10_000,
  refetchInterval: 30_000,
})

/** Payments that are paid and that no caller was told of, newest first; an operator's alone. */
export const undeliveredQuery = queryOptions({
  queryKey: ['undeliveredList'],
  queryFn: ({ signal }) => call('undeliveredList', { query: { limit: '100' } }, { signal }),
  staleTime: 10_000,
  refetchInterval: 30_000,
})

/** Refunds that payers ask for and that nobody has decided about, newest first; for people of the account. */
export const refundRequestsQuery = queryOptions({
  queryKey: ['refundRequests', 'open'],
  queryFn: ({ signal }) => call('refundRequestList', { query: { limit: '100' } }, { signal }),
  staleTime: 10_000,
  refetchInterval: 30_000,
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
