import { familyOf, type Network } from '#contract/network.ts'
import type { ProofFacts } from '../proof/facts.ts'

/** What a payee does to settle a proof alone. */
export type SettleKind =
  /** Executes what the payer of a token signed as a message: a call by the payee. EVM. */
  | 'execute'
  /** Adds the fee payer's signature to what the payer signed. Solana. */
  | 'co_sign'
  /** Broadcasts what the payer fully signed: no signature is missing. */
  | 'broadcast'
  /** The payer has already paid: a note on the chain says that the payee knows. */
  | 'acknowledge'

/** Why a proof cannot be settled from here. */
export type Unsettled =
  /** Another account pays the network fee for it, and has to sign last. */
  { kind: 'other_fee_payer'; feePayer: string } | { kind: 'unreadable' }

/** What is left to do for a proof, by its bytes alone. */
export function settleKindOf(
  { body }: Pick<ProofFacts, 'body'>,
  wallet: string,
): SettleKind | Unsettled {
  switch (body.kind) {
    case 'authorization':
    case 'permit':
      return 'execute'
    case 'evm':
      return 'broadcast'
    case 'txid':
    case 'memo':
      return 'acknowledge'
    case 'solana':
      if (body.facts.form === 'signed') return 'broadcast'
      return body.facts.feePayer === wallet
        ? 'co_sign'
        : { kind: 'other_fee_payer', feePayer: body.facts.feePayer }
    case 'unreadable':
      return { kind: 'unreadable' }
  }
}

/** The wallet family that must sign; null if nothing is signed. */
export function walletOf(kind: SettleKind, network: Network): 'evm' | 'solana' | null {
  return kind === 'broadcast' ? null : familyOf(network.network)
}
