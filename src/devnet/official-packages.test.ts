import { randomInt } from 'node:crypto'
import { serve, type ServerType } from '@hono/node-server'
import { Connection, VersionedTransaction } from '@solana/web3.js'
import { HTTPFacilitatorClient } from '@x402/core/server'
import { decodePaymentResponseHeader, wrapFetchWithPayment, x402Client } from '@x402/fetch'
import { paymentMiddleware, x402ResourceServer, type Network as NetworkName } from '@x402/hono'
import { Hono } from 'hono'
import {
  createPublicClient,
  createWalletClient,
  encodeFunctionData,
  erc20Abi,
  http,
  maxUint256,
  parseGwei,
  type Hex,
} from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { PERMIT2 } from '#chains/evm/signed-types.ts'
import { buildPayment } from '#chains/solana/build.ts'
import { NATIVE_SOL } from '#contract/network.ts'
import { createDevnetDatabase } from '#testing/postgres.ts'
import { createEvmClient } from '#x402/client/evm.ts'
import type { ClientPayment } from '#x402/client/order.ts'
import { createSolanaClient } from '#x402/client/solana.ts'
import { ExactServer } from '#x402/server/exact-server.ts'
import { Devnet } from './network.ts'
import { solanaKeypair } from './nodes/wallets.ts'

/** The official client and the official server of x402, paying and being paid on the real chains through this service. */

const stack = new AsyncDisposableStack()
let net: Devnet
let shop: { url: string; server: ServerType }
let solana: Connection
let served: string[]

beforeAll(async () => {
  const { url: databaseUrl } = stack.use(await createDevnetDatabase())
  const devnet = await Devnet.create({
    databaseUrl,
    programs: { service: true, bff: false, web: false, seller: true },
    seed: false,
    evmBlockTimeSeconds: 0.5,
    slotTimeMs: 100,
  })
  net = stack.use(devnet)
  solana = new Connection(net.solana.rpcUrl, {
    commitment: 'confirmed',
    wsEndpoint: net.solana.wsUrl,
  })
  served = []
  shop = await openShop()
  await approve(net.evm.tokens.WETH?.address ?? '')
})

afterAll(async () => {
  await new Promise((resolve) => shop?.server.close(resolve))
  await stack.disposeAsync()
})

const [EVM, SOLANA] = [0, 1]
/** The public address of a route behind a proxy that ends TLS: the server itself is asked for another. */
const ANNOUNCED = 'https://shop.example/announced'
const DOLLARS = { name: 'USD Coin', version: '2', assetTransferMethod: 'eip3009' }

function networkAt(index: number) {
  const network = net.networks[index]
  if (!network) throw new Error('no network')
  return network
}

/** As a seller describes a page with the extension `bazaar`: the schema of the answer has lists of objects within lists. */
function describedPage() {
  const nested = (levels: number): object =>
    levels === 0
      ? { type: 'number' }
      : { type: 'array', items: { type: 'object', properties: { inner: nested(levels - 1) } } }
  const example = { type: 'object', properties: { days: nested(4), constructor: nested(0) } }
  const schema = {
    type: 'object',
    properties: { output: { type: 'object', properties: { example } } },
  }
  return {
    description: 'What the page is about. '.repeat(150),
    extensions: { bazaar: { info: { output: { type: 'json', example: {} } }, schema } },
  }
}

