import type { Context } from '../context/context.ts'
import { lockPayment, movePayment, NOWHERE, type PaymentRecord } from '../db/payments.ts'
import { recordEvent } from '../db/record-event.ts'
import { reopenFee } from '../db/settlement-fees.ts'

/**
 * Rolls back a confirmation whose block is gone; its transaction is looked for again. False when
 * the payment has changed status since it was read.
 */
export async function rollBack(context: Context, payment: PaymentRecord): Promise<boolean> {
  return context.db.transaction(async (tx) => {
    const row = await lockPayment(tx, payment.id)
    if (
      row?.status !== 'confirmed' ||
      row.signature !== payment.signature ||
      row.blockHash !== payment.blockHash
    )
      return false
    const at = context.now()
    const facts = { ...NOWHERE, confirmedAt: null, reportedSignature: row.signature }
    // First, so that the tallies take it from the status under which it was noted.
    if (row.mode === 'received' && row.signature !== null)
      await reopenFee(tx, { paymentId: row.id, signature: row.signature })
    await movePayment(tx, { id: row.id, from: 'confirmed', to: 'rolled_back', at, facts })
    await recordEvent(tx, {
      accountId: row.accountId,
      paymentId: row.id,
      status: 'rolled_back',
      source: 'watcher',
      blockHeight: row.blockHeight,
      at,
    })
    return true
  })
}
