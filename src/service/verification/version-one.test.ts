import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { serve, type ServerType } from '@hono/node-server'
import { Hono } from 'hono'
import { erc20Abi, type Hex } from 'viem'
import { generatePrivateKey, privateKeyToAccount, type PrivateKeyAccount } from 'viem/accounts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createSigner, decodeXPaymentResponse, wrapFetchWithPayment } from 'x402-fetch'
import { paymentMiddleware } from 'x402-hono'
import { startEvm, type EvmFixture } from '#testing/local-chains.ts'
import { createTestDatabase, type TestDatabase } from '#testing/postgres.ts'
import { createTestKey } from '#testing/service-app.ts'
import { deployTokens, type EvmTokens } from '#testing/token-payers.ts'
import { createService, type RunningService } from '../service.ts'
import { createWallet } from '../wallets/create-wallet.ts'

/**
 * Version 1 with the packages that speak only that: `x402-fetch` pays `x402-hono`, which has this service settle. They know a fixed list of networks, so the
 * local chain carries the id of one of them, Base Sepolia; what they cannot pay is native currency, Permit2 and tokens of Solana on a chain of one's own.
 */

const PRICE = 1_500_000n

let evm: EvmFixture
let tokens: EvmTokens
let database: TestDatabase
let service: RunningService
let shop: { url: string; server: ServerType }
let payee: PrivateKeyAccount
let served = 0
let miner: NodeJS.Timeout
const folder = mkdtempSync(join(tmpdir(), 'paydesk-v1-'))

beforeAll(async () => {
  evm = await startEvm({ slotsInEpoch: 4, chainId: 84_532 })
  tokens = await deployTokens(evm)
  payee = await evm.wallet(0n)
  database = await createTestDatabase('pglite', 'service')
  const secret = generatePrivateKey()
  const { address } = privateKeyToAccount(secret)
  await evm.client.setBalance({ address, value: 10n ** 18n })
  service = await createService({
    host: '127.0.0.1',
    port: 0,
    database: database.target,
    networks: [tokens.network],
    logLevel: 'silent',
    signer: { env: { VAULT_KEY_FILE: join(folder, 'vault.key') } },
    facilitators: { allowed: [], loopback: true, wallets: [address] },
    trustedProxyHops: 0,
  })
  const { accountId, key } = await createTestKey(service.context.db)
  const taken = {
    accountId,
    family: 'evm',
    name: 'Settlements',
    secret: Buffer.from(secret.slice(2), 'hex'),
  } as const
  await createWallet({ ...service.context, now: new Date() }, taken)
  shop = await openShop(key)
  miner = setInterval(() => void evm.mine().catch(() => undefined), 200)
})

afterAll(async () => {
  clearInterval(miner)
  await new Promise((resolve) => shop?.server.close(resolve))
  await service?.[Symbol.asyncDispose]()
  await database?.[Symbol.asyncDispose]()
  await evm?.[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true })
})

function openShop(key: string): Promise<typeof shop> {
  const headers = { Authorization: `Bearer ${key}` }
  const app = new Hono()
  const asset = {
    address: tokens.usdc.address as Hex,
    decimals: 6,
    eip712: { name: 'USD Coin', version: '2' },
  }
  app.use(
    paymentMiddleware(
      payee.address,
      {
        '/article': {
          price: { amount: PRICE.toString(), asset },
          network: 'base-sepolia',
          config: { description: 'An article' },
        },
      },
      {
        url: `${service.url}/facilitator` as `http://${string}`,
        createAuthHeaders: async () => ({ verify: headers, settle: headers, supported: headers }),
      },
    ),
  )
  app.get('/article', (c) => {
    served++
    return c.text('the article')
  })
  return new Promise((resolve) => {
    const server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, ({ port }) =>
      resolve({ url: `http://127.0.0.1:${port}`, server }),
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

test('x402-fetch pays x402-hono in USDC by EIP-3009, and the payment serves once', async () => {
  const secret = generatePrivateKey()
  const payer = privateKeyToAccount(secret)
  await tokens.fund(payer.address)
  const proofs: string[] = []
  const watched: typeof fetch = (input, init) => {
    const proof = new Headers(init?.headers).get('x-payment')
    if (proof !== null) proofs.push(proof)
    return fetch(input, init)
  }
  const pay = wrapFetchWithPayment(watched, await createSigner('base-sepolia', secret), PRICE)
  const response = await pay(`${shop.url}/article`, {})
  expect([response.status, await response.text()]).toEqual([200, 'the article'])
  const settled = decodeXPaymentResponse(response.headers.get('x-payment-response') ?? '')
  expect(settled).toMatchObject({
    success: true,
    payer: payer.address,
    transaction: expect.stringMatching(/^0x/),
    network: 'base-sepolia',
  })
  expect(await balance()).toBe(PRICE)

  const [proof = ''] = proofs
  const again = await fetch(`${shop.url}/article`, { headers: { 'x-payment': proof } })
  expect(again.status).toBe(402)
  expect(await balance()).toBe(PRICE)
  expect(served).toBe(1)
})

test('a payment of version 1 in another asset than was asked for is refused', async () => {
  const secret = generatePrivateKey()
  await tokens.fund(privateKeyToAccount(secret).address)
  const pay = wrapFetchWithPayment(
    async (input, init) => {
      const response = await fetch(input, init)
      if (response.status !== 402 || new Headers(init?.headers).has('x-payment')) return response
      const bill = await response.json()
      bill.accepts[0].asset = tokens.weth.address
      return Response.json(bill, { status: 402 })
    },
    await createSigner('base-sepolia', secret),
    PRICE,
  )
  const before = await balance()
  expect((await pay(`${shop.url}/article`, {})).status).toBe(402)
  expect(await balance()).toBe(before)
})
