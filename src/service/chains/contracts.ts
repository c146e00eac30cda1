import type { Hex } from 'viem'
import type { Authorization } from '#chains/evm/authorization.ts'
import type { Built, Ready } from './chain.ts'

export type Call = { to: Hex; data: Hex }

/** Wei per gas. */
export type GasPrice = { maxFeePerGas: bigint; maxPriorityFeePerGas: bigint }

/** What a call would cost, or that the network refuses it: then every address that is configured said so. */
export type Quote =
  | {
      ok: true
      gas: bigint
      maxFeePerGas: bigint
      maxPriorityFeePerGas: bigint
      feeAtomic: bigint
      height: number
    }
  | { ok: false; reason: string }

/** What the chain shows of an authorization. `signature`: the transaction that carried it out; null when its nonce is used and no such transaction is found. */
export type Use = { used: false } | { used: true; signature: string | null }

/** Why an authorization can never be carried out any more: its time is over, or its payer took it back. */
export type Ending = 'over' | 'taken_back'

/** A call as its sender signs it; `REFUSED`: the chain would not carry it out. */
export type BuiltCall =
  | Ready
  | Extract<Built, { code: 'INSUFFICIENT_BALANCE' }>
  | { ok: false; code: 'REFUSED'; message: string }

/** Atomic units at the end of the block of this height; `allowanceAtomic` is null where no spender was asked about. */
export type Holding = { height: number; balanceAtomic: bigint; allowanceAtomic: bigint | null }

/** EVM: what carrying out a payer's authorization needs of the chain. Every call may throw `CHAIN_UNAVAILABLE`. */
export interface Contracts {
  /** @throws what viem throws when the contract refuses to answer */
  read(call: {
    address: Hex
    abi: readonly unknown[]
    functionName: string
    args?: readonly unknown[]
  }): Promise<unknown>
  code(address: string): Promise<Hex | undefined>
  /** Whether a contract accepts a signature of a hash: EIP-1271, or ERC-6492 before it is deployed. A contract that fails in any way does not. */
  accepts(question: { address: string; hash: Hex; signature: Hex }): Promise<boolean>
  /** What an owner holds of a token in one block, and what `spender` may move of it. Null for a token that does not tell. */
  holding(holding: { token: Hex; owner: Hex; spender: Hex | null }): Promise<Holding | null>
  /** What payers sign a token's authorizations under: its own words. Null when the token has none. */
  domain(token: string): Promise<{ name: string; version: string } | null>
  /** Runs a call on the state of this moment, and prices it. */
  quote(call: Call & { from: string }): Promise<Quote>
  /** What so much gas is offered at now. */
  price(gas: bigint): Promise<GasPrice>
  /** Builds a call that somebody else signs and broadcasts, after running it on the state of this moment. */
  build(call: Call & { from: string; priorityFeeAtomic: bigint | undefined }): Promise<BuiltCall>
  /** Whether an authorization was used already, by whomever, as one node shows it. `since`: a height before which it cannot have been; a day ago otherwise. */
  findUse(authorization: Authorization, since?: number | null): Promise<Use>
  /**
   * The proof that nobody ever will: that two addresses show in the finalized chain, without which nobody is told that nothing was paid. Null: none.
   * `since`: a height at which it was unused.
   */
  proveEnding(authorization: Authorization, since: number | null): Promise<Ending | null>
}