/** A server of the official middleware, which knows this service as its facilitator and nothing else of it. */
async function openShop(): Promise<typeof shop> {
  const [evm, sol] = [networkAt(EVM), networkAt(SOLANA)]
  const headers = { Authorization: `Bearer ${net.apiKeys.operator}` }
  const facilitator = new HTTPFacilitatorClient({
    url: `${net.urls.service}/facilitator`,
    createAuthHeaders: async () => ({ verify: headers, settle: headers, supported: headers }),
  })
  const resources = new x402ResourceServer(facilitator)
  for (const network of [evm, sol])
    resources.register(network.network as NetworkName, new ExactServer(network))
  const { seller } = net.wallets
  const onEvm = (asset: string, amount: string, extra: Record<string, unknown> = {}) => ({
    accepts: {
      scheme: 'exact',
      network: evm.network as NetworkName,
      payTo: seller.evm.address,
      price: { asset, amount, extra },
    },
  })
  const onSolana = (asset: string, amount: string, extra: Record<string, unknown> = {}) => ({
    accepts: {
      scheme: 'exact',
      network: sol.network as NetworkName,
      payTo: seller.solana.address,
      price: { asset, amount, extra },
    },
  })
  const app = new Hono()
  app.use(
    paymentMiddleware(
      {
        'GET /eth': onEvm('ETH', '10000000000000000'),
        'GET /eth/other': onEvm('ETH', '10000000000000000'),
        'GET /eth/announced': { ...onEvm('ETH', '10000000000000000'), resource: ANNOUNCED },
        'GET /eth/described': { ...onEvm('ETH', '10000000000000000'), ...describedPage() },
        'GET /usdc/announced': {
          ...onEvm('USDC', '1500000', { ...DOLLARS, paymentFlow: 'authorization' }),
          resource: ANNOUNCED,
        },
        'GET /usdc': onEvm('USDC', '1500000', DOLLARS),
        'GET /usdc/after': onEvm('USDC', '1500000', { ...DOLLARS, paymentFlow: 'authorization' }),
        'GET /weth': onEvm('WETH', '1000000000000000', { assetTransferMethod: 'permit2' }),
        'GET /sol': onSolana('SOL', '10000000', { memo: 'article-sol' }),
        'GET /spl': onSolana('USDC', '1500000'),
      },
      resources,
    ),
  )
  app.get('*', (c) => {
    served.push(c.req.path)
    return c.text(`served ${c.req.path}`)
  })
  return new Promise((resolve) => {
    const server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, ({ port }) =>
      resolve({ url: `http://127.0.0.1:${port}`, server }),
    )
  })
}

const FEES = { maxFeePerGas: parseGwei('10'), maxPriorityFeePerGas: parseGwei('1') }

async function send(call: { to: Hex; data?: Hex; value?: bigint }): Promise<Hex> {
  const wallet = createWalletClient({
    account: privateKeyToAccount(net.wallets.buyer.evm.privateKey),
    transport: http(net.evm.rpcUrl),
  })
  const hash = await wallet.sendTransaction({ ...call, ...FEES, chain: null })
  await createPublicClient({
    transport: http(net.evm.rpcUrl),
    pollingInterval: 100,
  }).waitForTransactionReceipt({ hash })
  return hash
}

async function approve(token: string): Promise<void> {
  await send({
    to: token as Hex,
    data: encodeFunctionData({
      abi: erc20Abi,
      functionName: 'approve',
      args: [PERMIT2, maxUint256],
    }),
  })
}

/** The buyer with the official client and our schemes. `sent` counts what native currency it has sent. */
function buyer() {
  const sent: ClientPayment[] = []
  const account = privateKeyToAccount(net.wallets.buyer.evm.privateKey)
  const keypair = solanaKeypair(net.wallets.buyer.solana)
  const evm = createEvmClient({
    address: account.address,
    signTypedData: (data) => account.signTypedData(data),
    async sendPayment(order) {
      sent.push(order)
      return send({ to: order.payTo as Hex, value: order.amountAtomic })
    },
  })
  const signTransaction = async (bytes: Uint8Array) => {
    const transaction = VersionedTransaction.deserialize(bytes)
    transaction.sign([keypair])
    return transaction.serialize()
  }
  const sol = createSolanaClient({
    address: keypair.publicKey.toBase58(),
    rpcUrl: net.solana.rpcUrl,
    signTransaction,
    async signPayment({ network, payTo, amountAtomic, memo }) {
      const { blockhash } = await solana.getLatestBlockhash()
      const order = {
        network,
        asset: NATIVE_SOL,
        sender: keypair.publicKey.toBase58(),
        recipient: payTo,
        amountAtomic,
        paymentId: memo ?? '',
      }
      // Two equal payments within the life of one blockhash would be one.
      return signTransaction(
        buildPayment({
          ...order,
          blockhash,
          unitLimit: 20_000 + randomInt(10_000),
          unitPriceMicroLamports: 1n,
        }),
      )
    },
  })
  const client = new x402Client()
    .register(networkAt(EVM).network as NetworkName, evm)
    .register(networkAt(SOLANA).network as NetworkName, sol)
    .setSpendControls(false)
  return { client, sent, fetch: wrapFetchWithPayment(fetch, client) }
}

