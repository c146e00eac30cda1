import { encodeFunctionData, erc20Abi, hexToBytes, serializeTransaction, type Hex } from 'viem'
import { expect, test } from 'vitest'
import { addressFact, amountFact, fact, moneyOf, type MatchFact } from '#contract/facts.ts'
import {
  evmFacts,
  evmIntent,
  evmPayer,
  evmReviewed,
  evmStranger,
  failing,
} from '#testing/chain-payments.ts'
import type { Match, MatchRow } from '../match.ts'
import { compareLanded, compareSigned } from './compare.ts'
import { decodeLanded, type ChainReceipt, type EvmChainTransaction } from './landed.ts'
import { matchTransaction } from './match.ts'

/** What a review says where a transaction is not the payment that was asked for: what was expected, and what came instead. */

const ETH = evmIntent.asset
const USDC = {
  address: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
  symbol: 'USDC',
  name: 'USD Coin',
  decimals: 6,
  native: false,
}
const token = { ...evmIntent, asset: USDC, amountAtomic: 1_500_000n }
const call = encodeFunctionData({
  abi: erc20Abi,
  functionName: 'transfer',
  args: [evmIntent.recipient as Hex, 1_500_000n],
})
const approval = encodeFunctionData({
  abi: erc20Abi,
  functionName: 'approve',
  args: [evmIntent.recipient as Hex, 1_500_000n],
})
const fields = {
  type: 'eip1559',
  chainId: 31337,
  to: evmIntent.recipient as Hex,
  value: evmIntent.amountAtomic,
  ...evmFacts,
} as const
const tokenFields = { ...fields, to: USDC.address as Hex, value: 0n, data: call, gas: 65_000n }

type Fields = Omit<typeof fields, 'to' | 'value' | keyof typeof evmFacts> &
  typeof evmFacts & { to: Hex; value: bigint; data?: Hex }
const bytesOf = (transaction: Fields) => hexToBytes(serializeTransaction(transaction))

function gotOf({ rows }: Match, field: MatchRow['field']): MatchFact | undefined {
  return rows.find((row) => row.field === field)?.got
}

const contractCall = (of: string | null, { selector = '0xa9059cbb', bytes = 68 } = {}) => ({
  code: 'contract_call',
  params: { selector, call: of, bytes },
})
const unknownToken = { address: USDC.address, symbol: null, token2022: false }

test.each<[string, Fields, Partial<Record<MatchRow['field'], unknown>>]>([
  [
    'another recipient and amount',
    { ...fields, to: evmStranger.address, value: 7n },
    { recipient: addressFact(evmStranger.address), amount: amountFact(7n, ETH) },
  ],
  [
    'a call',
    { ...fields, data: '0x12345678' },
    {
      asset: fact('called_contract_decides'),
      instructions: contractCall(null, { selector: '0x12345678', bytes: 4 }),
    },
  ],
  [
    'a token',
    { ...tokenFields, value: 0n },
    { asset: { code: 'token', params: unknownToken }, instructions: contractCall('transfer') },
  ],
  [
    'a token with value',
    { ...tokenFields, value: 1n },
    { asset: fact('called_contract_decides'), instructions: contractCall('transfer_with_value') },
  ],
])('a payment in ETH that is %s is told', (_, transaction, got) => {
  const match = matchTransaction(evmIntent, bytesOf(transaction))
  for (const [field, expected] of Object.entries(got))
    expect(gotOf(match, field as MatchRow['field'])).toEqual(expected)
})

test.each<[string, Fields, Partial<Record<MatchRow['field'], unknown>>]>([
  [
    'ETH',
    { ...fields, value: 1_500_000n },
    {
      recipient: addressFact(evmIntent.recipient),
      amount: amountFact(1_500_000n, ETH),
      asset: { code: 'currency', params: { symbol: 'ETH' } },
      instructions: fact('plain_transfer'),
    },
  ],
  [
    'another token',
    { ...tokenFields, to: evmStranger.address },
    {
      recipient: addressFact(evmIntent.recipient),
      amount: { code: 'smallest_units', params: { amountAtomic: '1500000' } },
      asset: { code: 'contract', params: { address: evmStranger.address } },
    },
  ],
  [
    'an approval',
    { ...tokenFields, data: approval },
    {
      recipient: fact('called_contract_decides'),
      amount: fact('called_contract_decides'),
      asset: { code: 'token', params: { ...unknownToken, symbol: 'USDC' } },
      instructions: contractCall('approve', { selector: '0x095ea7b3' }),
    },
  ],
])('a payment in a token that is %s is told', (_, transaction, got) => {
  const match = matchTransaction(token, bytesOf(transaction))
  for (const [field, expected] of Object.entries(got))
    expect(gotOf(match, field as MatchRow['field'])).toEqual(expected)
  expect(match.rows.find(({ field }) => field === 'asset')?.expected).toEqual({
    code: 'token',
    params: { ...unknownToken, symbol: 'USDC' },
  })
})

