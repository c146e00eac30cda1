import { familyOf, type Network } from '#contract/network.ts'
import type { Facts } from '../proof/facts.ts'

/** What a payee does to settle a proof alone. */
export type SettleKind =
  /** Carries out what the payer of a token signed as a message: a call of the payee's. EVM. */
  | 'carry_out'
  /** Adds the signature of the one who pays the network to what the payer signed. Solana. */
  | 'co_sign'
  /** Sends what the payer signed wholly: nobody has to sign any more. */
  | 'broadcast'
  /** The payer has paid already: a note on the chain says that the payee knows. */
  | 'acknowledge'

/** Why a proof cannot be settled from here. */
export type Unsettled =
  /** Somebody else pays the network for it, and has to sign last. */
  { kind: 'other_sponsor'; sponsor: string } | { kind: 'unreadable' }

/** What is left to do for a proof, told by its bytes alone. */
export function settleKindOf(
  { body }: Pick<Facts, 'body'>,
  wallet: string,
): SettleKind | Unsettled {
  switch (body.kind) {
    case 'authorization':
    case 'permit':
      return 'carry_out'
    case 'evm':
      return 'broadcast'
    case 'txid':
    case 'memo':
      return 'acknowledge'
    case 'solana':
      if (body.facts.form === 'signed') return 'broadcast'
      return body.facts.feePayer === wallet
        ? 'co_sign'
        : { kind: 'other_sponsor', sponsor: body.facts.feePayer }
    case 'unreadable':
      return { kind: 'unreadable' }
  }
}

/** Whose wallet has to be at hand; null where nothing is signed. */
export function walletOf(kind: SettleKind, network: Network): 'evm' | 'solana' | null {
  return kind === 'broadcast' ? null : familyOf(network.network)
}
