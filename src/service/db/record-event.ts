import { sql } from 'drizzle-orm'
import type { EventKind } from '#contract/event.ts'
import type { EventSource, PaymentStatus } from '#contract/payment.ts'
import type { Database } from '#postgres/open.ts'
import { event } from './schema/payment.ts'

/** NOTIFY on this channel means: this account has new events. It carries no event, rows are the truth. */
export const EVENT_CHANNEL = 'service_event'

/** Held from the insert to the commit, so that ids become visible in the order they were handed out. */
const EVENT_ORDER_LOCK = 4_020_002

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

/**
 * Writes the event of a status change, in the transaction of the change; call it last, since other writers of events wait from here to the commit.
 * Without the lock a slower transaction could commit a smaller id behind a reader's cursor, and that reader would never see it.
 */
export async function recordEvent(tx: Database, input: NewEvent): Promise<void> {
  await tx.execute(sql`select pg_advisory_xact_lock(${EVENT_ORDER_LOCK})`)
  const [row] = await tx.insert(event).values(input).returning({ draft: event.draft })
  // Nobody is told of a draft.
  if (row?.draft) return
  await tx.execute(sql`select pg_notify(${EVENT_CHANNEL}, ${input.accountId})`)
}
