import { request } from 'node:http'
import { eq } from 'drizzle-orm'
import type { Hex } from 'viem'
import { generatePrivateKey, privateKeyToAccount, type PrivateKeyAccount } from 'viem/accounts'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { deleteOldPresenters, notePresenter, PRESENTER_RETENTION_MS } from '#bff/db/files.ts'
import { filePresenter, filePurchase, fileSale } from '#bff/db/schema.ts'
import type { FileBody } from '#contract/file-endpoints.ts'
import { payment } from '#service/db/schema/payment.ts'
import { FileShop, PUBLIC_URL } from '#testing/file-shop.ts'
import type { Fixture } from '#testing/fixture.ts'
import type { EvmFixture } from '#testing/local-chains.ts'
import { executeAsOwner } from '#testing/postgres.ts'
import { eventually } from '#testing/service-context.ts'
import { evmWallet, type TestBrowser, type TestWallet } from '#testing/test-browser.ts'
import { evmPayer, payInvoice, type EvmTokens } from '#testing/token-payers.ts'
import { encodeHeader } from '#x402/header.ts'
import { decodePayload } from '#x402/payload.ts'
import type { Requirements } from '#x402/requirements.ts'
import { readProof } from './offers.ts'

/**
 * An authorization is public once it is broadcast. A thief reads it there and presents it, from another
 * network address, for the file that its payer buys.
 */

const CONTENT = 'The first page of the guide.'
const [BUYER, THIEF] = ['127.0.0.1', '127.0.0.2']

let files: FileShop
let seller: FileShop['seller']
let evm: EvmFixture
let tokens: EvmTokens
let fixture: Fixture
let shop: TestBrowser

beforeAll(async () => {
  files = await FileShop.open()
  ;({ seller, evm, tokens, fixture } = files)
})
afterAll(() => files?.[Symbol.asyncDispose]())
beforeEach(async () => {
  shop = await files.beginTest()
})
afterEach(() => {
  fixture.service.context.atPoint = undefined
})

const create = (prices = [{ currency: 'USDC', amount: '1.5' }]) =>
  files.create({ prices, source: { kind: 'text', text: CONTENT } })
const addressOf = (file: FileBody) => files.addressOf(file)
const inbox = () => files.inbox()
const paymentsBy = async ({ address }: PrivateKeyAccount) =>
  fixture.service.context.db.select().from(payment).where(eq(payment.sender, address))
const presenters = async () => fixture.bff.context.db.select().from(filePresenter)

async function offerOf(file: FileBody): Promise<Requirements> {
  const { headers } = await fetch(addressOf(file))
  const header = headers.get('payment-required') ?? ''
  return JSON.parse(Buffer.from(header, 'base64').toString()).accepts[0]
}

/** A buyer who has signed a payment for a file, and presented it nowhere. */
async function signFor(file: FileBody, { funded = true } = {}) {
  const account = privateKeyToAccount(generatePrivateKey())
  if (funded) await tokens.fund(account.address)
  const url = `${PUBLIC_URL}/api/file/${file.code}`
  const proof = await payInvoice(evmPayer(evm, account), await offerOf(file), { url })
  const wallet: TestWallet = {
    address: account.address,
    network: tokens.network.network,
    sign: (message) => account.signMessage({ message }),
  }
  return { account, proof, wallet }
}

type Answer = { status: number; text: string }

function present(localAddress: string, file: FileBody, proof: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const headers = { 'payment-signature': proof }
    const asking = request(addressOf(file), { localAddress, headers }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (part) => (text += part))
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }))
    })
    asking.on('error', reject).end()
  })
}
const presentUntilDecided = (localAddress: string, file: FileBody, proof: string) =>
  eventually(
    () => present(localAddress, file, proof),
    ({ status }) => status !== 202,
  )

/** As a thief writes it again who has read it on the chain. */
function respell(proof: string): string {
  const decoded = decodePayload(proof)
  if (!decoded.ok) throw new Error('The proof is readable.')
  const { signature, authorization } = decoded.payload.payload as {
    signature: string
    authorization: Record<string, string>
  }
  const { from = '', nonce = '', ...more } = authorization
  const shout = (hex: string) => `0x${hex.slice(2).toUpperCase()}`
  const payload = {
    authorization: { nonce: shout(nonce), from: from.toLowerCase(), ...more },
    signature: shout(signature),
  }
  return encodeHeader({ ...decoded.payload, payload })
}

/** The service ends once it has broadcast: its caller learns nothing. */
async function presentToFailingService(file: FileBody, proof: string): Promise<void> {
  fixture.service.context.atPoint = (point) => {
    if (point === 'settle:broadcast') throw new Error('The service ends here.')
  }
  expect((await present(BUYER, file, proof)).status).toBeGreaterThanOrEqual(500)
  fixture.service.context.atPoint = undefined
}

