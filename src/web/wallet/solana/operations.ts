import type { PaymentIntent, Match } from '#chains/match.ts'
import { compareLanded, compareSigned } from '#chains/solana/compare.ts'
import type { SolanaLandedFacts } from '#chains/solana/landed.ts'
import { matchTransaction, type MatchOptions } from '#chains/solana/match.ts'
import { compareLandedNote, compareSignedNote, matchNote } from '#chains/solana/note.ts'
import type { WalletPaymentIntent } from '../../payment-intent/intent.ts'

/** How each thing that an account of Solana signs is read: before, as it comes back from the wallet, and after it landed. */
type Reading = {
  match(intent: PaymentIntent, bytes: Uint8Array, options: MatchOptions): Match
  signed(intent: PaymentIntent, reviewed: Uint8Array, signed: Uint8Array): Match
  landed(intent: PaymentIntent, landed: SolanaLandedFacts): Match
}

const payment: Reading = { match: matchTransaction, signed: compareSigned, landed: compareLanded }
const note: Reading = { match: matchNote, signed: compareSignedNote, landed: compareLandedNote }

export function readingOf({ operation }: WalletPaymentIntent): Reading {
  return operation?.kind === 'acknowledge' ? note : payment
}

/** A cluster's error in a word or two: `InsufficientFundsForRent`, or the instruction that failed and how. */
export function describeFailure(error: unknown): string {
  if (typeof error === 'string') return error
  if (typeof error !== 'object' || error === null) return 'no reason given'
  const [name, detail] = Object.entries(error)[0] ?? ['no reason given', undefined]
  return name === 'InstructionError' && Array.isArray(detail)
    ? `instruction ${Number(detail[0]) + 1}, ${describeFailure(detail[1])}`
    : name === 'Custom'
      ? `code ${String(detail)}`
      : name
}
