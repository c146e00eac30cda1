import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import {
  signBuilt,
  startEvm,
  startGate,
  startSolana,
  type EvmFixture,
  type SolanaFixture,
} from '#testing/local-chains.ts'
import { eventually, openContext } from '#testing/service-context.ts'
import { buildTransaction } from '../payments/build.ts'
import { reportSubmitted } from '../monitor/report.ts'
import { readPaymentBody } from '../payments/status.ts'
import { startWatchers } from '../monitor/start.ts'
import { createReadiness } from '../health.ts'
import { createChains } from '../service.ts'
import { NO_OBSERVER, observedFetch, RpcEndpoints } from './endpoints.ts'

let evm: EvmFixture
let solana: SolanaFixture

beforeAll(async () => {
  evm = await startEvm({ slotsInEpoch: 1 })
  solana = await startSolana({ slotTimeMs: 100 })
})

afterAll(() => Promise.all([evm[Symbol.asyncDispose](), solana[Symbol.asyncDispose]()]))

afterEach(() => vi.useRealTimers())

const UNREACHABLE = 'http://127.0.0.1:9'

test.each(['evm', 'solana'] as const)(
  '%s: the next address answers when the first does not',
  async (family) => {
    const { network } = family === 'evm' ? evm : solana
    const [chain] = createChains([
      { ...network, rpcUrls: [UNREACHABLE, ...network.rpcUrls] },
    ]).values()
    await expect(chain?.head()).resolves.toMatchObject({ height: expect.any(Number) })
    await expect(chain?.check()).resolves.toBeUndefined()
  },
)

test.each(['evm', 'solana'] as const)(
  '%s: a chain that is down is CHAIN_UNAVAILABLE with Retry-After, and recovers',
  async (family) => {
    const { network } = family === 'evm' ? evm : solana
    await using gate = await startGate(network.rpcUrls[0] ?? '')
    gate.open = false
    const [chain] = createChains([{ ...network, rpcUrls: [gate.url] }]).values()
    await expect(chain?.check()).rejects.toMatchObject({
      code: 'CHAIN_UNAVAILABLE',
      facts: { retryAfter: expect.any(Number) },
    })
    await expect(chain?.recentHead()).resolves.toBeUndefined()
    gate.open = true
    await expect(chain?.check()).resolves.toBeUndefined()
  },
)

test('a node of another chain is not believed', async () => {
  const [other] = createChains([{ ...evm.network, network: 'eip155:1' }]).values()
  await expect(other?.check()).rejects.toMatchObject({ code: 'CHAIN_UNAVAILABLE' })
  const [cluster] = createChains([
    { ...solana.network, genesisHash: '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d' },
  ]).values()
  await expect(cluster?.check()).rejects.toMatchObject({ code: 'CHAIN_UNAVAILABLE' })
  const [right] = createChains([
    { ...solana.network, genesisHash: await solana.connection.getGenesisHash() },
  ]).values()
  await expect(right?.check()).resolves.toBeUndefined()
})

test('a payment outlives an outage: its report is kept, its status readable, its confirmation comes afterwards', async () => {
  await using gate = await startGate(evm.rpcUrl)
  await using opened = await openContext([{ ...evm.network, rpcUrls: [gate.url] }])
  const { context, actor } = opened
  const watchers = startWatchers(context)
  try {
    const [payer, payee] = [await evm.wallet(10n ** 18n), await evm.wallet(0n)]
    await evm.mine()
    const body = { walletAddress: payer.address, recipientAddress: payee.address, amount: '0.1' }
    const built = await buildTransaction(context, actor, body)
    gate.open = false
    await expect(buildTransaction(context, actor, body)).rejects.toMatchObject({
      code: 'CHAIN_UNAVAILABLE',
    })
    const signature = await evm.client.sendRawTransaction({
      serializedTransaction: await signBuilt(payer, built.transaction),
    })
    await expect(
      reportSubmitted(context, actor, { paymentId: built.paymentId, signature }),
    ).rejects.toMatchObject({ code: 'CHAIN_UNAVAILABLE' })
    expect(await readPaymentBody(context, built.paymentId)).toMatchObject({
      status: 'created',
      signature,
    })
    await evm.mine(4)
    gate.open = true
    await eventually(
      () => readPaymentBody(context, built.paymentId),
      ({ status }) => status === 'finalized',
    )
  } finally {
    await watchers.stop()
  }
})

