import { and, eq, sql, type SQL } from 'drizzle-orm'
import type { EventKind } from '#contract/event.ts'
import type { EventSource, PaymentStatus } from '#contract/payment.ts'
import { afterCommit, type Database } from '#postgres/open.ts'
import type { PaymentRecord } from './payments.ts'
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
export function recordEvent(tx: Database, input: NewEvent): Promise<void> {
  return recordEvents(tx, [input])
}

/** The same for several events of one payment, in their order and in one statement. */
export async function recordEvents(tx: Database, inputs: readonly NewEvent[]): Promise<void> {
  const [first] = inputs
  if (!first) return
  const [row] = await tx
    .insert(event)
    .values([...inputs])
    .returning({ draft: event.draft })
  announceEvents(tx, { id: first.paymentId, draft: row?.draft ?? false })
}

/** Has the events of a payment numbered once they are committed, and those told who wait for it. */
export function announceEvents(
  db: Database,
  { id, draft }: Pick<PaymentRecord, 'id' | 'draft'>,
): void {
  // Nobody is told of a draft; it is numbered with the next others.
  if (draft) return
  afterCommit(db, announceRecorded)
  afterCommit(db, (root) => announceChange(root, id))
}

function announceRecorded(db: Database): void {
  listeners.get(db)?.()
}

/** Those who wait for a payment, by the database and the payment. */
const waits = new WeakMap<Database, Map<string, Set<() => void>>>()

function announceChange(db: Database, paymentId: string): void {
  for (const notice of waits.get(db)?.get(paymentId) ?? []) notice()
}

export type ChangeWait = Disposable & {
  /** Whether this process has recorded an event of the payment since the answer before; false after `ms`. */
  changed(ms: number): Promise<boolean>
}

/** Begins to notice the changes of a payment that this process records. Those of other processes are only in the row. */
export function awaitChanges(db: Database, paymentId: string): ChangeWait {
  const byPayment = waits.get(db) ?? new Map<string, Set<() => void>>()
  waits.set(db, byPayment)
  const own = byPayment.get(paymentId) ?? new Set()
  byPayment.set(paymentId, own)
  let noticed = false
  let end: (() => void) | undefined
  const notice = () => {
    noticed = true
    end?.()
  }
  own.add(notice)
  return {
    async changed(ms) {
      if (!noticed)
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, ms)
          end = () => {
            clearTimeout(timer)
            resolve()
          }
        })
      const answer = noticed
      noticed = false
      return answer
    },
    [Symbol.dispose]() {
      own.delete(notice)
      if (own.size === 0) byPayment.delete(paymentId)
    },
  }
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

/** Postgres takes 8,000 bytes of a notification. */
const MAX_PAYLOAD_BYTES = 7_000

/** Who is told of new numbers: `channel` by the accounts that have new events, or everybody by an empty text. */
export type Telling = { channel: string; everybody: boolean }
/** `more`: there may be further events to number. */
export type Numbered = { more: boolean }

/**
 * Numbers events that are committed, without a gap but at a restore, extends the lease, and tells readers, in
 * one statement: they hear of the numbers at their commit, and only then. A notification takes a lock of the whole
 * server until the commit, for which no payment waits.
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
export async function numberEvents(
  db: Database,
  holder: string,
  telling?: Telling,
): Promise<Numbered | undefined> {
  const { rows } = await db.execute<{ leased: boolean; numbered: number }>(sql`
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
    ), told as (
      select string_agg(distinct account_id, ' ') as accounts from numbered where not draft
    )
    select exists (select from lease) as leased, (select count(*)::int from numbered) as numbered,
      ${telling ? notification(telling) : sql`null`} as told,
      set_config('synchronous_commit', case when exists (select from placed) then current_setting('synchronous_commit') else 'off' end, true)`)
  const [row] = rows
  if (!row?.leased) return undefined
  return { more: row.numbered === AT_ONCE }
}

function notification({ channel, everybody }: Telling): SQL {
  return sql`(
    select pg_notify(${channel}, case when ${everybody} or length(accounts) > ${MAX_PAYLOAD_BYTES} then '' else accounts end)::text
    from told where exists (select from lease) and (${everybody} or accounts is not null))`
}
