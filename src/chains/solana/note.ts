import { formatAmount } from '#contract/amount.ts'
import { NATIVE_SOL } from '#contract/network.ts'
import type { PaymentIntent } from '../intent.ts'
import type { Match, MatchRow } from '../match.ts'
import { conclude, equalRow, refuse } from '../rows.ts'
import { decodeTransaction, type SolanaFacts } from './decode.ts'
import { MAX_UNIT_PRICE, MAX_UNITS } from './fee.ts'
import type { LandedFacts } from './landed.ts'
import type { MatchOptions } from './match.ts'
import { verifySignature } from './signature.ts'

/**
 * A note of a payee: a memo that the payee signs and pays for, and nothing else. In an intent for it the sender writes it and `paymentId` is its text.
 */

const MAX_GUARDS = 3

/** Compares a note with the bytes of a transaction, unsigned or signed. */
export function matchNote(intent: PaymentIntent, bytes: Uint8Array, options: MatchOptions = {}): Match {
  const decoded = decodeTransaction(bytes)
  return decoded.ok ? conclude(rowsOf(intent, decoded, options), meaningOf(intent, decoded)) : refuse(decoded.problem, bytes)
}

/** Compares what a wallet signed with the note that was shown: guards may be added, the fee not raised. */
export function compareSignedNote(intent: PaymentIntent, reviewed: Uint8Array, signed: Uint8Array): Match {
  const [before, after] = [decodeTransaction(reviewed), decodeTransaction(signed)]
  if (!before.ok) return refuse(`What was reviewed cannot be read: ${before.problem}`, signed)
  if (!after.ok) return refuse(after.problem, signed)
  const rows = rowsOf(intent, after, { allowGuards: true }).map((row): MatchRow => {
    if (row.field === 'signers' && after.form !== 'signed') return { ...row, ok: false, got: 'not signed' }
    if (row.field === 'fee' && after.feeBoundAtomic > before.feeBoundAtomic) return { ...row, ok: false }
    if (row.field === 'expiry') return { ...row, ok: before.blockhash === after.blockhash, expected: before.blockhash }
    return row
  })
  return conclude(rows, meaningOf(intent, after))
}

/** Compares a note with what landed. */
export function compareLandedNote(intent: PaymentIntent, landed: LandedFacts): Match {
  const rows = rowsOf(intent, landed, { allowGuards: true }).map((row): MatchRow => {
    if (row.field === 'fee') return { ...row, ok: true, expected: 'paid by the sender', got: `${formatAmount(landed.feeAtomic, NATIVE_SOL.decimals)} SOL` }
    return row.field === 'instructions' && !landed.succeeded ? { ...row, ok: false, got: 'failed' } : row
  })
  return conclude(rows, meaningOf(intent, landed))
}

function rowsOf(intent: PaymentIntent, facts: SolanaFacts, { allowGuards = false, blockhashKnown }: MatchOptions): MatchRow[] {
  const { sender, paymentId, network, maxFeeAtomic } = intent
  const { operations } = facts
  const memos = operations.filter((operation) => operation.kind === 'memo')
  const limits = operations.filter((operation) => operation.kind === 'fee_limit')
  const prices = operations.filter((operation) => operation.kind === 'fee_price')
  const guards = operations.filter(({ kind }) => kind === 'guard').length
  const capped = limits.every(({ units }) => units <= MAX_UNITS) && prices.every(({ microLamports }) => microLamports <= MAX_UNIT_PRICE)
  const plain = limits.length + prices.length + memos.length + guards === operations.length && guards <= (allowGuards ? MAX_GUARDS : 0)
  const signed = facts.form === 'unsigned' || verifySignature(facts.signatures[0] ?? new Uint8Array(64), facts.message, sender)
  const spell = (atomic: bigint) => `at most ${formatAmount(atomic, NATIVE_SOL.decimals)} SOL`
  const what = 'one memo, which moves nothing'
  return [
    { field: 'network', ok: network.startsWith('solana:') && blockhashKnown !== false, expected: network, got: network },
    equalRow('sender', sender, facts.feePayer),
    { field: 'amount', ok: plain && intent.amountAtomic === 0n, expected: '0 SOL', got: plain ? '0 SOL' : 'decided by another instruction' },
    {
      field: 'fee',
      ok: limits.length === 1 && prices.length === 1 && capped && facts.feeBoundAtomic <= maxFeeAtomic,
      expected: spell(maxFeeAtomic),
      got: spell(facts.feeBoundAtomic),
    },
    { field: 'signers', ok: facts.signers.join() === sender && signed, expected: sender, got: facts.signers.join(', ') },
    {
      field: 'memo',
      ok: memos.length === 1 && memos[0]?.text === paymentId && memos[0].signers.every((signer) => signer === sender),
      expected: paymentId,
      got: memos.map(({ text }) => text).join(', ') || 'none',
    },
    { field: 'expiry', ok: true, expected: 'a recent blockhash', got: facts.blockhash },
    { field: 'instructions', ok: plain, expected: what, got: plain ? what : 'another instruction' },
  ]
}

/** Who says what; guards and the fee do not count. */
function meaningOf({ network }: PaymentIntent, { feePayer, signers, operations }: SolanaFacts): string[] {
  const texts = operations.flatMap((operation) => (operation.kind === 'memo' ? [operation.text] : []))
  const strange = operations.filter(({ kind }) => !['memo', 'fee_limit', 'fee_price', 'guard'].includes(kind)).length
  return ['solana-note', network, feePayer, signers.join(), strange.toString(), ...texts]
}
