import type { Hex } from 'viem'
import type { Authorization } from '#chains/evm/authorization.ts'
import type { SimulationReason } from '#contract/facts.ts'
import { nativeAsset, type Network } from '#contract/network.ts'
import type { BuiltTransaction, Ready, TokenInfo } from './chain.ts'

export type ContractCall = { to: Hex; data: Hex }

/** Wei per gas. */
export type GasPrice = { maxFeePerGas: bigint; maxPriorityFeePerGas: bigint }

/**
 * What a call would cost at most (`feeAtomic`, with a rollup's charge for its data), or that the network refuses it: then every configured RPC endpoint did.
 * `certain`: false where the newest block would have executed it and the next one would not, or
 * where the wallet that broadcasts it holds too little.
 */
export type Quote =
  | {
      ok: true
      gas: bigint
      maxFeePerGas: bigint
      maxPriorityFeePerGas: bigint
      feeAtomic: bigint
      height: number
    }
  | { ok: false; certain: boolean; reason: SimulationReason }

/**
 * What the chain shows of an authorization. `signature`: the transaction that executed it; null
 * when its nonce is used and no such transaction is found. `possible`: those of which one executed
 * it, where the chain does not show which.
 */
export type Use =
  | { used: false }
  | { used: true; signature: string }
  | { used: true; signature: null; possible: readonly string[] }

/** Why an authorization can never be executed any more: it expired, or its payer cancelled it. */
export type Ending = 'over' | 'taken_back'

/** A call as its sender signs it; `REFUSED`: the chain would not execute it. */
export type BuiltCall =
  | Ready
  | Extract<BuiltTransaction, { code: 'INSUFFICIENT_BALANCE' }>
  | { ok: false; code: 'REFUSED'; reason: SimulationReason }

/**
 * Atomic units at the end of the block of this height; `allowanceAtomic` is null where no spender
 * was asked about.
 */
export type ContractHolding = {
  height: number
  balanceAtomic: bigint
  allowanceAtomic: bigint | null
}

/** A call that would be executed, with no less gas than a quote would name and at its price, and a holding at the same height. */
export type Execution = { quote: Extract<Quote, { ok: true }>; holding: ContractHolding }

export type TokenMovement = {
  token: Hex
  owner: Hex
  recipient: Hex
  amountAtomic: bigint
  spender: Hex | null
  height: number
}

/**
 * EVM: what executing a payer's authorization needs from the chain. Every call may throw
 * `CHAIN_UNAVAILABLE`.
 */
export interface Contracts {
  /** @throws what viem throws when the contract refuses to answer */
  read(call: {
    address: Hex
    abi: readonly unknown[]
    functionName: string
    args?: readonly unknown[]
  }): Promise<unknown>
  code(address: string): Promise<Hex | undefined>
  /**
   * Whether a contract accepts a signature of a hash: EIP-1271, or ERC-6492 before it is deployed.
   * A contract that fails in any way does not.
   */
  accepts(question: { address: string; hash: Hex; signature: Hex }): Promise<boolean>
  /**
   * What an owner holds of a token in one block, and what `spender` may move of it. Null when the
   * token does not answer.
   */
  holding(holding: { token: Hex; owner: Hex; spender: Hex | null }): Promise<ContractHolding | null>
  /**
   * The domain that a token itself names, under which payers sign its authorizations. Null when the
   * token has none.
   */
  domain(token: string): Promise<{ name: string; version: string } | null>
  /**
   * Whether a token would move this much from its owner to the recipient after the block of this
   * height, and, with a `spender`, has let that one move as much. With two RPC endpoints, both must
   * show it.
   */
  couldMove(movement: TokenMovement): Promise<boolean>
  /**
   * Prices a call, and runs it as it would be broadcast: the same sender, fees and gas limit, in the
   * newest block and in the next one.
   */
  quote(call: ContractCall & { from: string }): Promise<Quote>
  /**
   * Whether a call would be executed as it would be broadcast, in the newest block that this process
   * knows and in the next one, with the gas that an earlier quote of the same function found: one
   * request. Null where that is not shown: then `quote` says why.
   */
  executes(
    call: ContractCall & { from: string },
    holding: { token: Hex; owner: Hex; spender: Hex | null },
  ): Promise<Execution | null>
  /**
   * The current price of a call with this much gas. `dataFeeAtomic`: what a rollup charges for its
   * data beside the gas, with room for a rise; 0 elsewhere.
   */
  price(call: ContractCall & { gas: bigint }): Promise<GasPrice & { dataFeeAtomic: bigint }>
  /**
   * Builds a call that another party signs and broadcasts, after running it on the current state.
   */
  build(
    call: ContractCall & { from: string; priorityFeeAtomic: bigint | undefined },
  ): Promise<BuiltCall>
  /**
   * Whether anybody has used an authorization already, as one node shows it. `since`: a height
   * before which it cannot have been used; a day ago otherwise.
   */
  findUse(authorization: Authorization, since?: number | null): Promise<Use>
  /**
   * The proof that nobody ever will: two RPC endpoints show it in the finalized chain. Without it,
   * the service never reports that nothing was paid. Null: none. `since`: a height at which it was
   * unused.
   */
  proveEnding(authorization: Authorization, since: number | null): Promise<Ending | null>
}

/** The network's own currency, as a token is told: nobody issues it, and its supply is in no account. */
export function nativeToken(network: Network): TokenInfo {
  const { address, name, symbol, decimals } = nativeAsset(network)
  return {
    address,
    standard: 'native',
    name,
    symbol,
    decimals,
    totalSupplyAtomic: null,
    mintAuthority: null,
    freezeAuthority: null,
    eip3009: false,
  }
}

const MAX_LENGTH = 100
/** Printable ASCII without space at its ends: nothing of it is taken out. */
const PLAIN = new RegExp(String.raw`^[\x21-\x7e](?:[\x20-\x7e]{0,${MAX_LENGTH - 2}}[\x21-\x7e])?$`)

/** A name that somebody on the chain chose: without control, bidi and zero-width characters, cut to 100; null when nothing is left. */
export function printableText(text: string): string | null {
  if (PLAIN.test(text)) return text
  const clean = text.replace(/[\p{Cc}\p{Cf}\p{Co}\p{Cs}\uFFFD]/gu, '').trim()
  return clean === '' ? null : [...clean].slice(0, MAX_LENGTH).join('')
}
