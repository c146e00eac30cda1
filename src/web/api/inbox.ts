import { queryOptions } from '@tanstack/react-query'
import { call } from './client.ts'

/** Money that arrived and that no order has evidence for, newest first; an operator's alone. */
export const unmatchedQuery = queryOptions({
  queryKey: ['unmatchedList'],
  queryFn: ({ signal }) => call('unmatchedList', { query: { limit: '100' } }, { signal }),
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
