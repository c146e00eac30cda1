import { hexToBytes, serializeTransaction, type Hex } from 'viem'
import { expect, test } from 'vitest'
import { addressFact, amountFact } from '#contract/facts.ts'
import type { Asset } from '#contract/network.ts'
import type { PaymentIntent } from '../match.ts'
import {
  buildApproval,
  compareLandedApproval,
  describeApproval,
  encodeApprove,
  isApproval,
  matchApproval,
  readApproveCall,
} from './approval.ts'
import { PERMIT2 } from './signed-types.ts'
import { encodeTransfer } from './erc20.ts'
import { decodeLanded, type ChainReceipt, type EvmChainTransaction } from './landed.ts'

const WETH: Asset = {
  address: '0x5FbDB2315678afecb367f032d93F642f64180aa3',
  symbol: 'WETH',
  name: 'Wrapped Ether',
  decimals: 18,
  native: false,
}
const PAYER = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC'
const OTHER = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
const AMOUNT = 25n * 10n ** 15n
const intent: PaymentIntent = {
  paymentId: 'x',
  network: 'eip155:31337',
  asset: WETH,
  sender: PAYER,
  recipient: PERMIT2,
  amountAtomic: AMOUNT,
  maxFeeAtomic: 10n ** 15n,
}
const price = { nonce: 3, gas: 60_000n, maxFeePerGas: 1_000_000_000n, maxPriorityFeePerGas: 1n }
const data = encodeApprove({ spender: PERMIT2, amountAtomic: AMOUNT })

function transaction(
  change: { to?: Hex; data?: Hex; value?: bigint; gas?: bigint; chainId?: number } = {},
): Uint8Array {
  return hexToBytes(
    serializeTransaction({
      type: 'eip1559',
      chainId: 31337,
      ...price,
      to: WETH.address as Hex,
      value: 0n,
      data,
      ...change,
    }),
  )
}

const wrong = (bytes: Uint8Array) =>
  matchApproval(intent, bytes)
    .rows.filter(({ ok }) => !ok)
    .map(({ field }) => field)

test('what is built is the approval that was asked for', () => {
  expect(wrong(buildApproval({ ...intent, ...price }))).toEqual([])
  expect(() => buildApproval({ ...intent, ...price, asset: { ...WETH, native: true } })).toThrow(
    RangeError,
  )
})

test.each<[string, Uint8Array, string[]]>([
  [
    'another spender',
    transaction({ data: encodeApprove({ spender: OTHER, amountAtomic: AMOUNT }) }),
    ['spender'],
  ],
  [
    'more than was asked',
    transaction({ data: encodeApprove({ spender: PERMIT2, amountAtomic: AMOUNT + 1n }) }),
    ['amount'],
  ],
  [
    'everything',
    transaction({ data: encodeApprove({ spender: PERMIT2, amountAtomic: 2n ** 256n - 1n }) }),
    ['amount'],
  ],
  ['another token', transaction({ to: OTHER }), ['asset']],
  ['ether beside it', transaction({ value: 1n }), ['instructions']],
  ['a byte more', transaction({ data: `${data}00` }), ['spender', 'amount', 'instructions']],
  [
    'dirt in the address',
    transaction({ data: data.replace('0x095ea7b300', '0x095ea7b301') as Hex }),
    ['spender', 'amount', 'instructions'],
  ],
  [
    'a transfer',
    transaction({ data: encodeTransfer({ recipient: PERMIT2, amountAtomic: AMOUNT }) }),
    ['spender', 'amount', 'instructions'],
  ],
  ['another chain', transaction({ chainId: 1 }), ['network']],
  ['a fee above the cap', transaction({ gas: 2_000_000n }), ['fee', 'instructions']],
])('%s does not match', (_, bytes, fields) => {
  expect(wrong(bytes)).toEqual(fields)
})

const receipt: ChainReceipt = {
  transactionHash: '0x1',
  status: 'success',
  blockNumber: 9n,
  blockHash: '0x2',
  gasUsed: 1n,
  effectiveGasPrice: 1n,
  logs: [],
}
function landed(
  change: Partial<EvmChainTransaction> = {},
  status: ChainReceipt['status'] = 'success',
) {
  const fields: EvmChainTransaction = {
    hash: '0x1',
    from: PAYER,
    to: WETH.address,
    value: 0n,
    input: data,
    nonce: 3,
    gas: 1n,
    type: 'eip1559',
    chainId: 31337,
  }
  const facts = decodeLanded(
    { ...fields, maxFeePerGas: 1n, maxPriorityFeePerGas: 1n, ...change },
    { ...receipt, status },
  )
  if (!facts.ok) throw new Error(facts.problem.code)
  return compareLandedApproval(intent, facts)
}

test('what landed is the approval only as it was asked for, and only when it went through', () => {
  expect(landed().ok).toBe(true)
  expect(landed({}, 'reverted').ok).toBe(false)
  // A wallet lets people change the amount.
  expect(landed({ input: encodeApprove({ spender: PERMIT2, amountAtomic: 1n }) }).ok).toBe(false)
  expect(landed({ from: OTHER }).ok).toBe(false)
})

test('it is found among the payer’s transactions by its meaning', () => {
  const call = { to: WETH.address.toLowerCase(), value: 0n, data }
  expect(isApproval(intent, call)).toBe(true)
  expect(isApproval(intent, { ...call, value: 1n })).toBe(false)
  expect(isApproval(intent, { ...call, to: OTHER })).toBe(false)
  expect(readApproveCall('0x')).toBeUndefined()
})

test('the review tells who may take how much', () => {
  expect(describeApproval(transaction(), WETH).at(-1)).toEqual({
    kind: 'approval',
    facts: {
      spender: addressFact(PERMIT2),
      amount: amountFact(25n * 10n ** 15n, WETH),
      token: addressFact(WETH.address),
    },
  })
})
