import { keccak256, stringToBytes, type Hex } from 'viem'
import { checksumAddress } from '#contract/address.ts'
import { amountFact, fact, networkFact, textFact } from '#contract/facts.ts'
import {
  type PaymentIntent,
  type Match,
  type MatchRow,
  conclude,
  equalRow,
  refuse,
} from '../match.ts'
import { decodeTransaction, type EvmFacts } from './decode.ts'
import { MAX_GAS } from './fee.ts'
import type { EvmLandedFacts } from './landed.ts'
import { currencyOf, feeRow, nonceFact } from './match.ts'

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
export function compareLandedNote(intent: PaymentIntent, landed: EvmLandedFacts): Match {
  const rows = rowsOf(intent, landed).map((row): MatchRow => {
    if (row.field === 'fee')
      return {
        ...row,
        ok: true,
        expected: fact('paid_by_sender'),
        got: amountFact(landed.feeAtomic, currencyOf(intent)),
      }
    if (row.field === 'instructions' && !landed.succeeded)
      return { ...row, ok: false, got: fact('reverted') }
    return row
  })
  return conclude(rows, meaningOf(intent, landed))
}

/** Whether a transaction is this note. */
export function isNote(
  { recipient, paymentId }: PaymentIntent,
  call: { to: string; value: bigint; data: Hex },
): boolean {
  return (
    call.value === 0n &&
    checksumAddress(call.to) === recipient &&
    call.data.toLowerCase() === dataOf(paymentId)
  )
}

function rowsOf(intent: PaymentIntent, facts: EvmFacts): MatchRow[] {
  const currency = currencyOf(intent)
  const said = facts.data === dataOf(intent.paymentId)
  return [
    equalRow('network', [intent.network, `eip155:${facts.chainId}`], networkFact),
    equalRow('sender', [intent.sender, facts.sender ?? intent.sender]),
    equalRow('recipient', [intent.recipient, facts.to]),
    {
      field: 'amount',
      ok: facts.valueAtomic === 0n && intent.amountAtomic === 0n,
      expected: amountFact(0n, currency),
      got: amountFact(facts.valueAtomic, currency),
    },
    feeRow(intent, facts),
    {
      field: 'memo',
      ok: said,
      expected: textFact(intent.paymentId),
      got: said ? textFact(intent.paymentId) : { code: 'data', params: { data: facts.data } },
    },
    { field: 'expiry', ok: true, expected: fact('until_nonce_used'), got: nonceFact(facts.nonce) },
    {
      field: 'instructions',
      ok: said && facts.gas <= MAX_GAS,
      expected: fact('note'),
      got: said ? fact('note') : fact('unnamed_call'),
    },
  ]
}

function dataOf(text: string): Hex {
  return keccak256(stringToBytes(text))
}

function meaningOf(intent: PaymentIntent, facts: EvmFacts): string[] {
  return [
    'evm-note',
    `eip155:${facts.chainId}`,
    facts.sender ?? intent.sender,
    facts.to,
    facts.valueAtomic.toString(),
    facts.data,
  ]
}
