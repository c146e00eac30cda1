import { formatAmount } from '#contract/amount.ts'
import { LosslessNumber, parseJson } from '#contract/json.ts'
import type { Network } from '#contract/network.ts'
import type { RefundState } from '#contract/payment-body.ts'
import type { PaymentRecord } from '../db/payments.ts'
import type { RefundSums } from '../db/refunds.ts'

/** Who pays whom how much of what, and for what: the fields that every answer about a payment has in common. */
export function describeMoney({
  network,
  asset,
  symbol,
  decimals,
  amount,
  sender,
  recipient,
  resource,
}: PaymentRecord) {
  return {
    network,
    asset,
    symbol,
    decimals,
    amount: new LosslessNumber(formatAmount(amount, decimals)),
    amountAtomic: amount.toString(),
    sender,
    recipient,
    resource,
  }
}

/** What an answer says of the refunds of a payment. By what is confirmed: a refund that is under way has returned nothing yet. */
export function describeRefund(amount: bigint, sums: RefundSums | undefined): RefundState {
  const { refunded, pending } = sums ?? { refunded: 0n, pending: 0n }
  const state = refunded === 0n ? 'none' : refunded < amount ? 'partial' : 'full'
  return { state, refundedAtomic: refunded.toString(), pendingAtomic: pending.toString() }
}

/** From one block time before the confirmations are there to as long again, in whole seconds. */
export function estimateConfirmation({ blockTimeMs, confirmations }: Network): string {
  const seconds = Math.max(1, Math.ceil((blockTimeMs * confirmations) / 1000))
  return `${seconds}-${seconds * 2 + 1} seconds`
}

/** Metadata from its stored source text; numbers keep their digits. */
export function readMetadata(text: string | null): Record<string, unknown> | null {
  if (text === null) return null
  const value = parseJson(text)
  if (!isRecord(value)) throw new Error('Stored metadata is not an object.')
  return value
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