const SECOND_MS = 1_000

/** Two endpoints, of which the first hangs while `hanging` is true. */
function openHanging() {
  const asked: string[] = []
  const first = { hanging: true }
  const endpoints = new RpcEndpoints({
    name: 'Local',
    urls: ['one', 'two'],
    connect: (url) => url,
    identify: async () => {},
  })
  const work = (url: string) => {
    asked.push(url)
    return url === 'one' && first.hanging
      ? new Promise<string>(() => undefined)
      : Promise.resolve(url)
  }
  return { asked, first, endpoints, work }
}

test('an endpoint that hangs is asked by one call at a time, and less and less often', async () => {
  vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] })
  const { asked, first, endpoints, work } = openHanging()
  const request = () => endpoints.request(work)
  const together = Promise.all([request(), request(), request()])
  await vi.advanceTimersByTimeAsync(8 * SECOND_MS)
  expect(await together).toEqual(['two', 'two', 'two'])
  for (const rest of [5, 10, 20, 40, 80, 160, 180, 180]) {
    asked.length = 0
    await vi.advanceTimersByTimeAsync(rest * SECOND_MS - 1)
    expect(await request()).toBe('two')
    await vi.advanceTimersByTimeAsync(1)
    expect(asked).toEqual(['two'])
    const trial = request()
    expect(await Promise.all([request(), request()])).toEqual(['two', 'two'])
    expect(asked.toSorted()).toEqual(['one', 'two', 'two', 'two'])
    await vi.advanceTimersByTimeAsync(8 * SECOND_MS)
    expect(await trial).toBe('two')
  }
  first.hanging = false
  await vi.advanceTimersByTimeAsync(180 * SECOND_MS)
  expect(await request()).toBe('one')
  expect(await request()).toBe('one')
  first.hanging = true
  const again = request()
  await vi.advanceTimersByTimeAsync(8 * SECOND_MS)
  expect(await again).toBe('two')
  first.hanging = false
  await vi.advanceTimersByTimeAsync(5 * SECOND_MS)
  expect(await request()).toBe('one')
})

test('a read that cannot wait has the answer of the second endpoint a second after the first one hangs', async () => {
  vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] })
  const { asked, first, endpoints, work } = openHanging()
  const answer = endpoints.requestSoon(work)
  await vi.advanceTimersByTimeAsync(SECOND_MS - 1)
  expect(asked).toEqual(['one'])
  await vi.advanceTimersByTimeAsync(1)
  expect(await answer).toBe('two')
  await vi.advanceTimersByTimeAsync(7 * SECOND_MS)
  expect(await endpoints.requestSoon(work)).toBe('two')
  expect(asked).toEqual(['one', 'two', 'two'])
  first.hanging = false
  await vi.advanceTimersByTimeAsync(5 * SECOND_MS)
  expect(await endpoints.requestSoon(work)).toBe('one')
})

test('a read that cannot wait is CHAIN_UNAVAILABLE once every endpoint has failed', async () => {
  vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] })
  const { endpoints, work } = openHanging()
  const failed = endpoints
    .requestSoon(async (url) => {
      if (url === 'two') throw new Error('refused')
      return work(url)
    })
    .catch((error: unknown) => error)
  await vi.advanceTimersByTimeAsync(8 * SECOND_MS)
  expect(await failed).toMatchObject({ code: 'CHAIN_UNAVAILABLE' })
})

