import { queryOptions } from '@tanstack/react-query'
import type { LinkBody } from '#contract/link-endpoints.ts'
import { callProxy } from '../../api/client.ts'
import { queryClient } from '../../api/query-client.ts'

export const linksQuery = queryOptions({
  queryKey: ['linkList'],
  queryFn: async ({ signal }) => (await callProxy('linkList', {}, { signal })).links,
  refetchInterval: 15_000,
  staleTime: 5_000,
})

/** Puts a link's new state where the list shows it, without a second reading. */
export function cacheLink(link: LinkBody): void {
  queryClient.setQueryData(linksQuery.queryKey, (links) => {
    if (!links) return [link]
    const known = links.some(({ terms }) => terms.id === link.terms.id)
    return known
      ? links.map((each) => (each.terms.id === link.terms.id ? link : each))
      : [link, ...links]
  })
}
