import type { Database } from '#postgres/open.ts'
import { movePayment, NOWHERE, type PaymentRecord } from '../db/payments.ts'
import { recordEvent } from '../db/record-event.ts'

/** Ends a hosted payment that can no longer land, in the transaction that has locked it; what it reserved is free again. */
export async function failPayment(
  tx: Database,
  row: PaymentRecord,
  { failure, at }: { failure: string; at: Date },
): Promise<void> {
  await movePayment(tx, {
    id: row.id,
    from: row.status,
    to: 'failed',
    at,
    facts: { failure, ...NOWHERE },
  })
  await recordEvent(tx, {
    accountId: row.accountId,
    paymentId: row.id,
    status: 'failed',
    source: 'watcher',
    blockHeight: null,
    at,
  })
}
