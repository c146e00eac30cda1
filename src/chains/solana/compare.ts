import { formatAmount } from '#contract/amount.ts'
import { NATIVE_SOL } from '#contract/network.ts'
import type { PaymentIntent } from '../intent.ts'
import type { Match, MatchRow } from '../match.ts'
import { conclude, refuse, withRow } from '../rows.ts'
import { decodeTransaction, type SolanaFacts } from './decode.ts'
import type { LandedFacts } from './landed.ts'
import { matchRows, meaningOf } from './match.ts'
import { spellOperation } from './operations.ts'

/**
 * Compares what a wallet signed with what was shown. The wallet may have added up to three Lighthouse assertions and lowered the
 * compute limit or price; everything else must be the same, and the sender's signature must be good for the new message.
 */
export function compareSigned(intent: PaymentIntent, reviewed: Uint8Array, signed: Uint8Array): Match {
  const before = decodeTransaction(reviewed)
  if (!before.ok) return refuse(`What was reviewed cannot be read: ${before.problem}`, signed)
  const after = decodeTransaction(signed)
  if (!after.ok) return refuse(after.problem, signed)

  let rows = matchRows(intent, after, { allowGuards: true })
  if (after.form !== 'signed') rows = withRow(rows, { field: 'signers', ok: false, expected: intent.sender, got: 'not signed' })
  rows = withRow(rows, { field: 'expiry', ok: before.blockhash === after.blockhash, expected: before.blockhash, got: after.blockhash })
  rows = withRow(rows, loweredFeeRow(before, after))
  if (before.version !== after.version || spellPlain(before) !== spellPlain(after)) {
    rows = withRow(rows, { field: 'instructions', ok: false, expected: 'the transaction that was reviewed', got: 'another transaction' })
  }
  return conclude(rows, meaningOf(intent, after))
}

/**
 * Compares a payment with what landed. The fee is told, not judged: the payer signed it, and the payee has the amount.
 * A transaction that failed moved nothing and never matches.
 */
export function compareLanded(intent: PaymentIntent, landed: LandedFacts): Match {
  const rows = matchRows(intent, landed, { allowGuards: true }).map((row): MatchRow => {
    if (row.field === 'fee') return { ...row, ok: true, expected: 'paid by the sender', got: `${formatAmount(landed.feeAtomic, NATIVE_SOL.decimals)} SOL` }
    if (row.field === 'expiry') return { ...row, expected: 'landed in a slot', got: `slot ${landed.blockHeight}` }
    if (row.field === 'instructions' && !landed.succeeded) return { ...row, ok: false, got: 'failed: nothing was moved' }
    return row
  })
  return conclude(rows, meaningOf(intent, landed, intent.maxFeeAtomic))
}

function loweredFeeRow(before: SolanaFacts, after: SolanaFacts): MatchRow {
  const [shown, signed] = [readFee(before), readFee(after)]
  return {
    field: 'fee',
    ok: signed.units <= shown.units && signed.microLamports <= shown.microLamports,
    expected: `at most ${shown.units} units at ${shown.microLamports} micro-lamports`,
    got: `${signed.units} units at ${signed.microLamports} micro-lamports`,
  }
}

function readFee({ operations }: SolanaFacts): { units: number; microLamports: bigint } {
  return {
    units: operations.find((operation) => operation.kind === 'fee_limit')?.units ?? 0,
    microLamports: operations.find((operation) => operation.kind === 'fee_price')?.microLamports ?? 0n,
  }
}

/** The operations in order, without those a wallet may add or lower. */
function spellPlain({ operations }: SolanaFacts): string {
  return operations
    .filter(({ kind }) => kind !== 'guard' && kind !== 'fee_limit' && kind !== 'fee_price')
    .map(spellOperation)
    .join()
}
