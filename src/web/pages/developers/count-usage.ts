import type { EndpointResponse } from '#contract/endpoints.ts'

type Row = EndpointResponse<'usage'>['usage'][number]
export type Parts = { answered: number; refused: number; failed: number }

/** One bucket for every period of the range, including those without a request. */
export function countBuckets(
  rows: readonly Row[],
  { since, until, ms }: { since: number; until: number; ms: number },
): (Parts & { at: number })[] {
  const buckets = Array.from(
    { length: Math.max(0, Math.round((until - since) / ms)) },
    (_, index) => ({
      at: since + index * ms,
      answered: 0,
      refused: 0,
      failed: 0,
    }),
  )
  for (const row of rows) {
    const bucket = buckets[Math.floor((row.startsAt - since) / ms)]
    if (bucket) bucket[partOf(row)] += row.requests
  }
  return buckets
}

/** The endpoints with the most requests first. */
export function countEndpoints(
  rows: readonly Row[],
): (Parts & { endpoint: string; requests: number })[] {
  const counts = new Map<string, Parts & { endpoint: string; requests: number }>()
  for (const row of rows) {
    const count = counts.get(row.endpoint) ?? {
      endpoint: row.endpoint,
      requests: 0,
      answered: 0,
      refused: 0,
      failed: 0,
    }
    count.requests += row.requests
    count[partOf(row)] += row.requests
    counts.set(row.endpoint, count)
  }
  return [...counts.values()].toSorted(
    (a, b) => b.requests - a.requests || (a.endpoint < b.endpoint ? -1 : 1),
  )
}

function partOf({ status }: Row): keyof Parts {
  return status === '5xx' ? 'failed' : status === '4xx' ? 'refused' : 'answered'
}
