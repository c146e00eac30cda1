import { and, eq, sql, type SQL } from 'drizzle-orm'
import type { Database } from '#postgres/open.ts'
import type { AttemptRecord } from './attempts.ts'
import { consumption, isConsumable, noteConsumed, type Consumed, type OpenClaim } from './claims.ts'
import { moveOf, type Move } from './payment-move.ts'
import type { NewPayment, PaymentRecord } from './payments.ts'
import { announceEvents, type NewEvent } from './record-event.ts'
import { feeRow, type ReservedFee } from './settlement-fees.ts'
import { attempt, payment } from './schema/payment.ts'
import { claim, settlementFee } from './schema/proof.ts'

/**
 * A payment and what belongs to it, in one statement: all of it or nothing, also outside of a transaction.
 * The events select from the row that the statement writes: a trigger that reads the payment of an event finds it, and their ids
 * follow those of the transaction that had the row locked before.
 */

type OwnEvent = Pick<NewEvent, 'kind' | 'status' | 'source' | 'blockHeight' | 'at'>

/** Inserts a payment with its first events, and what was signed for it. */
export async function recordPayment(
  db: Database,
  row: NewPayment,
  { events, signed }: { events: readonly OwnEvent[]; signed?: AttemptRecord | undefined },
): Promise<PaymentRecord> {
  const written = db.$with('written').as(db.insert(payment).values(row).returning())
  const noted = db.$with('noted', {}).as(insertEvents(events))
  const stored = signed && db.$with('stored').as(db.insert(attempt).values(signed).returning())
  const [recorded] = await db
    .with(written, noted, ...(stored ? [stored] : []))
    .select()
    .from(written)
  if (!recorded) throw new Error('The database took a payment and returned none.')
  announceEvents(db, recorded)
  return recorded
}

type Presented = {
  events: readonly OwnEvent[]
  signed: AttemptRecord | undefined
  lease: OpenClaim
  consumed: Consumed
  /** What our wallet may pay for it. */
  fee: ReservedFee | undefined
}

/**
 * The same of a payment whose proof was presented, and uses its proof up.
 * @returns undefined where the attempt does not hold the proof: then the caller has to roll its transaction back
 */
export async function recordPresented(
  tx: Database,
  row: NewPayment,
  { events, signed, lease, consumed, fee }: Presented,
): Promise<PaymentRecord | undefined> {
  if (!isConsumable(lease, consumed)) return undefined
  const written = tx.$with('written').as(tx.insert(payment).values(row).returning())
  const use = consumption(lease, consumed)
  const used = tx
    .$with('used')
    .as(tx.update(claim).set(use.set).where(use.where).returning({ key: claim.key }))
  const beside = [
    tx.$with('noted', {}).as(insertEvents(events)),
    ...(signed ? [tx.$with('stored').as(tx.insert(attempt).values(signed).returning())] : []),
    ...(fee
      ? [tx.$with('reserved').as(tx.insert(settlementFee).values(feeRow(fee)).returning())]
      : []),
  ]
  const [recorded] = await tx
    .with(written, used, ...beside)
    .select()
    .from(written)
    .innerJoin(used, sql`true`)
  if (!recorded) return undefined
  noteConsumed(tx, lease)
  announceEvents(tx, recorded.written)
  return recorded.written
}

/** Moves a payment and writes the event of it, unless it has another status by now. */
export async function recordMove(
  db: Database,
  move: Move,
  { source, blockHeight }: Pick<NewEvent, 'source' | 'blockHeight'>,
): Promise<void> {
  const { id, accountId, draft } = payment
  const written = db.$with('written').as(
    db
      .update(payment)
      .set(moveOf(move))
      .where(and(eq(payment.id, move.id), eq(payment.status, move.from)))
      .returning({ id, accountId, draft }),
  )
  const event = { status: move.to, source, blockHeight, at: move.at }
  const noted = db.$with('noted', {}).as(insertEvents([event]))
  const [moved] = await db.with(written, noted).select().from(written)
  if (moved) announceEvents(db, moved)
}

function insertEvents(events: readonly OwnEvent[]): SQL {
  const listed = events.map((event, place) => ({ kind: 'payment', ...event, place }))
  return sql`
    insert into service.event (account_id, payment_id, kind, status, source, block_height, at)
    select written.account_id, written.id, each.kind, each.status, each.source, each."blockHeight", each.at
    from written cross join json_to_recordset(${JSON.stringify(listed)}::json)
      as each(place int, kind text, status text, source text, "blockHeight" bigint, at timestamptz)
    order by each.place`
}
