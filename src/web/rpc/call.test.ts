import { once } from 'node:events'
import { globSync, readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { createPublicClient, custom } from 'viem'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { NATIVE_ETH, NATIVE_SOL, type Network } from '#contract/network.ts'
import { setPreferences } from '../local-data/preferences.ts'
import { requestOf } from '../wallet/evm/rpc-transport.ts'
import { connectRpc } from '../wallet/solana/connections.ts'
import { callNetwork, RpcError } from './call.ts'
import { chooseNode } from './check-node.ts'

const WEB = join(import.meta.dirname, '..')
const GENESIS = 'EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG'
/** What programs say, and people do not. */
const FOREIGN =
  /viem|Version: |ECONN|TypeError|undefined|fetch|Bad Gateway|HTTP|token|JSON|-32\d{3}/

type Answer = (method: string, response: ServerResponse, id?: unknown) => void
const servers: Server[] = []
const asked: string[] = []

async function serve(answer: Answer): Promise<string> {
  const server = createServer((request: IncomingMessage, response) => {
    void text(request).then((body) => {
      const { id, method } = JSON.parse(body) as { id: unknown; method: string }
      asked.push(method)
      answer(method, response, id)
    })
  })
  servers.push(server)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const reply = (response: ServerResponse, body: object, id: unknown = 1) =>
  response.end(JSON.stringify({ jsonrpc: '2.0', id, ...body }))
const chain =
  (identity: Record<string, string>, height = '0x2a'): Answer =>
  (method, response, id) =>
    reply(response, { result: identity[method] ?? height }, id)

const RIGHT = { eth_chainId: '0x7a69', getGenesisHash: GENESIS }
const FAILURES: Readonly<Record<string, Answer>> = {
  hangs: () => undefined,
  'answers 500 with a page': (_, response) =>
    response.writeHead(500, { 'content-type': 'text/html' }).end('<h1>TypeError</h1>'),
  'answers with invalid JSON': (_, response) => response.end('<h1>Bad Gateway</h1>'),
  'serves another chain': chain({ eth_chainId: '0x1', getGenesisHash: 'other' }, '0x1'),
  'answers with an internal error': (_, response) =>
    reply(response, { error: { code: -32_603, message: 'ECONNRESET. Version: viem@0.0.0' } }),
}

const base = { testnet: true, blockTimeMs: 400, confirmations: 1 }
const ethereum = (rpcUrls: string[]): Network => ({
  ...base,
  network: 'eip155:31337',
  name: 'Ethereum',
  rpcUrls,
  assets: [NATIVE_ETH],
})
const solana = (rpcUrls: string[]): Network => ({
  ...base,
  network: 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1',
  name: 'Solana',
  genesisHash: GENESIS,
  rpcUrls,
  assets: [NATIVE_SOL],
})

/** Each way in which this app asks a chain. */
const CALLS: Readonly<Record<string, (urls: string[]) => Promise<unknown>>> = {
  'a call to Ethereum': (urls) => callNetwork(ethereum(urls), 'eth_blockNumber', []),
  'a call to Solana': (urls) => callNetwork(solana(urls), 'getSlot', []),
  'a call of viem': (urls) =>
    createPublicClient({
      transport: custom({ request: (call) => requestOf(ethereum(urls), call) }, { retryCount: 0 }),
    }).getBlockNumber(),
  'a call of web3.js': (urls) =>
    connectRpc(solana(urls))((connection) => connection.getGenesisHash()),
}

// The theme is set on the document, and the page learns there of requests that its CSP blocks.
beforeEach(() =>
  vi.stubGlobal('document', Object.assign(new EventTarget(), { documentElement: { dataset: {} } })),
)
afterEach(() => {
  vi.useRealTimers()
  setPreferences({ rpcUrls: {} })
  vi.unstubAllGlobals()
  asked.length = 0
  for (const server of servers.splice(0)) {
    server.closeAllConnections()
    server.close()
  }
})

/** An endpoint of each way to fail; the clock of a hanging one is set forward once it was asked. */
async function failing(way: string): Promise<string> {
  if (way === 'refuses connections') {
    const url = await serve(() => undefined)
    servers.pop()?.close()
    return url
  }
  if (way === 'hangs') {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    let hangs = true
    return serve(() => {
      if (hangs) setImmediate(() => vi.advanceTimersByTime(10_001))
      hangs = false
    })
  }
  return serve(FAILURES[way] ?? (() => undefined))
}

const WAYS = ['refuses connections', ...Object.keys(FAILURES)]
/** web3.js has a timeout that no fake clock moves; its calls hang in the browser's own way. */
const pairs = Object.keys(CALLS).flatMap((call) =>
  WAYS.filter((way) => !(call.endsWith('web3.js') && way === 'hangs')).map((way) => ({
    call,
    way,
  })),
)

describe('an endpoint that fails', () => {
  test.each(pairs)('and $way: $call is answered by the next one', async ({ call, way }) => {
    const bad = await failing(way)
    const good = await serve(chain(RIGHT))
    const answer = await CALLS[call]?.([bad, good])
    expect(answer).toBeDefined()
    expect(answer).toEqual(await CALLS[call]?.([good]))
  })

  test.each(WAYS)('and %s, with no other left, is told in one sentence', async (way) => {
    const error = await CALLS['a call to Ethereum']?.([await failing(way)]).catch(
      (thrown: unknown) => thrown,
    )
    if (!(error instanceof RpcError)) throw new Error(`Expected an RpcError, got ${String(error)}.`)
    expect(error.message).toMatch(/^[^.!?]+(?:\.\d+)*[^.!?]*\.$|^127\.0\.0\.1:\d+ [^.]+\.$/)
    expect(error.message.split(' ').length).toBeLessThanOrEqual(18)
    expect(error.message).not.toMatch(FOREIGN)
  })

  test('is asked last for half a minute, so that it delays one call and not each', async () => {
    const bad = await failing('answers with invalid JSON')
    const next = await serve(chain(RIGHT))
    await callNetwork(ethereum([bad, next]), 'eth_blockNumber', [])
    const before = asked.length
    await callNetwork(ethereum([bad, next]), 'eth_blockNumber', [])
    expect(asked.length - before).toBe(1)
  })
})

test('what a node refuses, no other node is asked for', async () => {
  const refusing = await serve((method, response) =>
    method === 'eth_chainId'
      ? reply(response, { result: '0x7a69' })
      : reply(response, { error: { code: 3, message: 'execution reverted', data: '0x' } }),
  )
  const good = await serve(chain(RIGHT))
  const error = await callNetwork(ethereum([refusing, good]), 'eth_call', []).catch(
    (thrown: unknown) => thrown,
  )
  expect(error).toMatchObject({ refused: true })
  expect(asked.filter((method) => method === 'eth_call')).toHaveLength(1)
})

test('a reader who chose an endpoint is answered by that one, for reading and for paying, or by none', async () => {
  const own = await serve(chain(RIGHT))
  const other = await serve(chain({ ...RIGHT, eth_blockNumber: '0x1' }))
  const network = ethereum([other])
  setPreferences({ rpcUrls: { [network.network]: own } })
  expect(await CALLS['a call of viem']?.([other])).toBe(42n)
  expect(await callNetwork(network, 'eth_blockNumber', [])).toBe('0x2a')
  setPreferences({ rpcUrls: { [network.network]: await failing('answers with invalid JSON') } })
  await expect(callNetwork(network, 'eth_blockNumber', [])).rejects.toThrow(RpcError)
  expect((await chooseNode(network)).node.ok).toBe(false)
})

test('no other file of the app asks a chain by itself', () => {
  const direct = /\bcallRpc\(|\bnew Connection\(|\bhttp\(\w|(?<!v\.)\bfallback\(/
  const files = globSync('**/*.{ts,tsx}', { cwd: WEB }).filter(
    (path) => !path.includes('.test.') && direct.test(readFileSync(join(WEB, path), 'utf8')),
  )
  // These ask the one node that was chosen before.
  expect(files.toSorted()).toEqual([
    'pages/verify/chain-checks.ts',
    'pages/verify/contract-signature.ts',
    'rpc/call.ts',
    'rpc/check-node.ts',
    'rpc/read-landed.ts',
    'wallet/solana/connections.ts',
  ])
})