test.each(['evm', 'solana'] as const)(
  '%s: the service is ready while the first of two endpoints hangs',
  async (family) => {
    const { network } = family === 'evm' ? evm : solana
    const silent = createServer(() => undefined)
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
    try {
      const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`
      await using opened = await openContext([{ ...network, rpcUrls: [url, ...network.rpcUrls] }])
      const { checks } = await createReadiness(opened.context)()
      expect(checks).toContainEqual(expect.objectContaining({ name: network.network, ok: true }))
    } finally {
      silent.closeAllConnections()
      silent.close()
    }
  },
)

test('a first answer that is enough costs no second call', async () => {
  const calls: string[] = []
  const endpoints = new RpcEndpoints({
    name: 'Local',
    urls: ['one', 'two'],
    connect: (url) => url,
    identify: async () => {},
  })
  const work = async (url: string) => {
    calls.push(url)
    return url
  }
  expect(await endpoints.requestTwo(work, (url) => url === 'one')).toEqual(['one', 'one'])
  expect(calls).toEqual(['one'])
  expect(await endpoints.requestTwo(work, (url) => url === 'two')).toEqual(['one', 'two'])
  expect(await endpoints.requestTwo(work)).toEqual(['one', 'two'])
})

test('a proof takes both endpoints, and one that shows nothing ends it', async () => {
  const calls: string[] = []
  const endpoints = new RpcEndpoints({
    name: 'Local',
    urls: ['one', 'two'],
    connect: (url) => url,
    identify: async () => {},
  })
  const shownBy = (urls: readonly string[]) => async (url: string) => {
    calls.push(url)
    return urls.includes(url)
  }
  expect(await endpoints.prove(shownBy([]))).toBe(false)
  expect(calls).toEqual(['one'])
  expect(await endpoints.prove(shownBy(['one']))).toBe(false)
  expect(await endpoints.prove(shownBy(['two']))).toBe(false)
  expect(await endpoints.prove(shownBy(['one', 'two']))).toBe(true)
})

test('an endpoint that fails to be one of two rests, and its answers count only once it has proved its chain again', async () => {
  const [asked, identified]: [string[], string[]] = [[], []]
  const [failing, ofAnotherChain] = [new Set<string>(), new Set<string>()]
  const endpoints = new RpcEndpoints({
    name: 'Local',
    urls: ['one', 'two'],
    connect: (url) => url,
    identify: async (url) => {
      identified.push(url)
      if (ofAnotherChain.has(url)) throw new Error('another chain')
    },
  })
  const work = async (url: string) => {
    asked.push(url)
    if (failing.has(url)) throw new Error('refused')
    return url
  }
  const two = () => endpoints.requestTwo(work)
  expect(await two()).toEqual(['one', 'two'])
  expect(identified).toEqual(['one', 'two'])
  failing.add('one')
  await expect(two()).rejects.toMatchObject({ code: 'CHAIN_UNAVAILABLE' })
  failing.clear()
  asked.length = 0
  expect(await endpoints.request(work)).toBe('two')
  expect(asked).toEqual(['two'])

  ofAnotherChain.add('one')
  await expect(two()).rejects.toMatchObject({ code: 'CHAIN_UNAVAILABLE' })
  expect(asked).toEqual(['two', 'two'])
  ofAnotherChain.clear()
  expect(await two()).toEqual(['two', 'one'])
  expect(await two()).toEqual(['one', 'two'])
})

test('an account over the limit is told at once, is not asked of another address, and its node goes on being asked first; another answer over it counts as a failure of its node', async () => {
  const MOST = 10 * 2 ** 20
  let size = MOST + 1
  const asked: number[] = []
  let honest = -1
  const open = async (index: number) => {
    const server = createServer((_, response) => {
      asked.push(index)
      const bytes = index === honest ? 3 : size
      // In parts, without a length.
      response.write(Buffer.alloc(bytes / 2))
      response.end(Buffer.alloc(bytes - Math.floor(bytes / 2)))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return server
  }
  const servers = await Promise.all([open(0), open(1)])
  const fetcher = observedFetch(solana.network.network, NO_OBSERVER)
  const endpoints = new RpcEndpoints({
    name: 'Test',
    urls: servers.map((server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`),
    connect: (url) => url,
    identify: async () => {},
  })
  const ask = (method = 'getAccountInfo') =>
    endpoints.request(async (url) => {
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: [] })
      return (await (await fetcher(url, { method: 'POST', body })).text()).length
    })
  try {
    await expect(ask()).rejects.toMatchObject({
      code: 'INVALID_PARAMETERS',
      message: 'An account on Test answers more than the service reads.',
    })
    size = MOST
    expect(await ask()).toBe(MOST)
    expect(asked).toEqual([0, 0])

    // A node that lies, or fails, keeps no payment from the next one.
    size = MOST + 1
    honest = 1
    expect(await ask('getTransaction')).toBe(3)
    expect(asked.at(-1)).toBe(1)
    honest = -1
    await expect(ask('getTransaction')).rejects.toMatchObject({ code: 'CHAIN_UNAVAILABLE' })
  } finally {
    await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))))
  }
})
