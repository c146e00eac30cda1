import { compareLanded, compareSigned } from '#chains/solana/compare.ts'
import type { SolanaLandedFacts } from '#chains/solana/landed.ts'
import { matchTransaction, type MatchOptions } from '#chains/solana/match.ts'
import { compareLandedNote, compareSignedNote, matchNote } from '#chains/solana/note.ts'
import type { PaymentIntent } from '#chains/intent.ts'
import type { Match } from '#chains/match.ts'
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
