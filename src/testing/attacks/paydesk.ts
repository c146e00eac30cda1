import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { HTTPFacilitatorClient } from '@x402/core/server'
import { Hono, type Context } from 'hono'
import * as v from 'valibot'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { SCOPES } from '#contract/api-key-body.ts'
import { openDatabase } from '#postgres/open.ts'
import type { ServiceConfig } from '#service/context/config.ts'
import { SERVICE_SCHEMA } from '#service/db/migrations-folder.ts'
import { createAccount } from '#service/keys/accounts.ts'
import { createKey } from '#service/keys/create-key.ts'
import { createService } from '#service/service.ts'
import { createWallet } from '#service/wallets/create-wallet.ts'
import { registerWallet } from '#service/wallets/ownership.ts'
import { openSigner } from '#signer/client.ts'
import { ExactServer } from '#x402/server/exact-server.ts'
import { encodeHeader, decodeHeader } from '#x402/header.ts'
import { createTestDatabase } from '../postgres.ts'
import { at } from '../api-client.ts'
import { listen, openShop, pricedPaths, type Shop } from './official.ts'
import { contentOf, newShopState, type ShopState, type Target, type World } from './run.ts'

/**
 * Two processes' worth of this service on one Postgres server, and both ways for a seller to use
 * it: as the facilitator of the official middleware with `ExactServer`, and by
 * `POST /payment/receive`. The first shop of each uses the first service, the second the second.
 */
export async function openPaydesk(world: World): Promise<{
  targets: readonly [facilitator: Target, receive: Target]
  [Symbol.asyncDispose]: () => Promise<void>
}> {
  await using stack = new AsyncDisposableStack()
  const folder = mkdtempSync(join(tmpdir(), 'paydesk-attacks-'))
  stack.defer(() => rmSync(folder, { recursive: true, force: true }))
  const database = stack.use(await createTestDatabase('postgres', 'service'))
  const receiveState = newShopState()
  const liar = stack.use(await openLiar(receiveState))
  const secret = generatePrivateKey()
  const feePayer = world.takeHolder()
  await world.evm.client.setBalance({ address: privateKeyToAddress(secret), value: 10n ** 19n })
  const config: ServiceConfig = {
    host: '127.0.0.1',
    port: 0,
    trustedProxyHops: 0,
    database: database.target,
    networks: [...world.networks],
    logLevel: 'silent',
    signer: { env: { VAULT_KEY_FILE: join(folder, 'vault.key') } },
    facilitators: {
      allowed: [liar.url],
      loopback: true,
      wallets: [privateKeyToAddress(secret), feePayer.publicKey.toBase58()],
    },
  }
  const wallets = [
    { family: 'evm', secret: Buffer.from(secret.slice(2), 'hex') },
    { family: 'solana', secret: feePayer.secretKey.slice(0, 32) },
  ] as const
  const payees = await Promise.all(
    [0, 1].map(async () => ({
      evm: (await world.evm.wallet(0n)).address,
      solana: world.takeHolder(),
    })),
  )
  // Both services find it in its folder and start none.
  stack.use(await openSigner(config.signer))
  const key = await prepareAccount(config, wallets, payees)
  const services = [
    stack.use(await createService(config)),
    stack.use(await createService(config)),
  ] as const

  const headers = { Authorization: `Bearer ${key}` }
  const [forMiddleware, forReceive] = payees
  if (!forMiddleware || !forReceive) throw new Error('no payee')
  const middlewareState = newShopState()
  const [evm, solana] = world.networks
  const openFacilitated = async (url: string) =>
    stack.use(
      await openShop({
        world,
        payTo: forMiddleware,
        state: middlewareState,
        facilitator: new HTTPFacilitatorClient({
          url: `${url}/facilitator`,
          createAuthHeaders: async () => ({ verify: headers, settle: headers, supported: headers }),
        }),
        schemes: [new ExactServer(evm), new ExactServer(solana)],
      }),
    ).url
  const openReceiving = async (service: string) =>
    stack.use(
      await openReceivingShop({
        world,
        payTo: forReceive,
        state: receiveState,
        service,
        key,
        liar: liar.url,
        feePayer: feePayer.publicKey.toBase58(),
      }),
    ).url
  const [one, two] = services
  const feePayers = [privateKeyToAddress(secret)]
  const owned = { feePayers, [Symbol.asyncDispose]: async () => {} }
  /** Lists grow by what has no counterpart among the deliveries of a payee. */
  const listedFor = (payTo: Target['payTo']) => async () => {
    const lists = await Promise.all(
      ['undelivered', 'unmatched'].map(async (list) => {
        const answer = await fetch(`${one.url}/${list}?limit=100`, { headers })
        const body = v.parse(Listed, await answer.json())
        return body.payments ?? body.transfers ?? []
      }),
    )
    const recipients = [payTo.evm.toLowerCase(), payTo.solana.publicKey.toBase58().toLowerCase()]
    return lists.flat().filter(({ recipient }) => recipients.includes(recipient.toLowerCase()))
      .length
  }
  const facilitated: Target = {
    ...owned,
    name: 'Paydesk as facilitator',
    kind: 'facilitator',
    shops: [await openFacilitated(one.url), await openFacilitated(two.url)],
    payTo: forMiddleware,
    state: middlewareState,
    listed: listedFor(forMiddleware),
  }
  const receiving: Target = {
    ...owned,
    name: 'Paydesk /payment/receive',
    kind: 'receive',
    shops: [await openReceiving(one.url), await openReceiving(two.url)],
    payTo: forReceive,
    state: receiveState,
    listed: listedFor(forReceive),
  }
  const running = stack.move()
  return {
    targets: [facilitated, receiving],
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  }
}

