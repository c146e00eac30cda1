import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, request as forward, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { serve, type ServerType } from '@hono/node-server'
import { HTTPFacilitatorClient } from '@x402/core/server'
import { ExactEvmScheme as ExactEvmClient } from '@x402/evm/exact/client'
import { ExactEvmScheme as ExactEvmServer } from '@x402/evm/exact/server'
import { wrapFetchWithPayment as wrapFetch, x402Client } from '@x402/fetch'
import { paymentMiddleware, x402ResourceServer, type Network as NetworkName } from '@x402/hono'
import { Hono } from 'hono'
import { erc20Abi, type Hex } from 'viem'
import { generatePrivateKey, privateKeyToAccount, type PrivateKeyAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createSigner, wrapFetchWithPayment as wrapFetchV1 } from 'x402-fetch'
import { paymentMiddleware as paymentMiddlewareV1 } from 'x402-hono'
import { startEvm, type EvmFixture } from '#testing/local-chains.ts'
import { createTestDatabase, type TestDatabase } from '#testing/postgres.ts'
import { createTestKey } from '#testing/service-app.ts'
import { eventually } from '#testing/service-context.ts'
import { deployTokens, type EvmTokens } from '#testing/token-payers.ts'
import { createService, type RunningService } from '../service.ts'
import { createWallet } from '../wallets/create-wallet.ts'

/**
 * The official clients and servers of both versions, unmodified, while the chain stands still and when one payment is presented twice: a buyer is charged once
 * and gets one delivery. The server of version 1 knows a fixed list of networks, so the local chain carries the id of Base Sepolia.
 */

const PRICE = 1_500_000n
const NETWORK: NetworkName = 'eip155:84532'

let evm: EvmFixture
let tokens: EvmTokens
let database: TestDatabase
let service: RunningService
let link: Awaited<ReturnType<typeof openLink>>
let shop: { url: string; server: ServerType }
let payee: PrivateKeyAccount
let miner: NodeJS.Timeout | undefined
const folder = mkdtempSync(join(tmpdir(), 'paydesk-retries-'))

beforeAll(async () => {
  evm = await startEvm({ slotsInEpoch: 4, chainId: 84_532 })
  tokens = await deployTokens(evm)
  payee = await evm.wallet(0n)
  database = await createTestDatabase('postgres', 'service')
  const secret = generatePrivateKey()
  const { address } = privateKeyToAccount(secret)
  await evm.client.setBalance({ address, value: 10n ** 18n })
  service = await createService({
    host: '127.0.0.1',
    port: 0,
    trustedProxyHops: 0,
    database: database.target,
    networks: [tokens.network],
    logLevel: 'silent',
    signer: { env: { VAULT_KEY_FILE: join(folder, 'vault.key') } },
    facilitators: { allowed: [], loopback: true, wallets: [address] },
  })
  const { accountId, key } = await createTestKey(service.context.db)
  const taken = {
    accountId,
    family: 'evm',
    name: 'Settlements',
    secret: Buffer.from(secret.slice(2), 'hex'),
  } as const
  await createWallet({ ...service.context, now: new Date() }, taken)
  link = await openLink(service.port)
  shop = await openShop(key)
  startBlocks()
})

afterAll(async () => {
  clearInterval(miner)
  await new Promise((resolve) => shop?.server.close(resolve))
  await new Promise((resolve) => link?.server.close(resolve))
  await service?.[Symbol.asyncDispose]()
  await database?.[Symbol.asyncDispose]()
  await evm?.[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true })
})

const startBlocks = () =>
  void (miner = setInterval(() => void evm.mine().catch(() => undefined), 200))
const stopBlocks = () => clearInterval(miner)

/** The connection between the shop and this service. `patienceMs`: after which it breaks. */
async function openLink(port: number) {
  const state: { patienceMs: number | undefined; server: Server; url: string } = {
    patienceMs: undefined,
    server: createServer(),
    url: '',
  }
  state.server.on('request', (incoming, outgoing) => {
    const asked = forward(
      {
        port,
        host: '127.0.0.1',
        path: incoming.url,
        method: incoming.method,
        headers: incoming.headers,
      },
      (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
        answer.pipe(outgoing)
      },
    )
    asked.on('error', () => outgoing.destroy())
    incoming.pipe(asked)
    if (state.patienceMs === undefined || incoming.url !== '/facilitator/settle') return
    const timer = setTimeout(() => {
      asked.destroy()
      outgoing.destroy()
    }, state.patienceMs)
    outgoing.once('close', () => clearTimeout(timer))
  })
  await new Promise<void>((resolve) => state.server.listen(0, '127.0.0.1', resolve))
  state.url = `http://127.0.0.1:${(state.server.address() as AddressInfo).port}`
  return state
}

