import { createServer, type Server } from 'node:http'
import * as v from 'valibot'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { formatAmount } from '#contract/amount.ts'
import { NATIVE_ETH, type Network } from '#contract/network.ts'
import type { PaymentStatusBody } from '#contract/payment-body.ts'
import { Receipt } from '#contract/receipt.ts'
import { statusBody } from '#testing/status-body.ts'
import { checkReceipt } from '../../payment-view/receipt-checks.ts'
import { recordedReceiptOf, verifyOnChain } from './on-chain-verification.ts'

// The page learns of requests blocked by its CSP through the document.
beforeEach(() => vi.stubGlobal('document', new EventTarget()))
afterEach(() => vi.unstubAllGlobals())

const hash = `0x${'ab'.repeat(32)}`
const sender = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'
const recipient = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'

const network: Network = {
  network: 'eip155:31337',
  name: 'Local',
  rpcUrls: ['http://127.0.0.1:1'],
  testnet: true,
  blockTimeMs: 1000,
  confirmations: 2,
  assets: [NATIVE_ETH],
}

const payment = statusBody({
  paymentId: 'pay_1111111111111111111111',
  signature: hash,
  network: network.network,
  amount: '0.2',
  amountAtomic: '200000000000000000',
  sender,
  recipient,
  resource: null,
  blockHeight: 7,
  blockTime: null,
  confirmations: 2,
  requiredConfirmations: 2,
  fee: { amount: '0.000021', amountAtomic: '21000000000000', payer: sender, ofTransaction: true },
  metadata: null,
  timestamp: 1,
})

const transaction = {
  hash,
  from: sender.toLowerCase(),
  to: recipient.toLowerCase(),
  value: '0x2c68af0bb140000',
  input: '0x',
  nonce: '0x1',
  gas: '0x5208',
  type: '0x2',
  chainId: '0x7a69',
  maxFeePerGas: '0x3b9aca00',
  maxPriorityFeePerGas: '0x1',
}
const receipt = {
  transactionHash: hash,
  status: '0x1',
  blockNumber: '0x7',
  blockHash: `0x${'cd'.repeat(32)}`,
  gasUsed: '0x5208',
  effectiveGasPrice: '0x3b9aca00',
  logs: [],
}
const honest: Record<string, unknown> = {
  eth_chainId: '0x7a69',
  eth_getBlockByNumber: { number: '0x9', timestamp: '0x1' },
  eth_getTransactionByHash: transaction,
  eth_getTransactionReceipt: receipt,
}

const verifyAt = (row: PaymentStatusBody, on: Network, url: string) =>
  verifyOnChain(row, { ...on, rpcUrls: [url] })

let server: Server | undefined
afterEach(() => server?.close())

/** A node that returns the given answers. */
async function node(answers: Record<string, unknown>): Promise<string> {
  server = createServer((request, response) => {
    let text = ''
    request.on('data', (chunk: Buffer) => (text += chunk.toString()))
    request.on('end', () => {
      const { method } = JSON.parse(text) as { method: string }
      response.end(JSON.stringify({ jsonrpc: '2.0', id: 1, result: answers[method] ?? null }))
    })
  })
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  return typeof address === 'object' && address ? `http://127.0.0.1:${address.port}` : ''
}

const differing = (truth: Awaited<ReturnType<typeof verifyOnChain>>) =>
  'rows' in truth
    ? truth.rows.filter(({ ok }) => !ok).map(({ name, record, chain }) => [name, record, chain])
    : truth

test('a record the chain bears out in every field matches', async () => {
  const truth = await verifyAt(payment, network, await node(honest))
  expect(differing(truth)).toEqual([])
  expect(truth.kind).toBe('matches')
})

