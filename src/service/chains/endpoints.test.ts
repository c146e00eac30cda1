import { afterAll, beforeAll, expect, test } from 'vitest'
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
import { createChains } from '../service.ts'
import { RpcEndpoints } from './endpoints.ts'

let evm: EvmFixture
let solana: SolanaFixture

beforeAll(async () => {
  evm = await startEvm({ slotsInEpoch: 1 })
  solana = await startSolana({ slotTimeMs: 100 })
})

afterAll(() => Promise.all([evm[Symbol.asyncDispose](), solana[Symbol.asyncDispose]()]))

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