/** `/v1` and `/v2`: the same article behind the official server of either version, which verifies, serves and settles in this order. */
function openShop(key: string): Promise<typeof shop> {
  const headers = { Authorization: `Bearer ${key}` }
  const url = `${link.url}/facilitator` as const
  const createAuthHeaders = async () => ({ verify: headers, settle: headers, supported: headers })
  const asset = {
    address: tokens.usdc.address as Hex,
    decimals: 6,
    eip712: { name: 'USD Coin', version: '2' },
  }
  const app = new Hono()
  const priceV1 = {
    price: { amount: PRICE.toString(), asset },
    network: 'base-sepolia',
    config: { description: 'An article' },
  } as const
  app.use(
    paymentMiddlewareV1(
      payee.address,
      { '/v1': priceV1 },
      { url: url as `http://${string}`, createAuthHeaders },
    ),
  )
  const resources = new x402ResourceServer(
    new HTTPFacilitatorClient({ url, createAuthHeaders }),
  ).register(NETWORK, new ExactEvmServer())
  const price = {
    asset: tokens.usdc.address,
    amount: PRICE.toString(),
    extra: { name: 'USD Coin', version: '2' },
  }
  app.use(
    paymentMiddleware(
      {
        'GET /v2': { accepts: { scheme: 'exact', network: NETWORK, payTo: payee.address, price } },
      },
      resources,
    ),
  )
  app.get('*', (c) => c.text('the article'))
  return new Promise((resolve) => {
    const server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, (info) =>
      resolve({ url: `http://127.0.0.1:${info.port}`, server }),
    )
  })
}

const balance = () =>
  evm.client.readContract({
    address: tokens.usdc.address as Hex,
    abi: erc20Abi,
    functionName: 'balanceOf',
    args: [payee.address],
  })

type Version = 'v1' | 'v2'

/** A buyer with the official client of a version; `payment` is what it last presented. */
async function buyer(version: Version) {
  const secret = generatePrivateKey()
  const payer = privateKeyToAccount(secret)
  await tokens.fund(payer.address)
  const header = version === 'v1' ? 'x-payment' : 'payment-signature'
  const state = { payment: '' }
  const watched: typeof fetch = (input, init) => {
    state.payment = new Headers(init?.headers).get(header) ?? state.payment
    return fetch(input, init)
  }
  const client = new x402Client()
    .register(NETWORK, new ExactEvmClient(payer))
    .setSpendControls(false)
  client.onAfterPaymentCreation(
    async ({ paymentPayload }) =>
      void (state.payment = Buffer.from(JSON.stringify(paymentPayload)).toString('base64')),
  )
  const pay =
    version === 'v1'
      ? wrapFetchV1(watched, await createSigner('base-sepolia', secret), PRICE)
      : wrapFetch(fetch, client)
  const present = () => {
    if (state.payment === '') throw new Error('Nothing was presented before.')
    return fetch(`${shop.url}/${version}`, { headers: { [header]: state.payment } })
  }
  return { buy: () => pay(`${shop.url}/${version}`, {}), present }
}

describe.each<Version>(['v1', 'v2'])('%s', (version) => {
  test('no blocks while a payment is settled: one charge, and one delivery when the same payment is presented again', async () => {
    const before = await balance()
    const { buy, present } = await buyer(version)
    stopBlocks()
    link.patienceMs = 3_000
    const refused = await buy()
    expect(refused.status).toBe(402)
    // Settled by nobody yet: presented again, it is still good and still pending.
    expect((await present()).status).toBe(402)
    link.patienceMs = undefined
    startBlocks()
    await eventually(balance, (held) => held === before + PRICE)
    const served = await present()
    expect([served.status, await served.text()]).toEqual([200, 'the article'])
    expect((await present()).status).toBe(402)
    expect(await balance()).toBe(before + PRICE)
  })

  test('two requests at once with one payment: one charge, one delivered body', async () => {
    const before = await balance()
    const { buy, present } = await buyer(version)
    stopBlocks()
    const first = buy()
    // The second comes while the first is being settled.
    const pooled = async () => (await evm.client.getTxpoolContent()).pending
    await eventually(pooled, (pending) => Object.keys(pending).length > 0)
    const second = present()
    startBlocks()
    const answers = await Promise.all([first, second])
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 402])
    const bodies = await Promise.all(answers.map((answer) => answer.text()))
    expect(bodies.filter((body) => body === 'the article')).toHaveLength(1)
    expect(await balance()).toBe(before + PRICE)
  })
})
