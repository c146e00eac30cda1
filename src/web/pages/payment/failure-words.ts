import type { MessageDescriptor } from '@lingui/core'
import { msg } from '@lingui/core/macro'

/** What chains say when they refuse a transaction, and what that means for a person. First match counts. */
const patterns: readonly [RegExp, MessageDescriptor][] = [
  [/InsufficientFundsForRent/, msg`An account would fall below its minimum.`],
  [/InsufficientFundsForFee/, msg`The sender could not pay the network fee.`],
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
  [/InstructionError/, msg`A program rejected it.`],
  [/revert/i, msg`A contract rejected it.`],
]

/** Why it failed, in a sentence; nothing for words that are not known. What the chain said stays to be read beside it. */
export function failureWords(failure: string): MessageDescriptor | undefined {
  return patterns.find(([pattern]) => pattern.test(failure))?.[1]
}
