import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { fact } from '#contract/facts.ts'
import { NATIVE_ETH, type Network } from '#contract/network.ts'
import { encodeHeader } from '#x402/header.ts'
import { decodePayload } from '#x402/payload.ts'
import { verdictOf } from '../../payment-view/check.ts'
import { factsOf } from './proof/facts.ts'
import type { Expected } from './proof/local-checks.ts'
import { checkOnly, joined } from './run-checks.ts'

// The page learns of requests blocked by its CSP through the document.
beforeEach(() => vi.stubGlobal('document', new EventTarget()))
afterEach(() => vi.unstubAllGlobals())

const PAYER = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC'
const PAYEE = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
const USDC = {
  address: '0x5FbDB2315678afecb367f032d93F642f64180aa3',
  symbol: 'USDC',
  name: 'USD Coin',
  decimals: 6,
  native: false,
}
const word = (digits: string) => `0x${digits.padEnd(64, '0')}`

let server: Server | undefined
afterEach(() => server?.close())

type Node = { code: unknown; answer: unknown }

/**
 * A node that returns this code for the payer, and this answer from `isValidSignature`. Nothing was
 * executed yet.
 */
async function startNode({ code, answer }: Node): Promise<string> {
  server = createServer((request, response) => {
    let text = ''
    request.on('data', (chunk: Buffer) => (text += chunk.toString()))
    request.on('end', () => {
      const { method, params } = JSON.parse(text) as { method: string; params: [{ to?: string }] }
      const asksPayer = method === 'eth_call' && params[0].to?.toLowerCase() === PAYER.toLowerCase()
      const results: Record<string, unknown> = {
        eth_chainId: '0x7a69',
        eth_blockNumber: '0x9',
        eth_getBlockByNumber: { number: '0x9', timestamp: '0x1', hash: word('1') },
        eth_getCode: code,
        eth_call: asksPayer ? answer : word(''),
        eth_getLogs: [],
      }
      const result = results[method] ?? null
      response.end(
        JSON.stringify(
          result === 'refused'
            ? { jsonrpc: '2.0', id: 1, error: { code: 3 } }
            : { jsonrpc: '2.0', id: 1, result },
        ),
      )
    })
  })
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/**
 * What the page says about the signature of an EIP-3009 payment that no key of the payer signed.
 */
async function check(node: Node | 'no node') {
  const rpcUrl = node === 'no node' ? 'http://127.0.0.1:1' : await startNode(node)
  const network: Network = {
    network: 'eip155:31337',
    name: 'Chain',
    rpcUrls: [rpcUrl],
    testnet: true,
    blockTimeMs: 1000,
    confirmations: 2,
    assets: [NATIVE_ETH, USDC],
  }
  const expected: Expected = {
    network,
    asset: USDC,
    wallet: PAYEE,
    amountAtomic: 10n,
    resource: null,
    memo: null,
  }
  const accepted = {
    scheme: 'exact',
    network: network.network,
    amount: '10',
    asset: USDC.address,
    payTo: PAYEE,
    maxTimeoutSeconds: 300,
  }
  const authorization = {
    from: PAYER,
    to: PAYEE,
    value: '10',
    validAfter: '0',
    validBefore: '9999999999',
    nonce: word('ab'),
  }
  const payload = { signature: `0x${'11'.repeat(64)}1f`, authorization }
  const header = encodeHeader({
    x402Version: 2,
    resource: { url: 'https://shop.example/a' },
    accepted: {
      ...accepted,
      extra: { assetTransferMethod: 'eip3009', name: 'USD Coin', version: '2' },
    },
    payload,
  })
  const decoded = decodePayload(header)
  if (!decoded.ok) throw new Error(decoded.problem.code)
  const result = await checkOnly(
    { header, payment: decoded.payload, facts: factsOf(decoded.payload), expected },
    false,
  )
  const { state, source } = result.checks.find(({ name }) => name === 'signature') ?? {}
  return { state, source, verdict: verdictOf(result) }
}

const MAGIC = word('1626ba7e')

test('the signature of a contract is what the contract says, by the reader’s own node', async () => {
  expect(await check({ code: '0x60', answer: MAGIC })).toEqual({
    state: 'ok',
    source: 'chain',
    verdict: 'unknown',
  })
})

test.each([
  ['says no', word('')],
  ['says nothing', '0x'],
  ['reverts', 'refused'],
])('a contract that %s has not signed', async (_, answer) => {
  expect(await check({ code: '0x60', answer })).toEqual({
    state: 'bad',
    source: 'chain',
    verdict: 'invalid',
  })
})

test('a payer without code has not signed what its key did not sign', async () => {
  expect(await check({ code: '0x', answer: MAGIC })).toEqual({
    state: 'bad',
    source: 'local',
    verdict: 'invalid',
  })
})

test('where no node answers, nobody calls the signature bad', async () => {
  expect(await check('no node')).toMatchObject({ state: 'open', verdict: 'unknown' })
})

test('what a contract says later is nothing against a payment that was executed', () => {
  const chain = {
    checks: [
      { name: 'transfer', source: 'chain', state: 'ok', expected: fact('none'), got: fact('none') },
    ],
  } as const
  const said = {
    name: 'signature',
    source: 'chain',
    state: 'bad',
    expected: fact('none'),
    got: fact('none'),
  } as const
  expect(joined({ local: [said], chain, service: [] }).checks).toEqual(chain.checks)
  expect(joined({ local: [{ ...said, source: 'local' }], chain, service: [] }).checks).toHaveLength(
    2,
  )
})
