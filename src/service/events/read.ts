import { and, asc, count, eq, gt, inArray, lte, max, or, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/pg-core'
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
  const { accountId, kinds, wallets } = filter
  const later = and(eq(event.accountId, accountId), isFed, gt(event.number, after))
  const ofKinds = db
    .select({ id: event.id })
    .from(event)
    .where(and(later, inArray(event.kind, [...kinds])))
    .orderBy(asc(event.number))
    .limit(PAGE)
  const ofWallets = db
    .select({ id: event.id })
    .from(event)
    .innerJoin(payment, and(eq(payment.id, event.paymentId), isOfWallets(filter)))
    .where(later)
    .orderBy(asc(event.number))
    .limit(PAGE)
  const monitored = [
    ...(kinds.length > 0 ? [ofKinds] : []),
    ...(wallets.length > 0 ? [ofWallets] : []),
  ]
  if (monitored.length === 0) return []
  // One statement, so that both see the same events: the page ends before the first one that either of them left out.
  const rows = await db
    .select()
    .from(event)
    .where(inArray(event.id, sql`(${sql.join(monitored, sql` union `)})`))
    .orderBy(asc(event.number))
    .limit(PAGE)
  return rows.flatMap(({ number, ...row }) => (number === null ? [] : { ...row, number }))
}

/** Spelled so that the account's indexes of senders and recipients hold: a quiet wallet costs few rows, however many events the account has. */
function isOfWallets({ accountId, wallets }: Filter) {
  return and(
    eq(payment.accountId, accountId),
    sql`not ${payment.draft}`,
    or(inArray(payment.sender, [...wallets]), inArray(payment.recipient, [...wallets])),
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

const earlier = alias(event, 'earlier')

/** How often the payment of each of these events had changed its status when the event was written, by the event included. One query. */
export async function countUpTo(
  db: Database,
  rows: readonly EventRow[],
): Promise<ReadonlyMap<bigint, number>> {
  const counted = await db
    .select({ id: event.id, changes: count() })
    .from(event)
    .innerJoin(
      earlier,
      and(
        eq(earlier.paymentId, event.paymentId),
        eq(earlier.kind, 'payment'),
        lte(earlier.id, event.id),
      ),
    )
    .where(
      inArray(
        event.id,
        rows.map(({ id }) => id),
      ),
    )
    .groupBy(event.id)
  return new Map(counted.map(({ id, changes }) => [id, changes]))
}