test('fees of an intent of another chain family are told in a currency without a name', () => {
  const { rows } = matchTransaction(
    { ...evmIntent, network: 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1' },
    evmReviewed,
  )
  expect(rows.find(({ field }) => field === 'fee')).toMatchObject({
    expected: {
      code: 'at_most',
      params: moneyOf(evmIntent.maxFeeAtomic, { symbol: 'native', decimals: 18 }),
    },
    got: {
      code: 'at_most',
      params: moneyOf(63_000_000_000_000n, { symbol: 'native', decimals: 18 }),
    },
  })
})

test('a signed transaction that is not the reviewed one is told', async () => {
  const signed = hexToBytes(
    await evmPayer.signTransaction({ ...fields, nonce: 8, maxPriorityFeePerGas: 2_000_000_000n }),
  )
  const match = compareSigned(evmIntent, evmReviewed, signed)
  expect(failing(match)).toEqual(['fee', 'expiry'])
  const gasFee = { gas: '21000', maxFeePerGas: '3000000000', maxPriorityFeePerGas: '1000000000' }
  expect(match.rows).toEqual(
    expect.arrayContaining([
      {
        field: 'fee',
        ok: false,
        expected: { code: 'gas_fee', params: gasFee },
        got: { code: 'gas_fee', params: { ...gasFee, maxPriorityFeePerGas: '2000000000' } },
      },
      {
        field: 'expiry',
        ok: false,
        expected: { code: 'nonce', params: { nonce: 7 } },
        got: { code: 'nonce', params: { nonce: 8 } },
      },
      {
        field: 'signers',
        ok: true,
        expected: addressFact(evmPayer.address),
        got: addressFact(evmPayer.address),
      },
    ]),
  )
  const unsigned = compareSigned(evmIntent, evmReviewed, evmReviewed)
  expect(gotOf(unsigned, 'signers')).toEqual(fact('not_signed'))
})

const hash = `0x${'ab'.repeat(32)}`
const landed: EvmChainTransaction = {
  hash,
  from: evmPayer.address,
  to: evmIntent.recipient,
  value: evmIntent.amountAtomic,
  input: '0x',
  nonce: 7,
  gas: 21_000n,
  type: 'eip1559',
  chainId: 31337,
  maxFeePerGas: 3n,
}
const land = (change: Partial<EvmChainTransaction>, status: ChainReceipt['status'] = 'success') => {
  const decoded = decodeLanded(
    { ...landed, ...change },
    {
      transactionHash: hash,
      status,
      blockNumber: 12n,
      blockHash: hash,
      gasUsed: 21_000n,
      effectiveGasPrice: 2n,
      logs: [],
    },
  )
  if (!decoded.ok) throw new Error(decoded.problem.code)
  return decoded
}

test('a landed payment tells its fee, its block, and what it did', () => {
  const { rows } = compareLanded(evmIntent, land({}))
  expect(rows).toEqual(
    expect.arrayContaining([
      {
        field: 'fee',
        ok: true,
        expected: fact('paid_by_sender'),
        got: amountFact(42_000n, ETH),
      },
      {
        field: 'expiry',
        ok: true,
        expected: fact('landed_in_block'),
        got: { code: 'block', params: { height: 12 } },
      },
      {
        field: 'instructions',
        ok: true,
        expected: fact('plain_transfer'),
        got: fact('plain_transfer'),
      },
    ]),
  )
  expect(gotOf(compareLanded(evmIntent, land({}, 'reverted')), 'instructions')).toEqual(
    fact('reverted_nothing_moved'),
  )
})

test('a landed transaction may have any gas, but must be a transfer of this kind', () => {
  expect(failing(compareLanded(evmIntent, land({ gas: 30_000_000n })))).toEqual([])
  expect(
    failing(compareLanded(evmIntent, land({ to: USDC.address, input: call, value: 0n }))),
  ).toContain('instructions')
  for (const input of [approval, '0x'] as const)
    expect(failing(compareLanded(token, land({ to: USDC.address, value: 0n, input })))).toContain(
      'instructions',
    )
})