function settlementOf(response: Response) {
  const header = response.headers.get('payment-response')
  if (header === null) throw new Error('no settlement')
  return decodePaymentResponseHeader(header)
}

/** Why a server did not serve, in its own words. */
function refusalOf(response: Response): unknown {
  const header =
    response.headers.get('payment-response') ?? response.headers.get('payment-required') ?? ''
  const { errorReason, errorMessage, error } = JSON.parse(
    Buffer.from(header, 'base64').toString() || '{}',
  )
  return errorReason ? `${errorReason}: ${errorMessage}` : error
}

describe('@x402/fetch pays @x402/hono, which has this service settle', () => {
  test.each([
    ['native ETH', '/eth'],
    ['USDC by EIP-3009', '/usdc'],
    ['USDC by EIP-3009, settled after it was served', '/usdc/after'],
    ['WETH by Permit2', '/weth'],
    ['native SOL', '/sol'],
    ['an SPL token', '/spl'],
    ['native ETH, for the resource that the route announces', '/eth/announced'],
    ['native ETH, for a page that its seller describes in detail', '/eth/described'],
    ['USDC, for the resource that the route announces', '/usdc/announced'],
  ])('in %s', async (_, path) => {
    const response = await buyer().fetch(`${shop.url}${path}`)
    expect([response.status, await response.text(), refusalOf(response)]).toEqual([
      200,
      `served ${path}`,
      undefined,
    ])
    const { success, transaction, payer } = settlementOf(response)
    const { evm, solana: sol } = net.wallets.buyer
    expect({ success, payer }).toEqual({
      success: true,
      payer: path === '/sol' || path === '/spl' ? sol.address : evm.address,
    })
    expect(transaction).not.toBe('')
    expect(served.filter((entry) => entry === path)).toHaveLength(1)
  })

  test('a payment for one page buys no other', async () => {
    const { client, fetch: pay } = buyer()
    const seen: string[] = []
    client.onAfterPaymentCreation(
      async ({ paymentPayload }) =>
        void seen.push(Buffer.from(JSON.stringify(paymentPayload)).toString('base64')),
    )
    expect((await pay(`${shop.url}/eth`)).status).toBe(200)
    expect((await pay(`${shop.url}/eth/announced`)).status).toBe(200)
    const [plain = '', announced = ''] = seen
    const before = served.length
    for (const [path, proof] of [
      ['/eth/other', plain],
      ['/eth/announced', plain],
      ['/eth/other', announced],
    ] as const) {
      const other = await fetch(`${shop.url}${path}`, { headers: { 'payment-signature': proof } })
      expect([other.status, refusalOf(other)]).toEqual([402, 'resource_mismatch'])
    }
    expect(served).toHaveLength(before)
  })

  test('a payment is served once, however often it is presented', async () => {
    const { client, fetch: pay } = buyer()
    const seen: string[] = []
    client.onAfterPaymentCreation(
      async ({ paymentPayload }) =>
        void seen.push(Buffer.from(JSON.stringify(paymentPayload)).toString('base64')),
    )
    const before = served.filter((entry) => entry === '/usdc').length
    expect((await pay(`${shop.url}/usdc`)).status).toBe(200)
    const [proof = ''] = seen
    const again = await Promise.all(
      Array.from({ length: 3 }, () =>
        fetch(`${shop.url}/usdc`, { headers: { 'payment-signature': proof } }),
      ),
    )
    expect(again.map(({ status }) => status)).toEqual([402, 402, 402])
    expect(served.filter((entry) => entry === '/usdc')).toHaveLength(before + 1)
  })
})

describe('@x402/fetch pays the demo shop', () => {
  const pages: [string, string, string][] = [
    ['ETH', '/articles/settlement-without-banks', 'eip155:'],
    ['SOL', '/articles/the-price-of-finality', 'solana:'],
    ['USDC', '/articles/reading-a-402', 'eip155:'],
  ]

  test.each(pages)('in %s', async (_, path, network) => {
    const response = await buyer().fetch(`${net.urls.seller}${path}`)
    expect([response.status, refusalOf(response)]).toEqual([200, undefined])
    const settled = settlementOf(response)
    expect(settled.success).toBe(true)
    expect(settled.network.startsWith(network)).toBe(true)
  })
})
