import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import type { People } from '#contract/people-endpoints.ts'
import { callProxy } from '../../api/client.ts'
import { queryClient } from '../../api/query-client.ts'

export const peopleQuery = queryOptions({
  queryKey: ['peopleList'],
  queryFn: ({ signal }) => callProxy('peopleList', {}, { signal }),
  staleTime: 15_000,
})

export const invitationQuery = (code: string) =>
  queryOptions({
    queryKey: ['invitationRead', code],
    queryFn: ({ signal }) => callProxy('invitationRead', { body: { code } }, { signal }),
    staleTime: 15_000,
  })

/** The audit log, 50 entries at a time. */
export const auditQuery = infiniteQueryOptions({
  queryKey: ['auditRead'],
  queryFn: ({ signal, pageParam }) =>
    callProxy('auditRead', { body: { ...(pageParam && { before: pageParam }) } }, { signal }),
  initialPageParam: '',
  getNextPageParam: ({ next }) => next,
})

/** After a change of people: the answer is the new list; the log has one entry more. */
export function cachePeople(people: People): void {
  queryClient.setQueryData(peopleQuery.queryKey, people)
  void queryClient.invalidateQueries(auditQuery)
}

export function refreshPeople(): void {
  void queryClient.invalidateQueries(peopleQuery)
  void queryClient.invalidateQueries(auditQuery)
}
