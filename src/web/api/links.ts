import { queryOptions } from '@tanstack/react-query'
import type { LinkBody, ShortLinkBody } from '#contract/link-endpoints.ts'
import { callProxy } from './client.ts'
import { queryClient } from './query-client.ts'

export type AnyLink = LinkBody | ShortLinkBody

/** The terms that both kinds of links have. */
export function termsOf(link: AnyLink) {
  return 'short' in link ? link.short : link.terms
}

export const linksQuery = queryOptions({
  queryKey: ['linkList'],
  queryFn: async ({ signal }): Promise<AnyLink[]> => {
    const { links, short } = await callProxy('linkList', {}, { signal })
    return [...links, ...short].sort((one, other) => other.createdAt - one.createdAt)
  },
  refetchInterval: 15_000,
  staleTime: 5_000,
})

/** Puts a link's new state where the list shows it, without a second reading. */
export function cacheLink(link: AnyLink): void {
  const { id } = termsOf(link)
  queryClient.setQueryData(linksQuery.queryKey, (links) => {
    if (!links) return [link]
    const known = links.some((each) => termsOf(each).id === id)
    return known ? links.map((each) => (termsOf(each).id === id ? link : each)) : [link, ...links]
  })
}
