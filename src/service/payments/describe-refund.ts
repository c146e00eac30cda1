import type { RefundState } from '#contract/payment-body.ts'
import type { RefundSums } from '../db/refunds.ts'

/** What an answer says of the refunds of a payment. By what is confirmed: a refund that is under way has returned nothing yet. */
export function describeRefund(amount: bigint, sums: RefundSums | undefined): RefundState {
  const { refunded, pending } = sums ?? { refunded: 0n, pending: 0n }
  const state = refunded === 0n ? 'none' : refunded < amount ? 'partial' : 'full'
  return { state, refundedAtomic: refunded.toString(), pendingAtomic: pending.toString() }
}
