import { decodeTransaction, type SolanaFacts } from '#chains/solana/decode.ts'
import { MAX_UNIT_PRICE } from '#chains/solana/fee.ts'
import { atMostSol, matchTransaction, type MatchOptions } from '#chains/solana/match.ts'
import { verifySignature } from '#chains/solana/signature.ts'
import type { PaymentIntent, Match, MatchRow } from '#chains/match.ts'
import { fact } from '#contract/facts.ts'

/**
 * What a payee collects with a Solana transaction that the payer has signed: `payment` is the
 * payer's, as expected.
 */
export type Collecting = {
  payment: PaymentIntent
  /** The payer's transaction, as the proof carries it. */
  proof: Uint8Array
  /** Whether the payee also signs it, and pays the network fee. */
  coSigned: boolean
}

/**
 * Compares what the service returned for a settlement with the expected payment and with the proof
 * itself: it is the payer's very transaction, pays the payee exactly this, and costs a payee who
 * signs it no more than the network fee up to the cap.
 */
export function matchCollecting(
  { payment, proof, coSigned }: Collecting,
  bytes: Uint8Array,
  options: MatchOptions,
): Match {
  const [decoded, own] = [decodeTransaction(bytes), decodeTransaction(proof)]
  const match = matchTransaction(payment, bytes, { ...options, allowGuards: true })
  if (!decoded.ok || !own.ok) return match
  const memos = decoded.operations.filter(({ kind }) => kind === 'memo').length
  const rows = match.rows
    // A token's transfer need not carry a memo, where none was asked for.
    .filter(({ field }) => field !== 'memo' || payment.paymentId !== '' || memos > 0)
    .map((row): MatchRow => {
      if (row.field === 'fee' && coSigned) return feeRow(payment, decoded)
      if (row.field === 'signers' && row.ok)
        return signersRow(row, decoded, coSigned ? decoded.feePayer : undefined)
      if (row.field === 'instructions' && row.ok && !sameBytes(decoded.message, own.message))
        return { ...row, ok: false, got: fact('not_payers_transaction') }
      return row
    })
  return { ...match, ok: rows.every(({ ok }) => ok), rows }
}

/**
 * What the payee's wallet returned: the same message, with every signature valid. A changed message
 * would void the payer's signature.
 */
export function compareCoSigned(
  reviewed: Uint8Array,
  signed: Uint8Array,
): { ok: true; signature: string } | { ok: false; difference: 'message' | 'signature' } {
  const [before, after] = [decodeTransaction(reviewed), decodeTransaction(signed)]
  if (!before.ok || !after.ok || !sameBytes(before.message, after.message))
    return { ok: false, difference: 'message' }
  const good = after.signers.every((signer, index) =>
    verifySignature(after.signatures[index] ?? new Uint8Array(64), after.message, signer),
  )
  return good && after.signature !== null
    ? { ok: true, signature: after.signature }
    : { ok: false, difference: 'signature' }
}

function feeRow(
  { maxFeeAtomic }: PaymentIntent,
  { operations, feeBoundAtomic }: SolanaFacts,
): MatchRow {
  const prices = operations.filter((operation) => operation.kind === 'fee_price')
  const capped = prices.every(({ microLamports }) => microLamports <= MAX_UNIT_PRICE)
  return {
    field: 'fee',
    ok: capped && feeBoundAtomic <= maxFeeAtomic,
    expected: atMostSol(maxFeeAtomic),
    got: atMostSol(feeBoundAtomic),
  }
}

/** All required signers have signed, except the one who is about to. */
function signersRow(
  row: MatchRow,
  { signers, signatures, message }: SolanaFacts,
  last: string | undefined,
): MatchRow {
  const missing = signers.filter(
    (signer, index) =>
      signer !== last && !verifySignature(signatures[index] ?? new Uint8Array(64), message, signer),
  )
  return missing.length === 0
    ? row
    : { ...row, ok: false, got: { code: 'missing_signatures', params: { signers, missing } } }
}

function sameBytes(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && one.every((byte, index) => byte === other[index])
}
