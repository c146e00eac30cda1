import { and, asc, eq, gt, inArray, lte, max, or, sql } from 'drizzle-orm'
import type { EventKind } from '#contract/event.ts'
import type { Database } from '#postgres/open.ts'
import { event, payment } from '../db/schema/payment.ts'

/**
 * NOTIFY on this channel means: these accounts have new events; without names, any may have. It
 * carries no event, rows are the truth.
 */
export const EVENT_CHANNEL = 'service_event'

/** What a subscriber follows: these kinds of event of its whole account, and every kind of what some wallets sent or received. */
export type Filter = { accountId: string; kinds: readonly EventKind[]; wallets: readonly string[] }

export type EventRow = typeof event.$inferSelect & { number: bigint }

const PAGE = 100

/** Drafts are in no feed. Spelled as in the index. */
const isFed = sql`not ${event.draft}`

/**
 * The next events after a position, oldest first. Numbers become visible in their own order (see `numberEvents`), so a reader that goes on from
 * the last one it saw misses nothing and gets nothing twice.
 */
export async function readEvents(db: Database, filter: Filter, after: bigint): Promise<EventRow[]> {
  const rows = await db
    .select({ event })
    .from(event)
    .innerJoin(payment, eq(payment.id, event.paymentId))
    .where(
      and(eq(event.accountId, filter.accountId), isFed, gt(event.number, after), matches(filter)),
    )
    .orderBy(asc(event.number))
    .limit(PAGE)
  return rows.flatMap(({ event: { number, ...row } }) =>
    number === null ? [] : { ...row, number },
  )
}

/** The event of a number. @throws Error when there is none */
export async function readEvent(db: Database, number: bigint): Promise<EventRow> {
  const [row] = await db.select().from(event).where(eq(event.number, number))
  if (!row) throw new Error(`There is no event ${number}.`)
  return { ...row, number }
}

/** The number of the newest event that an account's feed has; 0 without one. */
export async function lastEventId(db: Database, accountId: string): Promise<bigint> {
  const [row] = await db
    .select({ number: max(event.number) })
    .from(event)
    .where(and(eq(event.accountId, accountId), isFed))
  return row?.number ?? 0n
}

/** How often a payment had changed its status when this event was written, by this event included. */
export async function countUpTo(db: Database, row: EventRow): Promise<number> {
  return await db.$count(
    event,
    and(eq(event.paymentId, row.paymentId), eq(event.kind, 'payment'), lte(event.id, row.id)),
  )
}

function matches(filter: Filter) {
  const ofWallets = [
    inArray(payment.sender, [...filter.wallets]),
    inArray(payment.recipient, [...filter.wallets]),
  ]
  return or(inArray(event.kind, [...filter.kinds]), ...(filter.wallets.length > 0 ? ofWallets : []))
}
