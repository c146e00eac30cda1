import { addressFact, amountFact, fact, moneyOf, type MatchFact } from '#contract/facts.ts'
import {
  type PaymentIntent,
  type Match,
  type MatchRow,
  conclude,
  refuse,
  withRow,
} from '../match.ts'
import { decodeTransaction } from './decode.ts'
import { arrived, isOneMove } from './erc20.ts'
import type { EvmLandedFacts } from './landed.ts'
import { currencyOf, matchRows, meaningOf, nonceFact } from './match.ts'

/**
 * Compares what a wallet signed with what was shown: the sender's signature over the very fields that were reviewed.
 * Wallets that send by themselves return only a hash; for those there is `compareLanded`.
 */
export function compareSigned(
  intent: PaymentIntent,
  reviewed: Uint8Array,
  signed: Uint8Array,
): Match {
  const before = decodeTransaction(reviewed, currencyOf(intent))
  if (!before.ok) return refuse(before.problem, signed, 'reviewed_unreadable')
  const after = decodeTransaction(signed, currencyOf(intent))
  if (!after.ok) return refuse(after.problem, signed)

  let rows = matchRows(intent, after)
  rows = withRow(rows, {
    field: 'signers',
    ok: after.form === 'signed',
    expected: addressFact(intent.sender),
    got: after.sender === null ? fact('not_signed') : addressFact(after.sender),
  })
  rows = withRow(rows, {
    field: 'expiry',
    ok: before.nonce === after.nonce,
    expected: nonceFact(before.nonce),
    got: nonceFact(after.nonce),
  })
  rows = withRow(rows, {
    field: 'fee',
    ok: sameFee(before, after),
    expected: gasFee(before),
    got: gasFee(after),
  })
  const same =
    before.chainId === after.chainId &&
    before.to === after.to &&
    before.valueAtomic === after.valueAtomic &&
    before.data === after.data
  if (!same)
    rows = withRow(rows, {
      field: 'instructions',
      ok: false,
      expected: fact('reviewed_transaction'),
      got: fact('another_transaction'),
    })
  return conclude(rows, meaningOf(intent, after))
}

/**
 * Compares a payment with what landed. The fee is told, not judged: the payer approved it in the wallet, and the payee has the amount.
 * A transaction that reverted moved nothing and never matches; a token must have told of exactly this transfer, so that one which keeps a
 * part of it, or moves nothing and says it did, is no payment.
 */
export function compareLanded(intent: PaymentIntent, landed: EvmLandedFacts): Match {
  const rows = matchRows(intent, landed).map((row): MatchRow => {
    if (row.field === 'fee')
      return {
        ...row,
        ok: true,
        expected: fact('paid_by_sender'),
        got: amountFact(landed.feeAtomic, currencyOf(intent)),
      }
    if (row.field === 'expiry')
      return {
        ...row,
        expected: fact('landed_in_block'),
        got: { code: 'block', params: { height: landed.blockHeight } },
      }
    if (row.field === 'amount' && row.ok && landed.succeeded && !intent.asset.native)
      return movedRow(intent, landed, row)
    if (row.field !== 'instructions') return row
    if (!landed.succeeded) return { ...row, ok: false, got: fact('reverted_nothing_moved') }
    // The chain has judged the gas.
    if (landed.transfer === null || intent.asset.native !== (landed.data === '0x')) return row
    const kind = fact(intent.asset.native ? 'plain_transfer' : 'one_token_transfer')
    return { ...row, ok: true, expected: kind, got: kind }
  })
  return conclude(rows, meaningOf(intent, landed, intent.maxFeeAtomic))
}

function movedRow(intent: PaymentIntent, { moves }: EvmLandedFacts, row: MatchRow): MatchRow {
  const { sender, recipient, amountAtomic, asset } = intent
  if (isOneMove(moves, { from: sender, to: recipient, amountAtomic })) return row
  const params = moneyOf(arrived(moves, { from: sender, to: recipient }), asset)
  return { ...row, ok: false, got: { code: 'moved_by_token', params } }
}

type GasFee = { gas: bigint; maxFeePerGas: bigint; maxPriorityFeePerGas: bigint }

function sameFee(one: GasFee, other: GasFee): boolean {
  return (
    one.gas === other.gas &&
    one.maxFeePerGas === other.maxFeePerGas &&
    one.maxPriorityFeePerGas === other.maxPriorityFeePerGas
  )
}

function gasFee({ gas, maxFeePerGas, maxPriorityFeePerGas }: GasFee): MatchFact {
  const params = {
    gas: gas.toString(),
    maxFeePerGas: maxFeePerGas.toString(),
    maxPriorityFeePerGas: maxPriorityFeePerGas.toString(),
  }
  return { code: 'gas_fee', params }
}
