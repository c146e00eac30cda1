import { and, asc, eq, gt, inArray, lte, max, or, sql } from 'drizzle-orm'
import type { Database } from '#postgres/open.ts'
import { event, payment } from '../db/schema.ts'

/** What a subscriber follows: all payments of its account, or those that some wallets sent or received. */
export type Filter = { accountId: string; payments: boolean; wallets: readonly string[] }

export type EventRow = typeof event.$inferSelect

const PAGE = 100

/**
 * The next events after a position, oldest first. Ids become visible in their own order (see `recordEvent`), so a reader that goes on from the
 * last one it saw misses nothing and gets nothing twice.
 */
export async function readEvents(db: Database, filter: Filter, after: bigint): Promise<EventRow[]> {
  const rows = await db
    .select({ event })
    .from(event)
    .innerJoin(payment, eq(payment.id, event.paymentId))
    .where(and(eq(event.accountId, filter.accountId), gt(event.id, after), matches(filter)))
    .orderBy(asc(event.id))
    .limit(PAGE)
  return rows.map((row) => row.event)
}

/** The id of an account's newest event; 0 without one. */
export async function lastEventId(db: Database, accountId: string): Promise<bigint> {
  const [row] = await db
    .select({ id: max(event.id) })
    .from(event)
    .where(eq(event.accountId, accountId))
  return row?.id ?? 0n
}

/** How many events a payment had when this one was written, itself included. */
export async function countUpTo(db: Database, row: EventRow): Promise<number> {
  return await db.$count(event, and(eq(event.paymentId, row.paymentId), lte(event.id, row.id)))
}

function matches(filter: Filter) {
  if (filter.payments) return undefined
  if (filter.wallets.length === 0) return sql`false`
  return or(inArray(payment.sender, [...filter.wallets]), inArray(payment.recipient, [...filter.wallets]))
}
