import { addressFact, amountFact, fact, networkFact, textFact } from '#contract/facts.ts'
import { NATIVE_SOL } from '#contract/network.ts'
import {
  type PaymentIntent,
  type Match,
  type MatchRow,
  conclude,
  equalRow,
  refuse,
} from '../match.ts'
import { decodeTransaction, type SolanaFacts } from './decode.ts'
import { MAX_UNIT_PRICE, MAX_UNITS } from './fee.ts'
import type { SolanaLandedFacts } from './landed.ts'
import { atMostSol, blockhashFact, memosFact, signersFact, type MatchOptions } from './match.ts'
import { verifySignature } from './signature.ts'

/**
 * A note of a payee: a memo that the payee signs and pays for, and nothing else. In an intent for it the sender writes it and `paymentId` is its text.
 */

const MAX_GUARDS = 3

/** Compares a note with the bytes of a transaction, unsigned or signed. */
export function matchNote(
  intent: PaymentIntent,
  bytes: Uint8Array,
  options: MatchOptions = {},
): Match {
  const decoded = decodeTransaction(bytes)
  return decoded.ok
    ? conclude(rowsOf(intent, decoded, options), meaningOf(intent, decoded))
    : refuse(decoded.problem, bytes)
}

/** Compares what a wallet signed with the note that was shown: guards may be added, the fee not raised. */
export function compareSignedNote(
  intent: PaymentIntent,
  reviewed: Uint8Array,
  signed: Uint8Array,
): Match {
  const [before, after] = [decodeTransaction(reviewed), decodeTransaction(signed)]
  if (!before.ok) return refuse(before.problem, signed, 'reviewed_unreadable')
  if (!after.ok) return refuse(after.problem, signed)
  const rows = rowsOf(intent, after, { allowGuards: true }).map((row): MatchRow => {
    if (row.field === 'signers' && after.form !== 'signed')
      return { ...row, ok: false, got: fact('not_signed') }
    if (row.field === 'fee' && after.feeBoundAtomic > before.feeBoundAtomic)
      return { ...row, ok: false }
    if (row.field === 'expiry')
      return {
        ...row,
        ok: before.blockhash === after.blockhash,
        expected: blockhashFact(before.blockhash),
      }
    return row
  })
  return conclude(rows, meaningOf(intent, after))
}

/** Compares a note with what landed. */
export function compareLandedNote(intent: PaymentIntent, landed: SolanaLandedFacts): Match {
  const rows = rowsOf(intent, landed, { allowGuards: true }).map((row): MatchRow => {
    if (row.field === 'fee')
      return {
        ...row,
        ok: true,
        expected: fact('paid_by_sender'),
        got: amountFact(landed.feeAtomic, NATIVE_SOL),
      }
    return row.field === 'instructions' && !landed.succeeded
      ? { ...row, ok: false, got: fact('failed') }
      : row
  })
  return conclude(rows, meaningOf(intent, landed))
}

function rowsOf(
  intent: PaymentIntent,
  facts: SolanaFacts,
  { allowGuards = false, blockhashKnown }: MatchOptions,
): MatchRow[] {
  const { sender, paymentId, network, maxFeeAtomic } = intent
  const { operations } = facts
  const memos = operations.filter((operation) => operation.kind === 'memo')
  const limits = operations.filter((operation) => operation.kind === 'fee_limit')
  const prices = operations.filter((operation) => operation.kind === 'fee_price')
  const guards = operations.filter(({ kind }) => kind === 'guard').length
  const capped =
    limits.every(({ units }) => units <= MAX_UNITS) &&
    prices.every(({ microLamports }) => microLamports <= MAX_UNIT_PRICE)
  const plain =
    limits.length + prices.length + memos.length + guards === operations.length &&
    guards <= (allowGuards ? MAX_GUARDS : 0)
  const signed =
    facts.form === 'unsigned' ||
    verifySignature(facts.signatures[0] ?? new Uint8Array(64), facts.message, sender)
  const none = amountFact(0n, NATIVE_SOL)
  return [
    {
      field: 'network',
      ok: network.startsWith('solana:') && blockhashKnown !== false,
      expected: networkFact(network),
      got: networkFact(network),
    },
    equalRow('sender', [sender, facts.feePayer]),
    {
      field: 'amount',
      ok: plain && intent.amountAtomic === 0n,
      expected: none,
      got: plain ? none : fact('other_instruction_decides'),
    },
    {
      field: 'fee',
      ok:
        limits.length === 1 &&
        prices.length === 1 &&
        capped &&
        facts.feeBoundAtomic <= maxFeeAtomic,
      expected: atMostSol(maxFeeAtomic),
      got: atMostSol(facts.feeBoundAtomic),
    },
    {
      field: 'signers',
      ok: facts.signers.join() === sender && signed,
      expected: addressFact(sender),
      got: signersFact(facts.signers),
    },
    {
      field: 'memo',
      ok:
        memos.length === 1 &&
        memos[0]?.text === paymentId &&
        memos[0].signers.every((signer) => signer === sender),
      expected: textFact(paymentId),
      got: memosFact(memos),
    },
    {
      field: 'expiry',
      ok: true,
      expected: fact('recent_blockhash'),
      got: blockhashFact(facts.blockhash),
    },
    {
      field: 'instructions',
      ok: plain,
      expected: fact('memo_only'),
      got: fact(plain ? 'memo_only' : 'other_instruction'),
    },
  ]
}

/** Who says what; guards and the fee do not count. */
function meaningOf(
  { network }: PaymentIntent,
  { feePayer, signers, operations }: SolanaFacts,
): string[] {
  const texts = operations.flatMap((operation) =>
    operation.kind === 'memo' ? [operation.text] : [],
  )
  const strange = operations.filter(
    ({ kind }) => !['memo', 'fee_limit', 'fee_price', 'guard'].includes(kind),
  ).length
  return ['solana-note', network, feePayer, signers.join(), strange.toString(), ...texts]
}
