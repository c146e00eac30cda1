import { expect, test } from 'vitest'
import { NATIVE_ETH, type Asset, type Network } from '#contract/network.ts'
import { encodeHeader } from '#x402/header.ts'
import { EXACT_PERMIT2_PROXY } from '#x402/authorization.ts'
import { decodePayload } from '#x402/payload.ts'
import { journalEntry } from '../../../payment-flow/journal.ts'
import { reduce, startPayment } from '../../../payment-flow/machine.ts'
import { needsWallet } from '../../../payment-intent/intent.ts'
import { factsOf, type Body } from '../proof/facts.ts'
import { settleKindOf } from './kinds.ts'
import { settlementIntentOf, settlementOf } from './settlement.ts'

const PAYER = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC'
const PAYEE = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
const WETH: Asset = {
  address: '0x5FbDB2315678afecb367f032d93F642f64180aa3',
  symbol: 'WETH',
  name: 'Wrapped Ether',
  decimals: 18,
  native: false,
}
const network: Network = {
  network: 'eip155:31337',
  name: 'Chain',
  rpcUrls: ['http://127.0.0.1:1'],
  testnet: true,
  blockTimeMs: 1000,
  confirmations: 1,
  assets: [NATIVE_ETH, WETH],
}
const header = encodeHeader({
  x402Version: 2,
  resource: { url: 'https://shop.example/a' },
  accepted: {
    scheme: 'exact',
    network: network.network,
    amount: '7',
    asset: WETH.address,
    payTo: PAYEE,
    maxTimeoutSeconds: 60,
    extra: {},
  },
  payload: {
    signature: `0x${'11'.repeat(65)}`,
    permit2Authorization: {
      from: PAYER,
      permitted: { token: WETH.address, amount: '7' },
      spender: EXACT_PERMIT2_PROXY,
      nonce: '5',
      deadline: '9999999999',
      witness: { to: PAYEE, validAfter: '0' },
    },
  },
})
const decoded = decodePayload(header)
if (!decoded.ok) throw new Error(decoded.problem.code)
const facts = factsOf(decoded.payload)
const expected = {
  network,
  asset: WETH,
  wallet: PAYEE,
  amountAtomic: 7n,
  resource: null,
  memo: null,
}
const begin = { header, facts, expected, walletName: 'W', id: 'one', now: 1 }

const bodyOf = (body: unknown) => ({ body: body as Body })

test.each<[string, Body['kind'], unknown, ReturnType<typeof settleKindOf>]>([
  ['an authorization', 'authorization', {}, 'execute'],
  ['a permit', 'permit', {}, 'execute'],
  ['a signed transaction of EVM', 'evm', {}, 'broadcast'],
  ['a transfer on the chain', 'txid', {}, 'acknowledge'],
  ['a memo on the chain', 'memo', {}, 'acknowledge'],
  [
    'a transfer that lacks the payee’s signature',
    'solana',
    { facts: { form: 'partial', feePayer: PAYEE } },
    'co_sign',
  ],
  [
    'a transfer that lacks another’s',
    'solana',
    { facts: { form: 'partial', feePayer: PAYER } },
    { kind: 'other_fee_payer', feePayer: PAYER },
  ],
  [
    'a transfer that lacks nothing',
    'solana',
    { facts: { form: 'signed', feePayer: PAYER } },
    'broadcast',
  ],
  ['nothing that can be read', 'unreadable', {}, { kind: 'unreadable' }],
])('%s says what is left to do', (_, kind, rest, todo) => {
  expect(settleKindOf(bodyOf({ kind, ...(rest as object) }), PAYEE)).toEqual(todo)
})

test('an order holds all that a reload needs to go on with it', () => {
  const order = settlementIntentOf({ ...begin, kind: 'execute' })
  expect(order).toMatchObject({
    sender: PAYEE,
    recipient: PAYEE,
    amountAtomic: 7n,
    asset: WETH,
    operation: { kind: 'settle', way: 'execute' },
  })
  expect(settlementOf(order, [network])).toEqual({ header, facts, expected })
})

test('a receipt is told to the payer, moves nothing, and remembers what it is for', () => {
  const order = settlementIntentOf({ ...begin, kind: 'acknowledge' })
  expect(order).toMatchObject({
    sender: PAYEE,
    recipient: PAYER,
    amountAtomic: 0n,
    asset: NATIVE_ETH,
    operation: { kind: 'acknowledge' },
  })
  expect(settlementOf(order, [network])).toEqual({ header, facts, expected })
})

test('only a transaction that another account has fully signed needs no wallet', () => {
  expect(needsWallet(settlementIntentOf({ ...begin, kind: 'broadcast' }))).toBe(false)
  for (const kind of ['execute', 'co_sign', 'acknowledge'] as const)
    expect(needsWallet(settlementIntentOf({ ...begin, kind }))).toBe(true)
})

test('the proof is kept while it is open, and no longer', () => {
  const building = reduce(startPayment(settlementIntentOf({ ...begin, kind: 'execute' })), {
    type: 'build',
  })
  const entry = journalEntry(undefined, building, 1)
  expect(
    JSON.stringify(entry.state.order.operation, (_, value: unknown) =>
      typeof value === 'bigint' ? String(value) : value,
    ),
  ).toContain(header)
  const over = journalEntry(entry, reduce(building, { type: 'cancel' }), 2)
  expect(over.state.order.operation).toMatchObject({ kind: 'settle', proof: '' })
  expect(() => settlementOf(over.state.order, [network])).toThrow(/not kept/)
})
