import type { EventKind } from '#contract/event.ts'
import type { EventSource, PaymentStatus } from '#contract/payment.ts'
import { afterCommit } from '#postgres/after-commit.ts'
import type { Database } from '#postgres/open.ts'
import { event } from './schema/payment.ts'

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
