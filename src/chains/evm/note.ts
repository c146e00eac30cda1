import { keccak256, stringToBytes, type Hex } from 'viem'
import { checksumAddress } from '#contract/address.ts'
import { formatAmount } from '#contract/amount.ts'
import type { PaymentIntent } from '../intent.ts'
import type { Match, MatchRow } from '../match.ts'
import { conclude, equalRow, refuse } from '../rows.ts'
import { decodeTransaction, type EvmFacts } from './decode.ts'
import { MAX_GAS } from './fee.ts'
import type { LandedFacts } from './landed.ts'
import { currencyOf } from './match.ts'

/**
 * A note of a payee to a payer, told by the Keccak-256 of its text as the data of a transaction without value. It moves nothing.
 * In an intent for it the sender writes the note, the recipient is told, the amount is zero, and `paymentId` is the text.
 */

/** Compares a note with the bytes of a transaction. */
export function matchNote(intent: PaymentIntent, bytes: Uint8Array): Match {
  const decoded = decodeTransaction(bytes, currencyOf(intent))
  if (!decoded.ok) return refuse(decoded.problem, bytes)
  return conclude(rowsOf(intent, decoded), meaningOf(intent, decoded))
}

/** Compares a note with what landed. */
export function compareLandedNote(intent: PaymentIntent, landed: LandedFacts): Match {
  const { decimals, symbol } = currencyOf(intent)
  const rows = rowsOf(intent, landed).map((row): MatchRow => {
    if (row.field === 'fee') return { ...row, ok: true, expected: 'paid by the sender', got: `${formatAmount(landed.feeAtomic, decimals)} ${symbol}` }
    if (row.field === 'instructions' && !landed.succeeded) return { ...row, ok: false, got: 'reverted' }
    return row
  })
  return conclude(rows, meaningOf(intent, landed))
}

/** Whether a transaction is this note. */
export function isNote({ recipient, paymentId }: PaymentIntent, call: { to: string; value: bigint; data: Hex }): boolean {
  return call.value === 0n && checksumAddress(call.to) === recipient && call.data.toLowerCase() === dataOf(paymentId)
}

function rowsOf(intent: PaymentIntent, facts: EvmFacts): MatchRow[] {
  const currency = currencyOf(intent)
  const spell = (atomic: bigint) => `${formatAmount(atomic, currency.decimals)} ${currency.symbol}`
  const said = facts.data === dataOf(intent.paymentId)
  return [
    equalRow('network', intent.network, `eip155:${facts.chainId}`),
    equalRow('sender', intent.sender, facts.sender ?? intent.sender),
    equalRow('recipient', intent.recipient, facts.to),
    { field: 'amount', ok: facts.valueAtomic === 0n && intent.amountAtomic === 0n, expected: spell(0n), got: spell(facts.valueAtomic) },
    {
      field: 'fee',
      ok: facts.feeBoundAtomic <= intent.maxFeeAtomic,
      expected: `at most ${spell(intent.maxFeeAtomic)}`,
      got: `at most ${spell(facts.feeBoundAtomic)}`,
    },
    { field: 'memo', ok: said, expected: intent.paymentId, got: said ? intent.paymentId : facts.data },
    { field: 'expiry', ok: true, expected: 'valid until its nonce is used', got: `nonce ${facts.nonce}` },
    {
      field: 'instructions',
      ok: said && facts.gas <= MAX_GAS,
      expected: 'a note, which moves nothing',
      got: said ? 'a note, which moves nothing' : 'another call',
    },
  ]
}

function dataOf(text: string): Hex {
  return keccak256(stringToBytes(text))
}

function meaningOf(intent: PaymentIntent, facts: EvmFacts): string[] {
  return ['evm-note', `eip155:${facts.chainId}`, facts.sender ?? intent.sender, facts.to, facts.valueAtomic.toString(), facts.data]
}
