import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { HTTPFacilitatorClient } from '@x402/core/server'
import { paymentMiddleware, x402ResourceServer, type Network as NetworkName } from '@x402/hono'
import { Hono } from 'hono'
import * as v from 'valibot'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { paymentMiddleware as paymentMiddlewareV1 } from 'x402-hono'
import type { Hex } from 'viem'
import type { ServiceConfig } from '#service/context/config.ts'
import { createService } from '#service/service.ts'
import { ExactServer } from '#x402/server/exact-server.ts'
import { listen } from '../attacks/official.ts'
import { prepareAccount } from '../attacks/paydesk.ts'
import { openWorld, SOLANA_USDC, type World } from '../attacks/run.ts'
import { createTestDatabase } from '../postgres.ts'
import { countFaults, startFaultProxy } from './fault-proxy.ts'
import { createRng } from './rng.ts'

/** What one purchase costs in each asset, in atomic units. */
export const PRICES = { usdc: 1_000n, weth: 10n ** 12n, eth: 10n ** 12n, solana: 1_000n } as const

/** The chain id for which the client of version 1 has a name. */
const BASE_SEPOLIA = 84_532

const Undelivered = v.object({
  total: v.number(),
  payments: v.array(
    v.object({ paymentId: v.string(), resource: v.nullable(v.string()), sender: v.string() }),
  ),
})
export type ListedPayment = v.InferOutput<typeof Undelivered>['payments'][number]

export type PurchaseShop = AsyncDisposable & {
  world: World
  url: string
  payTo: { evm: Hex; solana: string }
  /** The part of the service's calls to both chains that goes wrong. */
  setFaults: (rate: number) => void
  faults: () => ReturnType<typeof countFaults>
  /** Every payment of `GET /undelivered`. */
  undelivered: () => Promise<ListedPayment[]>
}

/**
 * A seller with the official servers of both versions, whose facilitator is this service. The service
 * reaches both chains through faulty endpoints; the buyers reach them directly.
 */
export async function openPurchaseShop(seed: number): Promise<PurchaseShop> {
  await using stack = new AsyncDisposableStack()
  const world = stack.use(await openWorld(BASE_SEPOLIA))
  const [evm, solana] = world.networks
  const rng = createRng(seed)
  const rpcs = [
    stack.use(await startFaultProxy(world.evm.rpcUrl, rng.fork('evm proxy'))),
    stack.use(await startFaultProxy(world.solana.rpcUrl, rng.fork('solana proxy'))),
  ] as const
  const folder = mkdtempSync(join(tmpdir(), 'paydesk-purchases-'))
  stack.defer(() => rmSync(folder, { recursive: true, force: true }))
  const database = stack.use(await createTestDatabase('postgres'))
  const secret = generatePrivateKey()
  const feePayer = world.takeHolder()
  await world.evm.client.setBalance({ address: privateKeyToAddress(secret), value: 10n ** 21n })
  const config: ServiceConfig = {
    host: '127.0.0.1',
    port: 0,
    trustedProxyHops: 0,
    database: database.target,
    networks: [
      { ...evm, rpcUrls: [rpcs[0].url] },
      { ...solana, rpcUrls: [rpcs[1].url] },
    ],
    logLevel: 'silent',
    signer: { env: { VAULT_KEY_FILE: join(folder, 'vault.key') } },
    facilitators: {
      allowed: [],
      loopback: true,
      wallets: [privateKeyToAddress(secret), feePayer.publicKey.toBase58()],
    },
  }
  const payee = { evm: (await world.evm.wallet(0n)).address, solana: world.takeHolder() }
  const wallets = [
    { family: 'evm', secret: Buffer.from(secret.slice(2), 'hex') },
    { family: 'solana', secret: feePayer.secretKey.slice(0, 32) },
  ] as const
  const key = await prepareAccount(config, wallets, [payee])
  const service = stack.use(await createService(config))
  const headers = { Authorization: `Bearer ${key}` }
  const payTo = { evm: payee.evm, solana: payee.solana.publicKey.toBase58() }
  const shop = stack.use(await openShop({ world, payTo, service: service.url, headers }))
  const running = stack.move()
  return {
    world,
    url: shop.url,
    payTo,
    setFaults: (rate) => rpcs.forEach((rpc) => void (rpc.rate = rate)),
    faults: () => countFaults(rpcs),
    async undelivered() {
      const listed: ListedPayment[] = []
      for (;;) {
        const query = `limit=100&offset=${listed.length}`
        const answer = await fetch(`${service.url}/undelivered?${query}`, { headers })
        const { payments, total } = v.parse(Undelivered, await answer.json())
        listed.push(...payments)
        if (payments.length === 0 || listed.length >= total) return listed
      }
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  }
}

type Seller = {
  world: World
  payTo: PurchaseShop['payTo']
  service: string
  headers: Record<string, string>
}

function openShop({ world: { networks, tokens }, payTo, service, headers }: Seller) {
  const url = `${service}/facilitator` as `http://${string}`
  const createAuthHeaders = async () => ({ verify: headers, settle: headers, supported: headers })
  const resources = new x402ResourceServer(new HTTPFacilitatorClient({ url, createAuthHeaders }))
  for (const network of networks)
    resources.register(network.network as NetworkName, new ExactServer(network))
  const [evm, solana] = networks.map(({ network }) => network as NetworkName)
  const accept = (
    network: NetworkName | undefined,
    {
      asset,
      amount,
      extra = {},
    }: { asset: string; amount: bigint; extra?: Record<string, unknown> },
  ) => ({
    accepts: {
      scheme: 'exact',
      network: network ?? 'eip155:0',
      payTo: network === evm ? payTo.evm : payTo.solana,
      price: { asset, amount: amount.toString(), extra },
    },
  })
  const usd = { name: 'USD Coin', version: '2' }
  const app = new Hono()
  app.use(
    paymentMiddlewareV1(
      payTo.evm,
      {
        '/v1': {
          price: {
            amount: PRICES.usdc.toString(),
            asset: { address: tokens.usdc.address as Hex, decimals: 6, eip712: usd },
          },
          network: 'base-sepolia',
          config: { description: 'An article' },
        },
      },
      { url, createAuthHeaders },
    ),
  )
  app.use(
    paymentMiddleware(
      {
        'GET /eip3009': accept(evm, {
          asset: tokens.usdc.address,
          amount: PRICES.usdc,
          extra: { ...usd, assetTransferMethod: 'eip3009' },
        }),
        'GET /permit2': accept(evm, {
          asset: tokens.weth.address,
          amount: PRICES.weth,
          extra: { assetTransferMethod: 'permit2' },
        }),
        'GET /eth': accept(evm, { asset: 'ETH', amount: PRICES.eth }),
        'GET /solana': accept(solana, { asset: SOLANA_USDC, amount: PRICES.solana }),
      },
      resources,
    ),
  )
  app.get('*', (c) => c.text(`The article of ${new URL(c.req.url).search}`))
  return listen(app)
}
