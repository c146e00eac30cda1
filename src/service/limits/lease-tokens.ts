import { sql } from 'drizzle-orm'
import type { Database } from '#postgres/open.ts'

/** The window of every limit. */
const WINDOW_MS = 60_000
/** A leased token can be spent so long after its process asked for it, and no longer. */
export const SPEND_MS = 2_000
/** Charges are kept together that were made within one slot. */
const SLOT_MS = 250
/** A charge counts in its own slot and in so many after it. */
const KEPT_SLOTS = (WINDOW_MS + SPEND_MS) / SLOT_MS
/** The longest time after which a token that was leased can be leased again. */
export const CHARGED_MS = (KEPT_SLOTS + 1) * SLOT_MS

/** Unspent tokens and the slot they were charged in. They come back at once. */
export type ReturnedTokens = { slot: number; tokens: number }

export type LeaseRequest = {
  /** The name of the limit. */
  pool: string
  /** Requests a minute. */
  capacity: number
  /** Requests that wait for a token. */
  needed: number
  /** Tokens for requests to come; at most a quarter of what is left after `needed` is given for them. */
  extra: number
  back: readonly ReturnedTokens[]
}

export type Lease = {
  granted: number
  slot: number
  /** Tokens that are left to lease. */
  available: number
  /** Milliseconds until a token is certainly left to lease; 0 when one is. */
  freeInMs: number
  /** Milliseconds since the latest lease of any process; tokens of a lease younger than `SPEND_MS` may come back. */
  sinceLatestMs: number
  /** Unix milliseconds, by the database's clock, at which the whole capacity is left again. */
  emptyAt: number
}

export type LeaseTokens = (requests: readonly LeaseRequest[]) => Promise<Lease[]>

type Row = Record<'granted' | 'slot' | 'available' | 'nowMs' | 'freeAtMs' | 'emptyAtMs', string>

/**
 * Leases tokens out of limits, in one short statement that waits for no disk. Answers in the order of the requests.
 *
 * The invariant: in any 60 seconds at most `capacity` tokens of a limit are spent, by all processes together.
 * A token that is spent at the time x was leased at a time in (x − 2 s, x], because its process counts the 2 seconds from before it asked. So the
 * tokens spent within 60 seconds were leased within less than 62 seconds. The database leases at most `capacity` in that time: a charge counts
 * at least 62 seconds (at most 62.25: slots are whole). A process that dies takes its tokens with it until then; nobody spends them.
 * What it rests on: the database's clock is not set forward, and a crashed database server did not forget its last leases (`synchronous_commit`
 * is off here, so it may forget those of its last moments).
 *
 * @param atMs the time, for tests; the database's clock otherwise
 */
export async function leaseTokens(
  db: Database,
  requests: readonly LeaseRequest[],
  atMs?: number,
): Promise<Lease[]> {
  const list = requests.map(({ pool, capacity, needed, extra, back }, place) => ({
    place,
    pool,
    capacity,
    needed,
    extra,
    slots: back.map(({ slot }) => slot),
    tokens: back.map(({ tokens }) => tokens),
  }))
  // In the order of their names: two processes lock the same rows in the same order.
  const { rows } = await db.execute<Row>(sql`
    select leased.granted::text, leased.slot::text, leased.available::text,
      leased.now_ms::text as "nowMs", leased.free_at_ms::text as "freeAtMs", leased.empty_at_ms::text as "emptyAtMs"
    from (
      select * from json_to_recordset(${JSON.stringify(list)}::json)
        as listed(place int, pool text, capacity int, needed int, extra int, slots bigint[], tokens int[])
      order by pool
    ) as asked
    cross join lateral service.lease_tokens(
      asked.pool, asked.capacity, asked.needed, asked.extra, asked.slots, asked.tokens, ${SLOT_MS}::int, ${KEPT_SLOTS}::int, ${atMs ?? null}::bigint
    ) as leased
    order by asked.place`)
  return rows.map((row) => {
    const [now, emptyAt] = [Number(row.nowMs), Number(row.emptyAtMs)]
    return {
      granted: Number(row.granted),
      slot: Number(row.slot),
      available: Number(row.available),
      freeInMs: Number(row.freeAtMs) - now,
      sinceLatestMs: now - (emptyAt - CHARGED_MS),
      emptyAt,
    }
  })
}
