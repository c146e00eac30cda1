import { formatAmount } from '#contract/amount.ts'
import { LosslessNumber } from '#contract/json.ts'
import type { PaymentRecord } from '../db/payments.ts'

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
