import { parseGwei } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { expect, test } from 'vitest'
import { EVM_NATIVE } from '#contract/address.ts'
import type { Receipt } from '#contract/receipt.ts'
import { verdictOf } from './check.ts'
import { checkReceipt, provable } from './receipt-checks.ts'

const PAYEE = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
const payer = privateKeyToAccount(generatePrivateKey())
const facilitator = privateKeyToAccount(generatePrivateKey())
const fees = {
  type: 'eip1559',
  chainId: 31337,
  nonce: 0,
  gas: 21_000n,
  maxFeePerGas: parseGwei('2'),
  maxPriorityFeePerGas: 1n,
} as const

async function receiptWith(bytes: string): Promise<Receipt> {
  const { keccak256 } = await import('viem')
  return {
    receipt: 'paydesk/2',
    paymentId: 'pay_1111111111111111111111',
    network: 'eip155:31337',
    transaction: keccak256(bytes as `0x${string}`),
    height: 7,
    blockHash: null,
    status: 'confirmed',
    payer: payer.address,
    recipient: PAYEE,
    amount: '0.2',
    amountAtomic: '200000000000000000',
    asset: EVM_NATIVE,
    symbol: 'ETH',
    decimals: 18,
    feeAtomic: '1',
    resource: null,
    description: null,
    reference: null,
    orderedAt: 1,
    signed: {
      encoding: 'evm-rlp-signed',
      bytes: Buffer.from(bytes.slice(2), 'hex').toString('base64'),
    },
  }
}

const badOnes = (receipt: Receipt) => checkReceipt(receipt).filter(({ state }) => state === 'bad')

test('bytes that show the payment by themselves stay in its receipt', async () => {
  const receipt = await receiptWith(
    await payer.signTransaction({ ...fees, to: PAYEE, value: 200_000_000_000_000_000n }),
  )
  expect(badOnes(receipt)).toEqual([])
  expect(provable(receipt)).toEqual(receipt)
})

test('a receipt omits the transaction of the account that executed the proof, and never contradicts itself', async () => {
  const receipt = await receiptWith(
    await facilitator.signTransaction({ ...fees, to: facilitator.address, data: '0xe3ee160e' }),
  )
  expect(badOnes(receipt)).not.toEqual([])
  expect(provable(receipt)).toEqual({ ...receipt, signed: null })
  expect(badOnes(provable(receipt))).toEqual([])
})

test('a receipt whose quantity does not make up what was paid, or its quoted price, is contradicted', async () => {
  const receipt = await receiptWith(
    await payer.signTransaction({ ...fees, to: PAYEE, value: 200_000_000_000_000_000n }),
  )
  const quote = {
    currency: 'EUR',
    amount: '37.5',
    rate: '3000',
    source: 'fixed',
    round: null,
    observedAt: 1,
    quotedAt: 2,
    expiresAt: 3,
  }
  const of = (pieces: number, amount: string, currency: string): Receipt => ({
    ...receipt,
    quantity: { pieces, price: { kind: currency === 'EUR' ? 'fiat' : 'asset', currency, amount } },
  })
  const names = (receipt: Receipt) => badOnes(receipt).map(({ name }) => name)
  expect(names(of(2, '0.1', 'ETH'))).toEqual([])
  expect(names({ ...of(3, '12.50', 'EUR'), quote })).toEqual([])
  for (const lie of [
    of(3, '0.1', 'ETH'),
    of(2, '0.1', 'USDC'),
    of(2, '0', 'ETH'),
    of(3, '12.50', 'EUR'),
    { ...of(13, '12.50', 'EUR'), quote },
  ])
    expect(names(lie)).toEqual(['quantity'])
})

test('what a receipt pays for stays open: neither the payer nor the chain has signed it', async () => {
  const signed = await receiptWith(
    await payer.signTransaction({ ...fees, to: PAYEE, value: 200_000_000_000_000_000n }),
  )
  const openOnes = (receipt: Receipt) =>
    checkReceipt(receipt)
      .filter(({ state }) => state === 'open')
      .map(({ name }) => name)
  expect(openOnes(signed)).toEqual([])
  const resource = 'https://shop.example/guide'
  expect(openOnes({ ...signed, resource })).toEqual(['resource'])
  expect(openOnes({ ...signed, resource, signed: null })).toEqual(['resource', 'signed'])
})

test('of a settled payment that names what it bought, only the payment is verified', async () => {
  const signed = await receiptWith(
    await payer.signTransaction({ ...fees, to: PAYEE, value: 200_000_000_000_000_000n }),
  )
  const named = { ...signed, resource: 'https://shop.example/guide' }
  const verdict = (receipt: Receipt, outcome = {}) =>
    verdictOf({
      checks: checkReceipt(receipt),
      settled: true,
      vouched: false,
      undecided: null,
      ...outcome,
    })
  expect(verdict(signed)).toBe('settled')
  expect(verdict(named)).toBe('paid')
  expect(verdict(named, { settled: false })).toBe('unknown')
  expect(verdict(named, { undecided: 'Your RPC endpoint lags behind.' })).toBe('unknown')
  // Without the payer's bytes more than the purpose is open.
  expect(verdict({ ...named, signed: null })).toBe('unknown')
  expect(verdict({ ...named, amount: '3' })).toBe('invalid')
})
