import { hexToBytes, keccak256, serializeTransaction, stringToBytes, type Hex } from 'viem'
import { expect, test } from 'vitest'
import { NATIVE_ETH } from '#contract/network.ts'
import type { PaymentIntent } from '../match.ts'
import { isNote, matchNote } from './note.ts'

const PAYEE = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
const PAYER = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC'
const TEXT = 'x402-receipt:pay_1111111111111111111111'
const data = keccak256(stringToBytes(TEXT))
const intent: PaymentIntent = {
  paymentId: TEXT,
  network: 'eip155:31337',
  asset: NATIVE_ETH,
  sender: PAYEE,
  recipient: PAYER,
  amountAtomic: 0n,
  maxFeeAtomic: 10n ** 15n,
}

function wrong(
  change: { to?: Hex; data?: Hex; value?: bigint; gas?: bigint; chainId?: number } = {},
): string[] {
  const fields = {
    chainId: 31337,
    nonce: 3,
    gas: 30_000n,
    maxFeePerGas: 1_000_000_000n,
    maxPriorityFeePerGas: 1n,
    to: PAYER as Hex,
    value: 0n,
    data,
    ...change,
  }
  const match = matchNote(intent, hexToBytes(serializeTransaction({ type: 'eip1559', ...fields })))
  return match.rows.filter(({ ok }) => !ok).map(({ field }) => field)
}

test('a note says its text’s digest to the payer, and moves nothing', () => {
  expect(wrong()).toEqual([])
  expect(wrong({ value: 1n })).toEqual(['amount'])
  expect(wrong({ to: PAYEE })).toEqual(['recipient'])
  expect(wrong({ data: keccak256(stringToBytes('another')) })).toEqual(['memo', 'instructions'])
  expect(wrong({ data: `${data}00` })).toEqual(['memo', 'instructions'])
  expect(wrong({ chainId: 1 })).toEqual(['network'])
  expect(wrong({ gas: 1_100_000n })).toEqual(['fee', 'instructions'])
})

test('an intent that moves something is no note', () => {
  const fields = {
    chainId: 31337,
    nonce: 3,
    gas: 30_000n,
    maxFeePerGas: 1n,
    maxPriorityFeePerGas: 1n,
    to: PAYER as Hex,
    value: 0n,
    data,
  }
  expect(
    matchNote(
      { ...intent, amountAtomic: 1n },
      hexToBytes(serializeTransaction({ type: 'eip1559', ...fields })),
    ).ok,
  ).toBe(false)
})

test('it is found among the payee’s transactions by its meaning', () => {
  expect(isNote(intent, { to: PAYER.toLowerCase(), value: 0n, data })).toBe(true)
  expect(isNote(intent, { to: PAYER, value: 0n, data: '0x' })).toBe(false)
})
