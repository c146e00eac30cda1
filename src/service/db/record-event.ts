import { and, eq, sql } from 'drizzle-orm'
import type { EventKind } from '#contract/event.ts'
import type { EventSource, PaymentStatus } from '#contract/payment.ts'
import { afterCommit, type Database } from '#postgres/open.ts'
import { event, eventNumbering } from './schema/payment.ts'

export type NewEvent = {
  /** A change of status otherwise. */
  kind?: EventKind
  accountId: string
  paymentId: string
  status: PaymentStatus
  source: EventSource
  /** Height of the block concerned; on Solana the slot. */
  blockHeight: number | null
  at: Date
}

/** What numbers the events of this process, by the database that they are written to. */
const listeners = new WeakMap<Database, () => void>()

/**
 * Writes the event of a status change, in the transaction of the change. It has no number yet: that
 * comes once it is committed, so that writers need not wait for each other (`numberEvents`).
 * The caller has locked the payment, or made it: ids of a payment's events are in their order.
 */
export async function recordEvent(tx: Database, input: NewEvent): Promise<void> {
  const [row] = await tx.insert(event).values(input).returning({ draft: event.draft })
  // Nobody is told of a draft; it is numbered with the next others.
  if (!row?.draft) afterCommit(tx, announceRecorded)
}

function announceRecorded(db: Database): void {
  listeners.get(db)?.()
}

/** Calls `on` when this process has committed events. @returns a function that ends it */
export function onRecorded(db: Database, on: () => void): () => void {
  listeners.set(db, on)
  return () => listeners.delete(db)
}

/** One process at a time numbers events. So long after it has ended, another one does. */
export const NUMBERING_LEASE_MS = 1_500
/** Fits one statement, and one page of a table. */
const AT_ONCE = 1_000

const THE_ROW = 1
const leaseEnd = sql`clock_timestamp() + make_interval(secs => ${NUMBERING_LEASE_MS / 1_000})`

/**
 * Takes the lease to number events, where it is free.
 * @returns 0 when it was taken; otherwise after how many milliseconds it may be free
 */
export async function takeNumbering(db: Database, holder: string): Promise<number> {
  const { rows } = await db.execute<{ waitMs: number }>(sql`
    with taken as (
      update service.event_numbering set holder = ${holder}, lease_until = ${leaseEnd}
      where id = ${THE_ROW} and (lease_until is null or lease_until < clock_timestamp()) returning id
    )
    select case when exists (select from taken) then 0
      else greatest(1, ceil(extract(epoch from lease_until - clock_timestamp()) * 1000))::int end as "waitMs"
    from service.event_numbering where id = ${THE_ROW}`)
  return rows[0]?.waitMs ?? NUMBERING_LEASE_MS
}

export async function releaseNumbering(db: Database, holder: string): Promise<void> {
  await db
    .update(eventNumbering)
    .set({ holder: null, leaseUntil: null })
    .where(and(eq(eventNumbering.id, THE_ROW), eq(eventNumbering.holder, holder)))
}

/** `accounts`: whose feeds have new events. `more`: there may be further events to number. */
export type Numbered = { accounts: readonly string[]; more: boolean }

/**
 * Numbers events that are committed, without a gap but at a restore, and extends the lease, in one statement.
 *
 * A reader that continues after the last number it saw misses nothing: a number is handed out after
 * its event was committed, and all those of one call become visible before the next call begins. The
 * row of the lease is locked from here to the commit, so a process that takes the lease waits for a call
 * that is running, and the call of a process that has lost the lease changes nothing.
 * An event that a transaction is writing to is left for the next call, so that this one never waits
 * for a payment. One process calls this once at a time.
 * Nothing is synced to the disk where nothing was numbered.
 * @returns undefined when the lease is lost
 */
export async function numberEvents(db: Database, holder: string): Promise<Numbered | undefined> {
  const { rows } = await db.execute<{
    leased: boolean
    numbered: number
    accounts: string | null
  }>(sql`
    with unnumbered as (
      select id from service.event where number is null order by id limit ${AT_ONCE} for update skip locked
    ), placed as (
      select id, row_number() over (order by id) as place, count(*) over () as total from unnumbered
    ), lease as (
      update service.event_numbering set last = last + (select count(*) from placed), lease_until = ${leaseEnd}
      where id = ${THE_ROW} and holder = ${holder} returning last
    ), numbered as (
      update service.event set number = lease.last - placed.total + placed.place
      from placed, lease where event.id = placed.id and event.number is null
      returning event.account_id, event.draft
    )
    select exists (select from lease) as leased, (select count(*)::int from numbered) as numbered,
      (select string_agg(distinct account_id, ' ') from numbered where not draft) as accounts,
      set_config('synchronous_commit', case when exists (select from placed) then current_setting('synchronous_commit') else 'off' end, true)`)
  const [row] = rows
  if (!row?.leased) return undefined
  return { accounts: row.accounts?.split(' ') ?? [], more: row.numbered === AT_ONCE }
}
