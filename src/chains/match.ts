import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'
import { type MatchFact, addressFact, fact } from '#contract/facts.ts'
import type { Asset, NetworkId } from '#contract/network.ts'
import type { DecodeProblem } from '#contract/reasons.ts'

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

/** What a payer asked for: the only thing transactions are compared with. */
export type PaymentIntent = {
  paymentId: string
  network: NetworkId
  asset: Asset
  /**
   * The currency of the fee, when the asset is a token; without it, the family's own (ETH, SOL) is
   * named.
   */
  currency?: Asset
  /**
   * Normal form, like every address here. Without another one, the sender is also the fee payer and
   * the only signer.
   */
  sender: string
  /**
   * Solana: the account that pays the network fee for the sender, and signs too. It takes no other
   * part.
   */
  feePayer?: string
  recipient: string
  amountAtomic: bigint
  /**
   * The most the network may charge for the transaction, in atomic units of the native currency.
   */
  maxFeeAtomic: bigint
}

/** Helpers of both chains' comparisons: rows, their order, and the digest. */

/** A row that holds when two texts are the same. `factOf`: what they are, addresses where it is left out. */
export function equalRow(
  field: MatchRow['field'],
  [expected, got]: readonly [string, string],
  factOf: (value: string) => MatchFact = addressFact,
): MatchRow {
  return { field, ok: expected === got, expected: factOf(expected), got: factOf(got) }
}

/** Puts a second judgement of a field in its row's place; a row that already failed stays as it is. */
export function withRow(rows: readonly MatchRow[], row: MatchRow): MatchRow[] {
  return rows.map((first) => (first.field === row.field && first.ok ? row : first))
}

/** The outcome for bytes that nobody could read. Their digest names the bytes themselves, so it equals that of no payment. */
export function refuse(
  problem: DecodeProblem,
  bytes: Uint8Array,
  code: 'unreadable' | 'reviewed_unreadable' = 'unreadable',
): Match {
  return {
    ok: false,
    rows: [
      {
        field: 'instructions',
        ok: false,
        expected: fact('readable_payment'),
        got: { code, params: { problem } },
      },
    ],
    digest: digestOf(['unread', bytesToHex(bytes)]),
  }
}

/** The outcome of rows that are all there. */
export function conclude(rows: MatchRow[], meaning: readonly string[]): Match {
  return { ok: rows.every((row) => row.ok), rows, digest: digestOf(meaning) }
}

/** SHA-256 over the parts of a meaning; JSON keeps the borders between them. */
function digestOf(meaning: readonly string[]): string {
  return bytesToHex(sha256(utf8ToBytes(JSON.stringify(meaning))))
}