test.each([
  ['another amount', { ...transaction, value: '0x2386f26fc10000' }, receipt, 'Amount'],
  ['another recipient', { ...transaction, to: sender.toLowerCase() }, receipt, 'To'],
  ['another sender', { ...transaction, from: recipient.toLowerCase() }, receipt, 'From'],
  ['data beside the value', { ...transaction, input: '0xdeadbeef' }, receipt, 'Action'],
  ['another block', transaction, { ...receipt, blockNumber: '0x8' }, 'Block'],
  ['another fee', transaction, { ...receipt, gasUsed: '0x5209' }, 'Network fee'],
  ['a reverted transaction', transaction, { ...receipt, status: '0x0' }, 'Outcome'],
])('%s on the chain is named as a difference', async (_, landed, landedReceipt, name) => {
  const truth = await verifyAt(
    payment,
    network,
    await node({
      ...honest,
      eth_getTransactionByHash: landed,
      eth_getTransactionReceipt: landedReceipt,
    }),
  )
  expect(truth.kind).toBe('differs')
  expect(JSON.stringify(differing(truth))).toContain(`"${name}"`)
})

const token = {
  address: '0x73511669fd4dE447feD18BB79bAFeAC93aB7F31f',
  symbol: 'USDC',
  name: 'USD Coin',
  decimals: 6,
  native: false,
}
const word = (address: string) => `0x${address.slice(2).toLowerCase().padStart(64, '0')}`
const settled = {
  ...transaction,
  from: `0x${'17'.repeat(20)}`,
  to: token.address.toLowerCase(),
  value: '0x0',
  input: '0xe3ee160e',
}
const transferred = (to: string, amount: bigint) => ({
  address: token.address.toLowerCase(),
  topics: [
    '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef',
    word(sender),
    word(to),
  ],
  data: `0x${amount.toString(16).padStart(64, '0')}`,
})

test('a proof that a facilitator settled is judged by what its token moved, not by who had it moved', async () => {
  const handedIn: PaymentStatusBody = {
    ...payment,
    mode: 'received',
    asset: token.address,
    symbol: 'USDC',
    decimals: 6,
    amount: '1',
    amountAtomic: '1000000',
    fee: null,
  }
  const tokens = { ...network, assets: [NATIVE_ETH, token] }
  const ask = async (log: unknown) => {
    const url = await node({
      ...honest,
      eth_getTransactionByHash: settled,
      eth_getTransactionReceipt: { ...receipt, logs: [log] },
    })
    return verifyAt(handedIn, tokens, url).finally(() => server?.close())
  }
  expect(differing(await ask(transferred(recipient, 1_000_000n)))).toEqual([])
  expect(JSON.stringify(differing(await ask(transferred(recipient, 999_999n))))).toContain(
    '0.999999 USDC',
  )
  expect(
    JSON.stringify(differing(await ask(transferred(`0x${'99'.repeat(20)}`, 1_000_000n)))),
  ).toContain('9999')
})

test('a failure the chain confirms is no contradiction', async () => {
  const url = await node({ ...honest, eth_getTransactionReceipt: { ...receipt, status: '0x0' } })
  expect((await verifyAt({ ...payment, status: 'failed' }, network, url)).kind).toBe('matches')
})

test('a payment called paid that the chain does not know is contradicted; one on its way is not', async () => {
  const url = await node({
    ...honest,
    eth_getTransactionByHash: null,
    eth_getTransactionReceipt: null,
  })
  expect((await verifyAt(payment, network, url)).kind).toBe('contradicted')
  expect(await verifyAt({ ...payment, status: 'pending' }, network, url)).toMatchObject({
    kind: 'nothing',
    body: expect.stringContaining('Not found'),
  })
  expect(await verifyAt({ ...payment, status: 'failed' }, network, url)).toMatchObject({
    kind: 'nothing',
    body: expect.stringContaining('Not on the chain'),
  })
  expect(
    (await verifyAt({ ...payment, status: 'created', signature: null }, network, url)).kind,
  ).toBe('nothing')
})

