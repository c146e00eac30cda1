import { addressFact, amountFact, fact, moneyOf } from '#contract/facts.ts'
import { NATIVE_SOL } from '#contract/network.ts'
import {
  type PaymentIntent,
  type Match,
  type MatchRow,
  conclude,
  refuse,
  withRow,
} from '../match.ts'
import { decodeTransaction, type SolanaFacts } from './decode.ts'
import { matchesTransfer, type SolanaLandedFacts } from './landed.ts'
import { blockhashFact, matchRows, meaningOf } from './match.ts'
import { formatOperation } from './operations.ts'

/**
 * Compares what a wallet signed with what was shown. The wallet may have added up to three Lighthouse assertions and lowered the
 * compute limit or price; everything else must be the same, and the sender's signature must be good for the new message.
 */
export function compareSigned(
  intent: PaymentIntent,
  reviewed: Uint8Array,
  signed: Uint8Array,
): Match {
  const before = decodeTransaction(reviewed)
  if (!before.ok) return refuse(before.problem, signed, 'reviewed_unreadable')
  const after = decodeTransaction(signed)
  if (!after.ok) return refuse(after.problem, signed)

  let rows = matchRows(intent, after, { allowGuards: true })
  // A fee payer signs last, elsewhere.
  const complete = intent.feePayer === undefined ? 'signed' : 'partial'
  if (after.form !== complete)
    rows = withRow(rows, {
      field: 'signers',
      ok: false,
      expected: addressFact(intent.sender),
      got: fact('not_signed'),
    })
  const sameBlockhash = before.blockhash === after.blockhash
  rows = withRow(rows, {
    field: 'expiry',
    ok: sameBlockhash,
    expected: blockhashFact(before.blockhash),
    got: blockhashFact(after.blockhash),
  })
  rows = withRow(rows, loweredFeeRow(before, after))
  if (before.version !== after.version || formatPlain(before) !== formatPlain(after)) {
    rows = withRow(rows, {
      field: 'instructions',
      ok: false,
      expected: fact('reviewed_transaction'),
      got: fact('another_transaction'),
    })
  }
  return conclude(rows, meaningOf(intent, after))
}

/**
 * Compares a payment with what landed. The fee is told, not judged: the payer signed it, and the payee has the amount.
 * A transaction that failed moved nothing and never matches. Of a token the balances must have moved by exactly the amount, between these
 * two owners and nowhere else: a mint that keeps a part, or an account that was given away, is no payment.
 */
export function compareLanded(intent: PaymentIntent, landed: SolanaLandedFacts): Match {
  const rows = matchRows(intent, landed, { allowGuards: true }).map((row): MatchRow => {
    if (row.field === 'fee')
      return {
        ...row,
        ok: true,
        expected: fact('paid_by_sender'),
        got: amountFact(landed.feeAtomic, NATIVE_SOL),
      }
    if (row.field === 'amount' && row.ok && landed.succeeded && !intent.asset.native)
      return movedRow(intent, landed, row)
    if (row.field === 'expiry')
      return {
        ...row,
        expected: fact('landed_in_slot'),
        got: { code: 'slot', params: { height: landed.blockHeight } },
      }
    if (row.field === 'instructions' && !landed.succeeded)
      return { ...row, ok: false, got: fact('failed_nothing_moved') }
    return row
  })
  return conclude(rows, meaningOf(intent, landed, intent.maxFeeAtomic))
}

function movedRow(
  intent: PaymentIntent,
  { operations, tokenChanges, tokenOwners }: SolanaLandedFacts,
  row: MatchRow,
): MatchRow {
  const [transfer] = operations.filter((operation) => operation.kind === 'token_transfer')
  if (!transfer) return { ...row, ok: false }
  const owner = tokenOwners.get(transfer.destination) ?? null
  if (matchesTransfer(transfer, tokenChanges) && owner === intent.recipient) return row
  const arrived =
    tokenChanges.find(({ account }) => account === transfer.destination)?.changeAtomic ?? 0n
  return {
    ...row,
    ok: false,
    got: { code: 'moved_by_balance', params: { ...moneyOf(arrived, intent.asset), owner } },
  }
}

function loweredFeeRow(before: SolanaFacts, after: SolanaFacts): MatchRow {
  const [shown, signed] = [readFee(before), readFee(after)]
  return {
    field: 'fee',
    ok: signed.units <= shown.units && signed.microLamports <= shown.microLamports,
    expected: {
      code: 'compute_fee_at_most',
      params: { units: shown.units, microLamports: shown.microLamports.toString() },
    },
    got: {
      code: 'compute_fee',
      params: { units: signed.units, microLamports: signed.microLamports.toString() },
    },
  }
}

function readFee({ operations }: SolanaFacts): { units: number; microLamports: bigint } {
  return {
    units: operations.find((operation) => operation.kind === 'fee_limit')?.units ?? 0,
    microLamports:
      operations.find((operation) => operation.kind === 'fee_price')?.microLamports ?? 0n,
  }
}

/** The operations in order, without those a wallet may add or lower. */
function formatPlain({ operations }: SolanaFacts): string {
  return operations
    .filter(({ kind }) => kind !== 'guard' && kind !== 'fee_limit' && kind !== 'fee_price')
    .map(formatOperation)
    .join()
}
