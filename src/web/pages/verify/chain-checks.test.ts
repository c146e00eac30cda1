import { createServer, type Server } from 'node:http'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { addressFact, amountFact, fact } from '#contract/facts.ts'
import { NATIVE_ETH, type Network } from '#contract/network.ts'
import { findTransaction } from './chain-checks.ts'

// The page learns of requests blocked by its CSP through the document.
beforeEach(() => vi.stubGlobal('document', new EventTarget()))
afterEach(() => vi.unstubAllGlobals())

const hash = `0x${'ab'.repeat(32)}`
const payer = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'
const payee = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
const facilitator = `0x${'17'.repeat(20)}`
const token = {
  address: '0x73511669fd4dE447feD18BB79bAFeAC93aB7F31f',
  symbol: 'USDC',
  name: 'USD Coin',
  decimals: 6,
  native: false,
}
const word = (address: string) => `0x${address.slice(2).toLowerCase().padStart(64, '0')}`
const transferred = (to: string, amount: bigint) => ({
  address: token.address.toLowerCase(),
  topics: [
    '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef',
    word(payer),
    word(to),
  ],
  data: `0x${amount.toString(16).padStart(64, '0')}`,
})

let server: Server | undefined
afterEach(() => server?.close())

/** Uses a node that shows a transaction in which a facilitator executed what the payer signed. */
async function look(
  logs: readonly unknown[],
  { amountAtomic = 1_000_000n, from = null }: { amountAtomic?: bigint; from?: string | null } = {},
) {
  const answers: Record<string, unknown> = {
    eth_chainId: '0x7a69',
    eth_getBlockByNumber: { number: '0x9', timestamp: '0x1' },
    eth_getTransactionByHash: {
      hash,
      from: facilitator,
      to: token.address.toLowerCase(),
      value: '0x0',
      input: '0xe3ee160e',
      nonce: '0x1',
      gas: '0x15f90',
      type: '0x2',
      chainId: '0x7a69',
      maxFeePerGas: '0x3b9aca00',
      maxPriorityFeePerGas: '0x1',
    },
    eth_getTransactionReceipt: {
      transactionHash: hash,
      status: '0x1',
      blockNumber: '0x7',
      blockHash: `0x${'cd'.repeat(32)}`,
      gasUsed: '0x5208',
      effectiveGasPrice: '0x3b9aca00',
      logs,
    },
  }
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
  const url = typeof address === 'object' && address ? `http://127.0.0.1:${address.port}` : ''
  const network: Network = {
    network: 'eip155:31337',
    name: 'Local',
    rpcUrls: [url],
    testnet: true,
    blockTimeMs: 1000,
    confirmations: 2,
    assets: [NATIVE_ETH, token],
  }
  return findTransaction(
    hash,
    { network, asset: token, wallet: payee, amountAtomic, resource: null, memo: null },
    { payer: from, memo: null },
  )
}

const bad = ({ checks }: Awaited<ReturnType<typeof look>>) =>
  checks.filter(({ state }) => state === 'bad').map(({ name, got }) => [name, got])

test('tokens that a facilitator settled are checked by the token transfer, not by the sender of the transaction', async () => {
  const view = await look([transferred(payee, 1_000_000n)])
  expect(bad(view)).toEqual([])
  expect(view.settled).toBe(true)
})

test.each([
  ['another amount', [transferred(payee, 999_999n)], {}, ['amount', amountFact(999_999n, token)]],
  [
    'nothing for the payee',
    [transferred(facilitator, 1_000_000n)],
    {},
    ['recipient', fact('another_account')],
  ],
  [
    'several transfers to the payee',
    [transferred(payee, 1_000_000n), transferred(payee, 5n)],
    {},
    ['instructions', { code: 'transfers', params: { count: 2 } }],
  ],
  [
    'another payer than the proof names',
    [transferred(payee, 1_000_000n)],
    { from: payee },
    ['sender', addressFact(payer)],
  ],
])('%s is named', async (_, logs, options, difference) => {
  const view = await look(logs, options)
  expect(bad(view)).toContainEqual(difference)
  expect(view.settled).toBe(false)
})