describe('the service and the reader’s node at different moments', () => {
  const gone = { eth_getTransactionByHash: null, eth_getTransactionReceipt: null }

  test('a node that has not come to the payment’s block contradicts nobody, and is asked again', async () => {
    const behind = { ...honest, ...gone, eth_getBlockByNumber: { number: '0x6', timestamp: '0x1' } }
    expect(await verifyAt(payment, network, await node(behind))).toMatchObject({
      kind: 'nothing',
      soon: true,
    })
  })

  test('a failure that is not final for the service yet is no disagreement', async () => {
    const failed = { ...honest, eth_getTransactionReceipt: { ...receipt, status: '0x0' } }
    const open = { ...payment, status: 'pending', fee: null, blockHeight: null } as const
    expect(await verifyAt(open, network, await node(failed))).toMatchObject({
      kind: 'nothing',
      soon: true,
      body: expect.stringContaining('Failed'),
    })
  })

  test.each(['rolled_back', 'expired'] as const)(
    'a payment that the service calls %s and that is on the chain again is not called the same',
    async (status) => {
      expect(await verifyAt({ ...payment, status }, network, await node(honest))).toMatchObject({
        kind: 'nothing',
        soon: true,
      })
      server?.close()
      const other = { ...honest, eth_getTransactionByHash: { ...transaction, value: '0x1' } }
      expect((await verifyAt({ ...payment, status }, network, await node(other))).kind).toBe(
        'differs',
      )
    },
  )

  test('a payment on its way may move to another block; one that is confirmed may not', async () => {
    const moved = { ...honest, eth_getTransactionReceipt: { ...receipt, blockNumber: '0x8' } }
    expect(
      (await verifyAt({ ...payment, status: 'pending' }, network, await node(moved))).kind,
    ).toBe('matches')
    server?.close()
    expect((await verifyAt(payment, network, await node(moved))).kind).toBe('differs')
  })
})

test('no answer, another chain, and nonsense are not available, never a match', async () => {
  expect((await verifyAt(payment, network, 'http://127.0.0.1:1')).kind).toBe('unavailable')
  expect(
    (await verifyAt(payment, network, await node({ ...honest, eth_chainId: '0x1' }))).kind,
  ).toBe('unavailable')
  server?.close()
  expect(
    (
      await verifyAt(
        payment,
        network,
        await node({ ...honest, eth_getTransactionByHash: { hash } }),
      )
    ).kind,
  ).toBe('unavailable')
})

test('the receipt of a payment of several pieces says how many, and the price of one, and adds up', () => {
  const read = (changes: Partial<PaymentStatusBody>) =>
    v.parse(Receipt, { ...recordedReceiptOf({ ...payment, ...changes }), signed: null })
  const quote = {
    currency: 'EUR',
    amount: '37.5',
    rate: '2000',
    source: 'test',
    round: null,
    observedAt: 1,
    quotedAt: 2,
    expiresAt: 3,
  }
  const link = { paymentLink: 'abc', description: 'Coffee', pieces: 3 }
  const fiat = read({ metadata: { ...link, quote } })
  expect(fiat.description).toBe('Coffee')
  expect(fiat.quantity).toEqual({
    pieces: 3,
    price: { kind: 'fiat', currency: 'EUR', amount: '12.5' },
  })
  const asset = read({ metadata: link, amountAtomic: '30' })
  expect(asset.quantity?.price).toEqual({
    kind: 'asset',
    currency: payment.symbol,
    amount: formatAmount(10n, payment.decimals),
  })
  for (const receipt of [fiat, asset])
    expect(checkReceipt(receipt).find(({ name }) => name === 'quantity')?.state).toBe('ok')
  // What no link wrote, and what does not divide, is left out; so is the count of a single piece.
  for (const changes of [
    { metadata: { pieces: 3, quote } },
    { metadata: { ...link, pieces: 1, quote } },
    { metadata: { ...link, pieces: '3', quote } },
    { metadata: link, amountAtomic: '31' },
  ])
    expect(read(changes).quantity).toBeUndefined()
})

test('the receipt of a payment has its quoted price, and no fee that another payment of its transaction has', () => {
  const quote = {
    currency: 'EUR',
    amount: '10',
    rate: '2000',
    source: 'test',
    round: null,
    observedAt: 1,
    quotedAt: 2,
    expiresAt: 3,
  }
  const read = (changes: Partial<PaymentStatusBody>) =>
    v.parse(Receipt, { ...recordedReceiptOf({ ...payment, ...changes }), signed: null })
  expect(read({ metadata: { quote } }).quote).toEqual(quote)
  expect(read({})).toMatchObject({ feeAtomic: '21000000000000' })
  expect(read({}).quote).toBeUndefined()
  expect(read({ fee: null }).feeAtomic).toBeNull()
  // Of another transaction than the one that the receipt names.
  const other = { amount: '0.00003', amountAtomic: '30000000000000', payer: recipient }
  expect(read({ fee: { ...other, ofTransaction: false } }).feeAtomic).toBeNull()
})