describe('a buyer', () => {
  test('whose request fails after the broadcast gets the file, and who reads the proof on the chain does not', async () => {
    const file = await create()
    const { proof } = await signFor(file)
    await presentToFailingService(file, proof)
    const stolen = await presentUntilDecided(THIEF, file, respell(proof))
    expect([stolen.status, stolen.text]).toEqual([409, expect.stringContaining('sign in')])
    expect(await presentUntilDecided(BUYER, file, proof)).toEqual({ status: 200, text: CONTENT })
  })

  test('whose request is open gets the file, however often others present its proof meanwhile', async () => {
    const file = await create()
    const { proof } = await signFor(file)
    files.stopMining()
    const own = presentUntilDecided(BUYER, file, proof)
    await eventually(
      async () => (await evm.client.getTxpoolContent()).pending,
      (pending) => Object.keys(pending).length > 0,
    )
    const stolen = Array.from({ length: 5 }, () => presentUntilDecided(THIEF, file, respell(proof)))
    files.startMining()
    expect(await own).toEqual({ status: 200, text: CONTENT })
    expect((await Promise.all(stolen)).map(({ status }) => status)).toEqual(Array(5).fill(409))
  })

  test('whose payment is beyond the budget of network fees is refused alone: other visitors are served', async () => {
    const file = await create()
    const { proof, wallet } = await signFor(file)
    const requirements = { ...(await offerOf(file)), payTo: wallet.address }
    const own = await payInvoice(evmPayer(evm, (await signFor(file)).account), requirements)
    const stranger = fixture.browser()
    await stranger.signIn(wallet)
    const policy = fixture.service.context.config.facilitators
    if (!policy) throw new Error('The service settles tokens here.')
    const { dailyFees } = policy
    const tiny = '0.000000000000000001'
    policy.dailyFees = { wallet: '1', account: tiny, keyless: tiny }
    try {
      const refused = { status: 429, text: expect.stringContaining('settlement_fee_budget') }
      expect(await present(BUYER, file, proof)).toMatchObject(refused)
      const verify = {
        x402Version: 2,
        paymentPayload: JSON.parse(Buffer.from(own, 'base64').toString()),
        paymentRequirements: requirements,
      }
      expect(await stranger.post('/api/facilitator/verify', verify)).toMatchObject(refused)
      expect((await shop.get('/api/payments?limit=3')).status).toBe(200)
    } finally {
      policy.dailyFees = dailyFees
    }
  })

  test('that comes back from another address is in the inbox, and gets the file after sign-in', async () => {
    const file = await create()
    const { account, proof, wallet } = await signFor(file)
    await presentToFailingService(file, proof)
    const [made] = await eventually(
      () => paymentsBy(account),
      ([row]) => row?.status === 'confirmed' || row?.status === 'finalized',
    )
    expect((await present(THIEF, file, proof)).status).toBe(409)
    await eventually(inbox, (ids) => ids.includes(made?.id ?? ''))
    const browser = fixture.browser()
    await browser.signIn(wallet)
    const answer = await browser.post('/api/files/download', { code: file.code })
    expect(answer).toMatchObject({
      status: 200,
      json: { url: expect.stringContaining(`${PUBLIC_URL}/api/download/`) },
    })
    // Nobody refunds what was downloaded.
    const { url } = answer.json as unknown as { url: string }
    expect(await (await fetch(url.replace(PUBLIC_URL, fixture.bff.url))).text()).toBe(CONTENT)
    await eventually(inbox, (ids) => !ids.includes(made?.id ?? ''))
  })

  test('whose proof was refused is forgotten, and may present it from anywhere', async () => {
    const file = await create()
    const { account, proof } = await signFor(file, { funded: false })
    const before = await presenters()
    expect((await present(THIEF, file, proof)).status).toBe(402)
    expect(await presenters()).toEqual(before)
    await tokens.fund(account.address)
    expect(await presentUntilDecided(BUYER, file, proof)).toEqual({ status: 200, text: CONTENT })
  })

  test('whose payment failed stays the first: the chain may show it after all', async () => {
    const file = await create()
    const { account, proof } = await signFor(file)
    await presentToFailingService(file, proof)
    await eventually(
      () => paymentsBy(account),
      ([row]) => row?.status === 'confirmed' || row?.status === 'finalized',
    )
    const { db } = fixture.service.context
    await db.update(payment).set({ status: 'failed' }).where(eq(payment.sender, account.address))
    expect((await present(BUYER, file, proof)).status).toBe(402)
    await db.update(payment).set({ status: 'confirmed' }).where(eq(payment.sender, account.address))
    expect((await present(THIEF, file, proof)).status).toBe(409)
  })

  test('keeps its payment in the inbox when its presenter was forgotten, and a thief presents it', async () => {
    const { db } = fixture.bff.context
    const file = await create()
    const { account, proof } = await signFor(file)
    await presentToFailingService(file, proof)
    const [paid] = await eventually(
      () => paymentsBy(account),
      ([row]) => row?.status === 'confirmed' || row?.status === 'finalized',
    )
    const id = paid?.id ?? ''
    const later = Date.now() + files.ahead + PRESENTER_RETENTION_MS
    await deleteOldPresenters(db, new Date(later + 1_000))
    expect(await presenters()).toEqual([])
    const made = new Date(Date.now() + files.ahead - PRESENTER_RETENTION_MS).toISOString()
    const { config, db: payments } = fixture.service.context
    await executeAsOwner(
      { target: config.database, db: payments },
      `update service.payment set created_at = '${made}' where id = '${id}'`,
    )
    expect((await presentUntilDecided(THIEF, file, proof)).status).toBe(409)
    await eventually(inbox, (ids) => ids.includes(id))
    const bought = eq(filePurchase.paymentId, id)
    expect(await db.select().from(filePurchase).where(bought)).toMatchObject([
      { deliveredAt: null, reportedAt: expect.any(Date) },
    ])
  })
})

