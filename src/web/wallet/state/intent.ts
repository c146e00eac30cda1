import { t } from '@lingui/core/macro'
import type { PaymentIntent, MatchRow } from '#chains/match.ts'
import type { Asset } from '#contract/network.ts'
import { i18n } from '../../locales/i18n.ts'
import { FIELD_NAMES, formatMatchFact } from '../../payment-intent/match-facts.ts'
import type { WalletPaymentIntent } from '../../payment-intent/intent.ts'

/**
 * The order as the chains compare it; the payment's id and the fee cap belong to one attempt.
 * @param currency what the fee is paid in, where the order is for a token
 */
export function toPaymentIntent(
  order: WalletPaymentIntent,
  attempt: { paymentId: string; maxFeeAtomic: bigint },
  currency?: Asset,
): PaymentIntent {
  const { network, asset, sender, feePayer, recipient, amountAtomic } = order
  const { paymentId, maxFeeAtomic } = attempt
  const who = { sender, recipient, ...(feePayer !== undefined && { feePayer }) }
  return {
    paymentId,
    network,
    asset,
    ...who,
    amountAtomic,
    maxFeeAtomic,
    ...(currency && { currency }),
  }
}

/** What differs between what was shown and what came back, for the payer. */
export function firstDifference(rows: readonly MatchRow[]): string {
  const row = rows.find(({ ok }) => !ok)
  if (!row) return t`the transaction differs.`
  const [field, got, expected] = [
    i18n._(FIELD_NAMES[row.field]),
    formatMatchFact(row.got),
    formatMatchFact(row.expected),
  ]
  return t`“${field}” is ${got}, not ${expected}.`
}
