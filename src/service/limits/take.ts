import { sql } from 'drizzle-orm'
import { BURST } from '#contract/api-key.ts'
import type { Database } from '#postgres/open.ts'

export type Verdict = {
  allowed: boolean
  limit: number
  /** Of the plan's quota; the burst on top of it is grace and not advertised. */
  remaining: number
  /** Unix seconds at which the whole quota is there again. */
  reset: number
  /** Seconds until one more request is let through; 0 when this one was. */
  retryAfter: number
}

const MINUTE_US = 60_000_000

/**
 * Counts one request against a quota per minute (GCRA). One statement, so the row's lock makes it exact over all processes, on one clock:
 * the database's. The row holds when the bucket will be empty again; a request is let through while that lies within the burst's reach.
 */
export async function takeRequest(db: Database, key: string, requestsPerMinute: number): Promise<Verdict> {
  const step = Math.ceil(MINUTE_US / requestsPerMinute)
  const reach = step * Math.floor(requestsPerMinute * BURST)
  const now = sql`(extract(epoch from now()) * 1000000)::bigint`
  const next = sql`greatest(bucket.arrival_us, ${now}) + ${step}::bigint`
  const fits = sql`${next} - ${now} <= ${reach}::bigint`
  const { rows } = await db.execute<{ allowed: boolean; arrival: string; now: string }>(sql`
    insert into service.rate_limit as bucket (key, arrival_us, allowed) values (${key}, ${now} + ${step}::bigint, true)
    on conflict (key) do update set arrival_us = case when ${fits} then ${next} else bucket.arrival_us end, allowed = ${fits}
    returning bucket.allowed, bucket.arrival_us::text as arrival, ${now}::text as now`)
  const [row] = rows
  if (!row) throw new Error('The rate limit statement returned no row.')
  // Microseconds since 1970 stay exact in a double until the year 2255.
  const backlog = Number(row.arrival) - Number(row.now)
  return {
    allowed: row.allowed,
    limit: requestsPerMinute,
    remaining: Math.max(0, requestsPerMinute - Math.ceil(backlog / step)),
    reset: Math.ceil(Number(row.arrival) / 1_000_000),
    retryAfter: row.allowed ? 0 : Math.max(1, Math.ceil((backlog + step - reach) / 1_000_000)),
  }
}
