import type { MessageDescriptor } from '@lingui/core'
import { msg } from '@lingui/core/macro'

/** What chains say when they refuse a transaction, and what that means for a person. First match counts. */
const patterns: readonly [RegExp, MessageDescriptor][] = [
  [
    /InsufficientFundsForRent/,
    msg`It would have left an account with less than the network lets it keep. Nothing was moved.`,
  ],
  [/InsufficientFundsForFee/, msg`The sender could not pay the network fee. Nothing was moved.`],
  [
    /InsufficientFunds|insufficient (funds|lamports)|"Custom":\s*1\b|custom program error: 0x1\b/i,
    msg`The sender did not hold enough when it reached the chain. Nothing was moved.`,
  ],
  [
    /frozen|"Custom":\s*17\b|custom program error: 0x11\b/i,
    msg`The token’s issuer froze one of the accounts. Nothing was moved.`,
  ],
  [
    /BlockhashNotFound|block height exceeded/i,
    msg`It reached the chain too late. Nothing was moved.`,
  ],
  [
    /ComputationalBudgetExceeded|exceeded CUs|out of gas/i,
    msg`It needed more work of the network than it had paid for. Nothing was moved.`,
  ],
  [
    /AccountNotFound|InvalidAccountData|UninitializedAccount|InvalidAccountOwner/,
    msg`One of the accounts cannot take this payment. Nothing was moved.`,
  ],
  [
    /AlreadyProcessed/,
    msg`The network had taken the very same transaction before. Nothing was moved a second time.`,
  ],
  [/InstructionError/, msg`A program on the chain refused it. Nothing was moved.`],
  [/revert/i, msg`The recipient’s contract, or the token’s, refused it. Nothing was moved.`],
]

/** Why it failed, in a sentence; nothing for words that are not known. What the chain said stays to be read beside it. */
export function failureWords(failure: string): MessageDescriptor | undefined {
  return patterns.find(([pattern]) => pattern.test(failure))?.[1]
}
