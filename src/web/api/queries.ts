import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import type { EndpointResponse } from '#contract/endpoints.ts'
import type { SearchOf } from '../paths.ts'
import { call, callProxy } from './client.ts'

/** One row a read. The key starts with the endpoint's name, so that an event finds every reading it concerns. */

export const configQuery = queryOptions({
  queryKey: ['config'],
  queryFn: ({ signal }) => callProxy('config', {}, { signal }),
  staleTime: 5 * 60_000,
})

export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: async ({ signal }) => (await callProxy('session', {}, { signal })).session,
  staleTime: 60_000,
})

/** Whose payments: the whole account's, or those of some wallets. */
export type Viewer = { wallets: readonly string[] | 'all' }

export type PaymentFilter = SearchOf<'payments'>
export type PaymentPage = EndpointResponse<'paymentList'>

export const PAGE_SIZE = 50

export function paymentsQuery(viewer: Viewer, filter: PaymentFilter, limit = PAGE_SIZE) {
  return infiniteQueryOptions({
    queryKey: ['paymentList', viewer, filter, limit],
    queryFn: ({ pageParam, signal }) =>
      call('paymentList', { query: { ...filter, wallets: walletsOf(viewer), limit: String(limit), cursor: pageParam } }, { signal }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.nextCursor ?? undefined,
    staleTime: 15_000,
  })
}

export function paymentQuery(paymentId: string) {
  return queryOptions({
    queryKey: ['paymentStatus', paymentId],
    queryFn: ({ signal }) => call('paymentStatus', { params: { paymentId } }, { signal }),
    staleTime: 5_000,
  })
}

export function summaryQuery(viewer: Viewer, days: number) {
  return queryOptions({
    queryKey: ['paymentSummary', viewer, days],
    queryFn: ({ signal }) => call('paymentSummary', { query: { wallets: walletsOf(viewer), days: String(days) } }, { signal }),
    staleTime: 30_000,
  })
}

function walletsOf({ wallets }: Viewer): string | undefined {
  return wallets === 'all' ? undefined : wallets.join(',')
}
