import { formatAmount } from '#contract/amount.ts'
import type { PaymentIntent } from '../intent.ts'
import type { Match, MatchRow } from '../match.ts'
import { conclude, refuse, withRow } from '../rows.ts'
import { decodeTransaction } from './decode.ts'
import { isOneMove } from './erc20.ts'
import type { LandedFacts } from './landed.ts'
import { currencyOf, matchRows, meaningOf } from './match.ts'

/**
 * Compares what a wallet signed with what was shown: the sender's signature over the very fields that were reviewed.
 * Wallets that send by themselves return only a hash; for those there is `compareLanded`.
 */
export function compareSigned(intent: PaymentIntent, reviewed: Uint8Array, signed: Uint8Array): Match {
  const before = decodeTransaction(reviewed, currencyOf(intent))
  if (!before.ok) return refuse(`What was reviewed cannot be read: ${before.problem}`, signed)
  const after = decodeTransaction(signed, currencyOf(intent))
  if (!after.ok) return refuse(after.problem, signed)

  let rows = matchRows(intent, after)
  rows = withRow(rows, { field: 'signers', ok: after.form === 'signed', expected: intent.sender, got: after.sender ?? 'not signed' })
  rows = withRow(rows, { field: 'expiry', ok: before.nonce === after.nonce, expected: `nonce ${before.nonce}`, got: `nonce ${after.nonce}` })
  rows = withRow(rows, { field: 'fee', ok: describeFee(before) === describeFee(after), expected: describeFee(before), got: describeFee(after) })
  const same = before.chainId === after.chainId && before.to === after.to && before.valueAtomic === after.valueAtomic && before.data === after.data
  if (!same) rows = withRow(rows, { field: 'instructions', ok: false, expected: 'the transaction that was reviewed', got: 'another transaction' })
  return conclude(rows, meaningOf(intent, after))
}

/**
 * Compares a payment with what landed. The fee is told, not judged: the payer approved it in the wallet, and the payee has the amount.
 * A transaction that reverted moved nothing and never matches; a token must have told of exactly this transfer, so that one which keeps a
 * part of it, or moves nothing and says it did, is no payment.
 */
export function compareLanded(intent: PaymentIntent, landed: LandedFacts): Match {
  const { decimals, symbol } = currencyOf(intent)
  const rows = matchRows(intent, landed).map((row): MatchRow => {
    if (row.field === 'fee') return { ...row, ok: true, expected: 'paid by the sender', got: `${formatAmount(landed.feeAtomic, decimals)} ${symbol}` }
    if (row.field === 'expiry') return { ...row, expected: 'landed in a block', got: `block ${landed.blockHeight}` }
    if (row.field === 'amount' && row.ok && landed.succeeded && !intent.asset.native) return movedRow(intent, landed, row)
    if (row.field !== 'instructions') return row
    if (!landed.succeeded) return { ...row, ok: false, got: 'reverted: nothing was moved' }
    // The chain has judged the gas.
    if (landed.transfer === null || intent.asset.native !== (landed.data === '0x')) return row
    const kind = intent.asset.native ? 'a plain transfer' : 'one transfer of the token'
    return { ...row, ok: true, expected: kind, got: kind }
  })
  return conclude(rows, meaningOf(intent, landed, intent.maxFeeAtomic))
}

function movedRow(intent: PaymentIntent, { moves }: LandedFacts, row: MatchRow): MatchRow {
  const { sender, recipient, amountAtomic, asset } = intent
  if (isOneMove(moves, { from: sender, to: recipient, amountAtomic })) return row
  const arrived = (moves ?? []).filter(({ from, to }) => from === sender && to === recipient).reduce((sum, move) => sum + move.amountAtomic, 0n)
  return { ...row, ok: false, got: `${formatAmount(arrived, asset.decimals)} ${asset.symbol} by what the token says it moved` }
}

function describeFee(facts: { gas: bigint; maxFeePerGas: bigint; maxPriorityFeePerGas: bigint }): string {
  return `${facts.gas} gas at ${formatAmount(facts.maxFeePerGas, 9)} gwei, ${formatAmount(facts.maxPriorityFeePerGas, 9)} gwei of it for the validator`
}
