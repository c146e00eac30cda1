import type { MatchFact } from '#contract/facts.ts'

/** One compared property of an intent and a transaction. */
export type MatchRow = {
  /**
   * `rent` is for Solana only: the cost of opening the recipient's token account. `spender` and
   * `contract` belong to what a payer of tokens authorizes others to execute: who may, and by which
   * contract's rules.
   */
  field:
    | 'network'
    | 'sender'
    | 'recipient'
    | 'amount'
    | 'asset'
    | 'spender'
    | 'contract'
    | 'fee'
    | 'rent'
    | 'feePayer'
    | 'signers'
    | 'memo'
    | 'expiry'
    | 'instructions'
  ok: boolean
  expected: MatchFact
  got: MatchFact
}

/**
 * The outcome of comparing an intent with the bytes of a transaction. Fails closed: `ok` is true
 * only when every byte of the transaction was understood and every row holds.
 */
export type Match = {
  ok: boolean
  rows: MatchRow[]
  /**
   * Hash over the meaning (accounts, amount, programs, memo, fee payer, caps), without blockhash or
   * nonce: equal digests mean the same payment.
   */
  digest: string
}

/** One part of a transaction as the review shows it, in the order of execution. */
export type Step = {
  kind:
    | 'transfer'
    | 'token_transfer'
    | 'account_opened'
    | 'fee_limit'
    | 'fee_price'
    | 'memo'
    | 'guard'
    | 'approval'
    | 'unknown'
  /** Facts by name, in reading order: for example an address as `to`, an amount as `amount`. */
  facts: Readonly<Record<string, MatchFact>>
}

/**
 * The one payment a transaction makes; a decoder names it only when the transaction does nothing
 * else that matters.
 */
export type Transfer = {
  /** Null in an unsigned EVM transaction, which does not name who signs it. */
  sender: string | null
  /** Null where a Solana token transfer names only the recipient's token account. */
  recipient: string | null
  /** Address of the asset; the native sentinel for ETH and SOL. */
  asset: string
  amountAtomic: bigint
  /** Null where the chain has no memo or the transaction carries none. */
  memo: string | null
}
