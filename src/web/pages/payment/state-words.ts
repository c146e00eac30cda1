import { t, msg } from '@lingui/core/macro'
import type { MessageDescriptor } from '@lingui/core'
import type { PaymentStatusBody } from '#contract/payment-body.ts'
import { formatNumber } from '../../locales/formats.ts'
import { statusLabel, type ShownStatus } from '../../ui/status-words.ts'

type Facts = Pick<
  PaymentStatusBody,
  'status' | 'signature' | 'blockHeight' | 'confirmations' | 'requiredConfirmations'
>

/** Where a payment stands, in one or two sentences that say whether money moved. */
export function stateWords({
  status,
  signature,
  blockHeight,
  confirmations,
  requiredConfirmations,
}: Facts): string {
  const [counted, needed] = [formatNumber(confirmations), formatNumber(requiredConfirmations)]
  switch (status) {
    case 'created':
      return t`Not paid yet. Waiting for a signature.`
    case 'pending':
      return confirmations > 0
        ? t`Unconfirmed: ${counted} of ${needed} confirmations.`
        : t`Sent. Waiting for confirmation.`
    case 'confirmed':
      return t`Confirmed, becoming final.`
    case 'finalized':
      return t`The payment is final.`
    case 'expired':
      return t`No payment was found.`
    case 'failed':
      if (!signature) return t`Nothing was sent.`
      if (blockHeight === null) return t`Not executed. Nothing was paid.`
      return t`Failed. Only the network fee was paid.`
    case 'rolled_back':
      return t`Dropped by a reorganization. It may be included again. Do not deliver.`
  }
}

/** The heading in the page's title and for a screen reader: "Payment of 0.1 ETH, confirmed". */
export function titleWords(amount: string, status: ShownStatus): string {
  const state = statusLabel(status).toLowerCase()
  return t`Payment of ${amount}, ${state}`
}

/** Longer than this on its way is not as it should be. */
const LATE_AFTER_MS = 10 * 60_000

/** Whether a payment is open for so long that a person should look: it was sent, and nothing is decided. */
export function isStuck(
  { status, timestamp }: Pick<PaymentStatusBody, 'status' | 'timestamp'>,
  now: number,
): boolean {
  return status === 'pending' && now - timestamp > LATE_AFTER_MS
}

/** What chains say when they refuse a transaction, and what that means for a person. First match counts. */
const patterns: readonly [RegExp, MessageDescriptor][] = [
  [/InsufficientFundsForRent/, msg`An account would fall below its minimum.`],
  [/InsufficientFundsForFee/, msg`No balance for the network fee.`],
  [
    /InsufficientFunds|insufficient (funds|lamports)|"Custom":\s*1\b|custom program error: 0x1\b/i,
    msg`The sender’s balance was too low.`,
  ],
  [
    /frozen|"Custom":\s*17\b|custom program error: 0x11\b/i,
    msg`The token issuer froze an account.`,
  ],
  [/BlockhashNotFound|block height exceeded/i, msg`The transaction arrived too late.`],
  [/ComputationalBudgetExceeded|exceeded CUs|out of gas/i, msg`The compute limit was too low.`],
  [
    /AccountNotFound|InvalidAccountData|UninitializedAccount|InvalidAccountOwner/,
    msg`An account cannot take this payment.`,
  ],
  [/AlreadyProcessed/, msg`Already processed. Nothing moved twice.`],
  [/InstructionError/, msg`The network rejected it.`],
  [/revert/i, msg`A contract rejected it.`],
]

/** Why it failed, in a sentence; nothing for words that are not known. What the chain said stays to be read beside it. */
export function failureWords(failure: string): MessageDescriptor | undefined {
  return patterns.find(([pattern]) => pattern.test(failure))?.[1]
}