test('nothing is noted of a proof that pays another price or another payee', async () => {
  const [file, dear] = [await create(), await create()]
  const offer = await offerOf(file)
  const account = privateKeyToAccount(generatePrivateKey())
  const before = await presenters()
  for (const change of [{ amount: '1' }, { payTo: evmWallet().address }]) {
    const url = `${PUBLIC_URL}/api/file/${dear.code}`
    const proof = await payInvoice(evmPayer(evm, account), { ...offer, ...change }, { url })
    expect((await present(THIEF, dear, proof)).status).toBe(402)
  }
  expect(await presenters()).toEqual(before)
})

test('a raw ETH transaction, which anybody can read in the pool, pays for no file', async () => {
  const file = await create([{ currency: 'ETH', amount: '0.01' }])
  const [native] = tokens.network.assets
  const account = privateKeyToAccount(generatePrivateKey())
  const value = 10n ** 16n
  const signedTransaction = await account.signTransaction({
    type: 'eip1559',
    chainId: 31_337,
    nonce: 0,
    gas: 21_000n,
    maxFeePerGas: 2n,
    maxPriorityFeePerGas: 1n,
    to: seller.address as Hex,
    value,
  })
  const accepted = {
    scheme: 'exact',
    network: tokens.network.network,
    asset: native?.address,
    amount: value.toString(),
    payTo: seller.address,
    maxTimeoutSeconds: 60,
    extra: { assetTransferMethod: 'signed-transaction' },
  }
  const resource = { url: `${PUBLIC_URL}/api/file/${file.code}` }
  const v2 = { x402Version: 2, accepted, resource, payload: { signedTransaction } }
  const v1 = { x402Version: 1, scheme: 'exact', network: accepted.network, payload: v2.payload }
  for (const payment of [v2, v1]) {
    const answer = await present(THIEF, file, encodeHeader(payment))
    expect(answer.status).toBe(402)
    expect(answer.text).toContain('not sold for that')
  }
})

describe('a payment is one proof in every spelling, and none where it pays something else,', () => {
  type Change = { amount?: bigint; payTo?: string; spelled?: boolean }
  const account = privateKeyToAccount(generatePrivateKey())
  const payloadOf = ({ amount = 5n, payTo = seller.address, spelled }: Change) => ({
    signature: spelled ? '0xAB' : '0xcd',
    permit2Authorization: {
      from: spelled ? account.address.toLowerCase() : account.address,
      permitted: { token: tokens.weth.address, amount: amount.toString() },
      spender: account.address,
      nonce: '7',
      deadline: '9',
      witness: { to: spelled ? payTo.toLowerCase() : payTo, validAfter: '0' },
    },
  })

  test('by permit2', async () => {
    const method = 'permit2'
    const { context } = fixture.bff
    await create()
    const [file] = await context.db.select().from(fileSale).limit(1)
    if (!file) throw new Error('There is a file.')
    const asset = tokens.weth
    const terms = { network: tokens.network, asset, payTo: seller.address, amountAtomic: 5n }
    const accepted = { scheme: 'exact', network: tokens.network.network, asset: asset.address }
    const more = { amount: '5', payTo: seller.address, maxTimeoutSeconds: 60 }
    const proofOf = (change: Change) => {
      const payload = payloadOf(change)
      const header = encodeHeader({
        x402Version: 2,
        accepted: { ...accepted, ...more, extra: { assetTransferMethod: method } },
        payload,
      })
      const offers = [{ ...terms, method, extra: {} }]
      const read = readProof(context, file, { header, offers })
      if (!read.ok) throw new Error(read.message)
      return read.proof
    }
    const proof = proofOf({})
    expect(proof).toEqual(expect.stringContaining(tokens.network.network))
    expect(proofOf({ spelled: true })).toBe(proof)
    expect(proofOf({ amount: 4n })).toBeNull()
    expect(proofOf({ payTo: evmWallet().address })).toBeNull()
  })
})

test('who presented a proof first stays the first', async () => {
  const { db } = fixture.bff.context
  const note = (presenter: string) =>
    notePresenter(db, { proof: 'one proof', presenter, presentedAt: new Date() })
  const both = await Promise.all([note('buyer'), note('thief')])
  expect(new Set(both).size).toBe(1)
  expect(await note('buyer')).toBe(both[0])
  expect(await note('thief')).toBe(both[0])
})