const Recipients = v.optional(v.array(v.object({ recipient: v.string() })))
const Listed = v.object({ payments: Recipients, transfers: Recipients })

/** An account with a key, wallets that pay the network fees, and its payout wallets. */
export async function prepareAccount(
  config: ServiceConfig,
  wallets: readonly { family: 'evm' | 'solana'; secret: Uint8Array }[],
  payees: readonly Target['payTo'][],
): Promise<string> {
  await using database = await openDatabase(config.database, SERVICE_SCHEMA)
  const { db } = database
  const now = new Date()
  await using signer = await openSigner(config.signer)
  const { id: accountId } = await createAccount(db, { name: 'Attacked', plan: 'premium' })
  for (const { family, secret } of wallets)
    await createWallet({ db, signer, now }, { accountId, family, name: 'Settlements', secret })
  for (const { evm, solana } of payees)
    for (const address of [evm, solana.publicKey.toBase58()])
      await registerWallet({ db, now }, { accountId, address, network: null, proof: 'operator' })
  const { key } = await createKey(db, {
    accountId,
    name: 'shops',
    scopes: SCOPES,
    plan: 'premium',
    environment: 'test',
    requestsPerMinute: 1_000_000,
  })
  return key
}

/**
 * A resource server as docs/INTEGRATION.md describes it: every visit is an order with its own
 * resource, and an order is served once.
 */
function openReceivingShop(options: {
  world: World
  payTo: Target['payTo']
  state: ShopState
  service: string
  key: string
  liar: string
  feePayer: string
}): Promise<Shop> {
  const { world, payTo, state, service, key, liar, feePayer } = options
  const paths = pricedPaths(world)
  /** The page that each order is for. */
  const orders = new Map<string, string>()
  const app = new Hono({ strict: false })
  async function receive(c: Context, path: string): Promise<Response> {
    const price = paths[path]
    const network = world.networks[price?.network ?? 0]
    if (!price) throw new Error(`${path} has no price.`)
    const accepts = {
      scheme: 'exact',
      network: network.network,
      amount: price.amount.toString(),
      asset: price.asset,
      payTo: price.network === 0 ? payTo.evm : payTo.solana.publicKey.toBase58(),
      maxTimeoutSeconds: 300,
      extra: { ...price.extra, ...(price.network === 1 && { feePayer }) },
    }
    const proof = c.req.header('payment-signature') ?? c.req.header('x-payment')
    const decoded = proof === undefined ? undefined : decodeHeader(proof)
    if (decoded && !decoded.ok) return c.json({ error: decoded.problem }, 400)
    const order = decoded && at(decoded.value, 'resource.url')
    const page = `${path}${new URL(c.req.url).search}`
    if (typeof order !== 'string' || orders.get(order) !== page) {
      const url = new URL(page, c.req.url)
      url.searchParams.set('order', crypto.randomUUID())
      orders.set(url.href, page)
      const challenge = { x402Version: 2, resource: { url: url.href }, accepts: [accepts] }
      c.header('PAYMENT-REQUIRED', encodeHeader(challenge))
      return c.json({}, 402)
    }
    const idempotencyKey = c.req.header('idempotency-key')
    const answer = await fetch(`${service}/payment/receive`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
      },
      body: JSON.stringify({
        walletAddress: accepts.payTo,
        paymentProof: proof,
        expectedAmount: price.units,
        network: accepts.network,
        asset: accepts.asset,
        resource: order,
        timeout: state.facilitatorLies ? 2 : 20,
        ...(state.facilitatorLies && { facilitatorUrl: liar }),
      }),
    })
    const body: unknown = await answer.json()
    if (at(body, 'verified') !== true || !orders.delete(order))
      return c.json({ error: at(body, 'error') ?? 'This order was served.' }, 402)
    state.runs++
    await state.during?.()
    return c.text(contentOf(path), 200, { 'cache-control': 'private, no-store' })
  }
  for (const path of Object.keys(paths)) app.get(path, (c) => receive(c, path))
  return listen(app)
}

/** A facilitator that says yes and does nothing. */
function openLiar(state: ShopState): Promise<Shop> {
  const app = new Hono()
  app.post('/verify', (c) => c.json({ isValid: true }))
  app.post('/settle', async (c) => {
    const network = at(await c.req.json(), 'paymentRequirements.network')
    return c.json({ success: true, transaction: state.facilitatorLies, network: String(network) })
  })
  return listen(app)
}
