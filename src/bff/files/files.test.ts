import { request } from 'node:http'
import { ExactEvmScheme } from '@x402/evm/exact/client'
import { wrapFetchWithPayment as wrapFetch, x402Client } from '@x402/fetch'
import { and, eq, isNotNull, isNull } from 'drizzle-orm'
import { erc20Abi, type Hex } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { createSigner, wrapFetchWithPayment as wrapFetchV1 } from 'x402-fetch'
import { filePurchase, fileSale, fileTicket } from '#bff/db/schema.ts'
import { browserEndpoints } from '#contract/browser-endpoints.ts'
import type { FileBody } from '#contract/file-endpoints.ts'
import { createPaymentId } from '#contract/payment.ts'
import { reasonCodeOf } from '#contract/reasons.ts'
import { insertPayment, type PaymentRecord } from '#service/db/payments.ts'
import { idempotency } from '#service/db/schema/access.ts'
import { payment } from '#service/db/schema/payment.ts'
import { FILE_PAGE, FileShop, PUBLIC_URL } from '#testing/file-shop.ts'
import {
  afterProbe,
  CONTENT,
  cutOff,
  KEY,
  openSource,
  serveRanges,
  type FileServer,
  type SourceAnswer,
} from '#testing/file-source.ts'
import type { Fixture } from '#testing/fixture.ts'
import type { EvmFixture } from '#testing/local-chains.ts'
import { eventually } from '#testing/service-context.ts'
import {
  evmWallet,
  type BrowserResponse,
  type TestBrowser,
  type TestWallet,
} from '#testing/test-browser.ts'
import type { EvmTokens } from '#testing/token-payers.ts'

/**
 * Files on sale, bought with the official clients of both versions from a real source. The client of
 * version 1 knows a fixed list of networks, so the local chain carries the id of Base Sepolia.
 */

const NETWORK = 'eip155:84532'
const PRICE = 1_500_000n

let files: FileShop
let seller: TestWallet
let evm: EvmFixture
let tokens: EvmTokens
let fixture: Fixture
let shop: TestBrowser
let source: FileServer

beforeAll(async () => {
  files = await FileShop.open({ chainId: 84_532 })
  ;({ evm, tokens, fixture } = files)
  seller = { ...files.seller, network: NETWORK }
  source = await openSource()
})
afterAll(async () => {
  await files?.[Symbol.asyncDispose]()
  await source?.[Symbol.asyncDispose]()
})
beforeEach(async () => {
  source.answer = serveRanges
  source.asked.length = 0
  shop = await files.beginTest()
})

const withKey = () => ({
  kind: 'https',
  url: source.url,
  credential: { type: 'header', name: 'X-Key', value: KEY },
})
const TEXT = { kind: 'text', text: CONTENT }

const fileIn = ({ status, json, text }: BrowserResponse) => {
  if (status !== 200) throw new Error(text)
  return (json as unknown as { file: FileBody }).file
}
const create = (body: Record<string, unknown> = {}) =>
  files.create({
    prices: [
      { currency: 'USDC', amount: '1.5' },
      { currency: 'ETH', amount: '0.01' },
    ],
    source: withKey(),
    ...body,
  })
const addressOf = (file: FileBody) => files.addressOf(file)
const problemOf = ({ status, json }: BrowserResponse) => [status, json.error?.details]

const balance = () =>
  evm.client.readContract({
    address: tokens.usdc.address as Hex,
    abi: erc20Abi,
    functionName: 'balanceOf',
    args: [seller.address as Hex],
  })

type Version = 'v1' | 'v2'
const HEADER = { v1: 'x-payment', v2: 'payment-signature' } as const

/** A buyer with the official client of a version. `proof` is what it last presented. */
async function buyer(version: Version = 'v2') {
  const secret = generatePrivateKey()
  const account = privateKeyToAccount(secret)
  await tokens.fund(account.address)
  const state = { proof: '' }
  const watched: typeof fetch = async (input, init) => {
    const { headers } = new Request(input, init)
    state.proof = headers.get(HEADER[version]) ?? state.proof
    return fetch(input, init)
  }
  const client = new x402Client()
    .register(NETWORK, new ExactEvmScheme(account))
    .setSpendControls(false)
  const pay =
    version === 'v1'
      ? wrapFetchV1(watched, await createSigner('base-sepolia', secret), PRICE)
      : wrapFetch(watched, client)
  const wallet: TestWallet = {
    address: account.address,
    network: NETWORK,
    sign: (message) => account.signMessage({ message }),
  }
  return {
    wallet,
    proof: () => state.proof,
    buy: (file: FileBody, headers: Record<string, string> = {}) =>
      pay(addressOf(file), { headers }),
    present: (file: FileBody, headers: Record<string, string> = {}) =>
      fetch(addressOf(file), { headers: { ...headers, [HEADER[version]]: state.proof } }),
    async signedIn() {
      const browser = fixture.browser()
      await browser.signIn(wallet)
      return browser
    },
  }
}

/** The proof of another person, from another network address. @returns the status of the answer */
function presentFrom(localAddress: string, file: FileBody, proof: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { [HEADER.v2]: proof }
    const asking = request(addressOf(file), { localAddress, headers }, (response) => {
      response.resume()
      resolve(response.statusCode ?? 0)
    })
    asking.on('error', reject).end()
  })
}

const ticketFor = (browser: TestBrowser, { code }: FileBody) =>
  browser.post('/api/files/download', { code })
const addressIn = ({ status, json, text }: BrowserResponse) => {
  if (status !== 200) throw new Error(text)
  return (json as unknown as { url: string }).url.replace(PUBLIC_URL, fixture.bff.url)
}
const failures = async () => {
  const { json } = await shop.get('/api/files/failures')
  return (json as unknown as { failed: number }).failed
}
const listed = (file: FileBody) => files.listed(file)
const inbox = () => files.inbox()
const purchases = (file: FileBody) => files.purchases(file)
const delivered = (file: FileBody) => files.delivered(file)

describe('a file on sale', () => {
  test('is told in both versions of x402, and a person is sent to its page', async () => {
    const file = await create()
    const asked = await fetch(addressOf(file))
    expect(asked.status).toBe(402)
    expect(asked.headers.get('access-control-allow-origin')).toBe('*')
    expect(asked.headers.get('cache-control')).toContain('no-store')
    const v2 = JSON.parse(
      Buffer.from(asked.headers.get('payment-required') ?? '', 'base64').toString(),
    )
    expect(v2).toMatchObject({
      x402Version: 2,
      resource: { url: `${PUBLIC_URL}/api/file/${file.code}`, mimeType: 'application/pdf' },
      accepts: [
        {
          scheme: 'exact',
          network: NETWORK,
          amount: PRICE.toString(),
          payTo: seller.address,
          extra: { assetTransferMethod: 'eip3009', name: 'USD Coin', version: '2' },
        },
        { amount: '10000000000000000', extra: { assetTransferMethod: 'txid' } },
      ],
    })
    expect(await asked.json()).toMatchObject({
      x402Version: 1,
      accepts: [{ network: 'base-sepolia', maxAmountRequired: PRICE.toString() }, {}],
    })
    const person = await fetch(addressOf(file), {
      headers: { accept: 'text/html,*/*' },
      redirect: 'manual',
    })
    expect([person.status, person.headers.get('location')]).toEqual([
      303,
      `${FILE_PAGE}/${file.code}`,
    ])
    expect((await fetch(`${fixture.bff.url}/api/file/4fJq7Wm2Xr9K`)).status).toBe(404)
  })

  test('asks a price of every page, but lets none of them read who is signed in', async () => {
    const file = await create()
    const preflight = await fetch(addressOf(file), {
      method: 'OPTIONS',
      headers: { origin: 'https://any.example', 'access-control-request-method': 'GET' },
    })
    expect(preflight.status).toBe(204)
    expect(preflight.headers.get('access-control-allow-headers')).toContain('payment-signature')
    const asked = await fetch(addressOf(file), { headers: { origin: 'http://localhost:4173' } })
    expect(asked.headers.get('access-control-allow-origin')).toBe('*')
    expect(asked.headers.get('access-control-allow-credentials')).toBeNull()
  })

  test('answers for no endpoint of the dashboard, which another origin may serve', async () => {
    const origin = 'http://localhost:4173'
    for (const { method, path } of Object.values(browserEndpoints)) {
      const { headers } = await fetch(`${fixture.bff.url}/api${path}`, {
        method: 'OPTIONS',
        headers: { origin, 'access-control-request-method': method },
      })
      expect([path, headers.get('access-control-allow-origin')]).toEqual([path, origin])
      expect(headers.get('access-control-allow-credentials')).toBe('true')
    }
  })

  test('has links for people in each currency, which end with it', async () => {
    const file = await create()
    const open = (link: string) => fixture.browser().post('/api/link/open', { link })
    expect(file.prices.map(({ currency, amount }) => [currency, amount])).toEqual([
      ['USDC', '1.5'],
      ['ETH', '0.01'],
    ])
    for (const { link } of file.prices)
      expect(await open(link)).toMatchObject({
        json: {
          state: 'open',
          terms: {
            description: 'The guide',
            resource: `${PUBLIC_URL}/api/file/${file.code}`,
            returnUrl: `${FILE_PAGE}/${file.code}?payment={PAYMENT_ID}`,
          },
        },
      })
    expect(
      fileIn(await shop.post('/api/files/withdraw', { id: file.id })).withdrawnAt,
    ).not.toBeNull()
    expect((await fetch(addressOf(file))).status).toBe(404)
    for (const { link } of file.prices)
      expect(await open(link)).toMatchObject({ json: { state: 'withdrawn' } })
    await shop.post('/api/files/restore', { id: file.id })
    expect((await fetch(addressOf(file))).status).toBe(402)
  })

  test('is deleted a day after it was withdrawn, if nobody bought it', async () => {
    const [unsold, sold] = [await create({ source: TEXT }), await create({ source: TEXT })]
    expect((await (await buyer()).buy(sold)).status).toBe(200)
    for (const { id } of [unsold, sold]) {
      await shop.post('/api/files/withdraw', { id })
      expect(problemOf(await shop.post('/api/files/delete', { id }))).toEqual([
        403,
        { reason: { code: 'file_sold_lately', params: {} } },
      ])
    }
    files.ahead += 24 * 3_600_000
    await shop.signIn(seller)
    expect((await shop.post('/api/files/delete', { id: unsold.id })).status).toBe(200)
    expect(await listed(unsold)).toBeUndefined()
    expect(problemOf(await shop.post('/api/files/delete', { id: sold.id }))).toEqual([
      403,
      { reason: { code: 'file_bought', params: {} } },
    ])
  })

  test.each<[Record<string, unknown>, string]>([
    [{ prices: [{ currency: 'EUR', amount: '1' }] }, 'prices.0.currency'],
    [{ prices: [{ currency: 'ETH', amount: '0' }] }, 'prices.0.amount'],
    [{ prices: [{ currency: 'USDC', amount: '0.0000001' }] }, 'prices.0.amount'],
    [{ prices: ['1', '2'].map((amount) => ({ currency: 'ETH', amount })) }, 'prices.1.currency'],
    [{ page: 'https://elsewhere.example/file' }, 'page'],
    [{ source: { kind: 'text', text: 'x'.repeat(256 * 1024 + 1) } }, 'source.text'],
    [{ source: { kind: 'https', url: 'https://10.0.0.1/a' } }, 'source.url'],
    [{ source: { kind: 'https', url: 'http://shop.example/a' } }, 'source.url'],
    [{ fileName: '../a.pdf' }, 'fileName'],
  ])('with %j is refused, and the answer names %s', async (changes, field) => {
    const answer = await shop.post('/api/files', {
      name: 'x',
      prices: [{ currency: 'ETH', amount: '1' }],
      source: TEXT,
      page: FILE_PAGE,
      ...changes,
    })
    expect(problemOf(answer)).toEqual([400, { [field]: expect.any(String) }])
  })
})

describe('a source', () => {
  const check = (more: Record<string, unknown>) =>
    shop.post('/api/files/check', { source: { ...withKey(), ...more } })

  test('is checked for its size, its type and whether parts of it can be read', async () => {
    expect((await check({})).json).toMatchObject({
      size: CONTENT.length,
      mimeType: 'application/pdf',
      ranges: true,
    })
    const basic = { type: 'basic', user: 'shop', password: 'pass word' }
    expect((await check({ credential: basic })).json).toMatchObject({ size: CONTENT.length })
    source.answer = (_, response) =>
      void response.writeHead(200, { 'content-length': '7' }).end('whole …'.slice(0, 7))
    expect((await check({})).json).toEqual({
      size: 7,
      mimeType: 'application/octet-stream',
      ranges: false,
    })
  })

  test.each<[string, SourceAnswer, string]>([
    ['refuses', (_, response) => void response.writeHead(403).end(), 'source_refused'],
    ['has nothing', (_, response) => void response.writeHead(404).end(), 'source_missing'],
    [
      'redirects',
      (_, response) => void response.writeHead(302, { location: 'http://10.0.0.1/' }).end(),
      'source_redirect',
    ],
    ['fails', (_, response) => void response.writeHead(500).end(), 'source_answer'],
    ['is cut', (_, response) => void response.destroy(), 'source_unreachable'],
    [
      'is too large',
      (_, response) =>
        void response.writeHead(206, { 'content-range': 'bytes 0-0/10001' }).end('x'),
      'source_too_large',
    ],
    [
      'gives another part',
      (_, response) => void response.writeHead(206, { 'content-range': 'bytes 5-5/9' }).end('x'),
      'source_answer',
    ],
  ])('that %s is told to its merchant by name', async (_, answer, reason) => {
    source.answer = answer
    expect(problemOf(await check({}))).toEqual([
      400,
      { source: expect.any(String), reason: { code: reason, params: {} } },
    ])
  })

  test('keeps its credentials sealed: no answer, no log and no row has them', async () => {
    const file = await create()
    const rows = await fixture.bff.context.db.select().from(fileSale)
    const said = [
      JSON.stringify(await listed(file)),
      JSON.stringify(rows),
      fixture.log.join('\n'),
      JSON.stringify((await shop.post('/api/audit-log/read', {})).json),
    ].join('\n')
    expect(said).toContain(source.url)
    expect(said).not.toContain(KEY)
    expect(said).not.toContain(Buffer.from(KEY).toString('base64'))
  })

  test('shows its credentials to no other address: another one in the row opens nothing', async () => {
    const file = await create()
    const { db } = fixture.bff.context
    const [row] = await db.select().from(fileSale).where(eq(fileSale.id, file.id))
    const elsewhere = { kind: 'https', url: `${source.url}x`, credential: 'header' } as const
    await db.update(fileSale).set({ source: elsewhere }).where(eq(fileSale.id, file.id))
    source.asked.length = 0
    const answer = await (await buyer()).buy(file)
    expect(answer.status).toBe(503)
    expect(source.asked).toEqual([])
    expect(row?.source).toEqual({ ...elsewhere, url: source.url })
  })

  test('is replaced with its facts, and the file keeps its address', async () => {
    const file = await create()
    const changed = fileIn(
      await shop.post('/api/files/update', {
        id: file.id,
        name: 'Second edition',
        source: { kind: 'text', text: 'new' },
      }),
    )
    expect(changed).toMatchObject({
      code: file.code,
      name: 'Second edition',
      size: 3,
      source: { kind: 'text' },
      prices: file.prices,
    })
    expect(await (await (await buyer()).buy(file)).text()).toBe('new')
  })
})

describe.each<Version>(['v1', 'v2'])('a program with the official client, %s', (version) => {
  test('buys a file: charged its price once, delivered once', async () => {
    const file = await create()
    const countKeys = () => fixture.service.context.db.$count(idempotency)
    const [before, keys] = [await balance(), await countKeys()]
    const { buy, present } = await buyer(version)
    const answer = await buy(file)
    expect([answer.status, await answer.text()]).toEqual([200, CONTENT])
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'application/pdf',
      'content-length': String(CONTENT.length),
      'content-disposition': `attachment; filename="The guide.pdf"; filename*=UTF-8''The%20guide.pdf`,
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store, no-transform',
      'accept-ranges': 'bytes',
      'payment-response': expect.any(String),
      'x-payment-response': expect.any(String),
    })
    expect([await balance(), await countKeys()]).toEqual([before + PRICE, keys])
    await delivered(file)
    // After its settlement the proof is public: it reads nothing more.
    expect((await present(file)).status).toBe(409)
    expect(await balance()).toBe(before + PRICE)
    expect(await listed(file)).toMatchObject({ sales: 1, downloads: 1, undelivered: 0 })
  })

  test('buys a part of a file, and pays nothing for a part that is not there', async () => {
    const file = await create()
    const before = await balance()
    const { buy } = await buyer(version)
    const missing = await buy(file, { range: 'bytes=1000-' })
    expect([missing.status, missing.headers.get('content-range')]).toEqual([
      416,
      `bytes */${CONTENT.length}`,
    ])
    expect(await balance()).toBe(before)
    const part = await buy(file, { range: 'bytes=4-8' })
    expect([part.status, part.headers.get('content-range'), await part.text()]).toEqual([
      206,
      `bytes 4-8/${CONTENT.length}`,
      CONTENT.slice(4, 9),
    ])
    expect(await balance()).toBe(before + PRICE)
  })
})

describe('a program', () => {
  test('with one proof in twenty requests at once is charged once, and one of them gets the file', async () => {
    const file = await create({ source: TEXT })
    const { buy, present } = await buyer()
    source.answer = serveRanges
    const before = await balance()
    // The proof is made, and refused for a part that is not there.
    await buy(file, { range: 'bytes=1000-' })
    const answers = await Promise.all(Array.from({ length: 20 }, () => present(file)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    // Four are looked at together, and the others may ask again.
    const refused = answers.filter(({ status }) => status !== 200)
    expect(refused.filter(({ status }) => status !== 409 && status !== 429)).toEqual([])
    expect((await present(file)).status).toBe(409)
    expect(await balance()).toBe(before + PRICE)
    expect(await listed(file)).toMatchObject({ sales: 1 })
  })

  test('is charged nothing by a source that is down, and buys with the same proof later', async () => {
    const file = await create()
    const { buy, present } = await buyer()
    const before = await balance()
    source.answer = (_, response) => void response.destroy()
    const refused = await buy(file)
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '5'])
    expect(await balance()).toBe(before)
    source.answer = serveRanges
    expect((await present(file)).status).toBe(200)
    expect(await balance()).toBe(before + PRICE)
  })

  test('that paid for a source that then fails is in the inbox, however often, and gets the file with the same proof', async () => {
    const file = await create()
    const { buy, present, proof } = await buyer()
    const before = await balance()
    source.answer = afterProbe((_, response) => void response.writeHead(500).end())
    const failed = await buy(file)
    expect([failed.status, await failed.json()]).toMatchObject([
      503,
      { paymentId: expect.any(String) },
    ])
    const [row] = await purchases(file)
    expect(await inbox()).toContain(row?.paymentId)
    expect(await listed(file)).toMatchObject({ sales: 1, downloads: 0, undelivered: 1 })
    // The next try takes it from the inbox, and fails too.
    expect((await present(file)).status).toBe(503)
    expect(await inbox()).toContain(row?.paymentId)
    source.answer = serveRanges
    // By now everybody can read the proof on the chain.
    expect(await presentFrom('127.0.0.2', file, proof())).toBe(409)
    const served = await present(file)
    expect([served.status, await served.text()]).toEqual([200, CONTENT])
    await delivered(file)
    expect(await inbox()).not.toContain(row?.paymentId)
    expect(await balance()).toBe(before + PRICE)
  })

  test('that leaves while its payment is settled is in the inbox, and gets the file later', async () => {
    const file = await create({ source: TEXT })
    const { buy, proof, present } = await buyer()
    await buy(file, { range: 'bytes=1000-' })
    files.stopMining()
    const leaving = new AbortController()
    const left = fetch(addressOf(file), {
      headers: { 'payment-signature': proof() },
      signal: leaving.signal,
    })
    await eventually(
      async () => (await evm.client.getTxpoolContent()).pending,
      (pending) => Object.keys(pending).length > 0,
    )
    leaving.abort()
    await expect(left).rejects.toMatchObject({ name: 'AbortError' })
    files.startMining()
    const [row] = await eventually(
      () => purchases(file),
      (rows) => rows.length > 0,
    )
    const mine = (ids: string[]) => ids.includes(row?.paymentId ?? '')
    await eventually(inbox, mine)
    const served = await present(file)
    expect([served.status, await served.text()]).toEqual([200, CONTENT])
    await delivered(file)
    await eventually(inbox, (ids) => !mine(ids))
  })

  test.each(['finalized', 'pending'] as const)(
    'gets nothing for a payment whose refund is %s',
    async (status) => {
      const file = await create()
      const { buy, present, signedIn, wallet } = await buyer()
      source.answer = afterProbe((_, response) => void response.writeHead(500).end())
      expect((await buy(file)).status).toBe(503)
      const [row] = await purchases(file)
      await refund(row?.paymentId ?? '', wallet.address, status)
      source.answer = serveRanges
      expect((await present(file)).status).toBe(409)
      expect(problemOf(await ticketFor(await signedIn(), file))).toEqual([
        403,
        { reason: { code: 'file_not_paid', params: {} } },
      ])
      // One on its way may still fail.
      expect((await inbox()).includes(row?.paymentId ?? '')).toBe(status === 'pending')
    },
  )

  test.each<[string, SourceAnswer]>([
    ['that lies about its length', cutOff],
    [
      'that never ends',
      (_, response) => {
        const timer = setInterval(() => response.write('x'.repeat(1_000)), 1)
        response.once('close', () => clearInterval(timer))
      },
    ],
  ])('of a source %s sees the download fail, and the payment is undelivered', async (_, answer) => {
    const file = await create()
    const { buy } = await buyer()
    source.answer = afterProbe(answer)
    await expect(buy(file).then((response) => response.text())).rejects.toThrow(TypeError)
    const [row] = await purchases(file)
    await eventually(inbox, (ids) => ids.includes(row?.paymentId ?? ''))
    expect(await listed(file)).toMatchObject({ sales: 1, downloads: 0, undelivered: 1, failed: 1 })
  })

  test('that is a page is sent as bytes to save', async () => {
    source.answer = (_, response) =>
      void response.writeHead(200, { 'content-type': 'text/html' }).end('<script>1</script>')
    const file = await create()
    const answer = await (await buyer()).buy(file)
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'application/octet-stream',
      'content-disposition': expect.stringMatching(/^attachment;/),
      'x-content-type-options': 'nosniff',
      'content-security-policy': expect.stringContaining('sandbox'),
    })
  })

  test('pays for a file that was withdrawn at that moment, and not a quarter of an hour later', async () => {
    const file = await create()
    const { buy, present } = await buyer()
    await buy(file, { range: 'bytes=1000-' })
    await shop.post('/api/files/withdraw', { id: file.id })
    files.ahead += 14 * 60_000
    expect((await present(file, { range: 'bytes=1000-' })).status).toBe(416)
    files.ahead += 2 * 60_000
    expect((await present(file)).status).toBe(404)
  })

  test('that only looks, with HEAD, uses no payment up', async () => {
    const file = await create()
    const { buy } = await buyer()
    await buy(file, { range: 'bytes=1000-' })
    const head = await fetch(addressOf(file), { method: 'HEAD', headers: { 'x-payment': 'e30=' } })
    expect(head.status).toBe(402)
  })

  test('with a proof of another file, or none that can be read, gets no file', async () => {
    const cheap = await create({ source: TEXT, prices: [{ currency: 'USDC', amount: '0.1' }] })
    const dear = await create()
    const { buy, present } = await buyer()
    const before = await balance()
    await buy(cheap, { range: 'bytes=1000-' })
    expect((await present(dear)).status).toBe(402)
    const unreadable = await fetch(addressOf(dear), { headers: { 'x-payment': '%' } })
    expect(unreadable.status).toBe(400)
    expect(await balance()).toBe(before)
  })
})

describe('a wallet that paid', () => {
  test('reads the file again after sign-in, any number of times, and pays nothing', async () => {
    const file = await create()
    const bought = await buyer()
    await (await bought.buy(file)).text()
    const before = await balance()
    const browser = await bought.signedIn()
    expect(await browser.post('/api/files/open', { code: file.code })).toMatchObject({
      json: { name: 'The guide', paid: true, withdrawn: false },
    })
    for (const range of [undefined, 'bytes=4-8']) {
      const url = addressIn(await ticketFor(browser, file))
      const answer = await fetch(url, { headers: range === undefined ? {} : { range } })
      expect([answer.status, await answer.text()]).toEqual(
        range === undefined ? [200, CONTENT] : [206, CONTENT.slice(4, 9)],
      )
    }
    await eventually(
      () => listed(file),
      (found) => found?.downloads === 3,
    )
    expect(await balance()).toBe(before)
    // Who withdraws a file takes it from nobody.
    await shop.post('/api/files/withdraw', { id: file.id })
    expect((await fetch(addressIn(await ticketFor(browser, file)))).status).toBe(200)
  })

  test('is not charged at the checkout while the source is down, and its failed download is told', async () => {
    const file = await create()
    const { signedIn, wallet } = await buyer()
    await evm.client.setBalance({ address: wallet.address as Hex, value: 10n ** 18n })
    const browser = await signedIn()
    const link = file.prices.find(({ currency }) => currency === 'ETH')?.link
    const pay = () =>
      browser.post('/api/link/pay', {
        link,
        walletAddress: wallet.address,
        option: { network: NETWORK, asset: 'ETH' },
      })
    source.answer = (_, response) => void response.writeHead(500).end()
    const refused = await pay()
    expect([refused.status, reasonCodeOf(refused.json.error?.details)]).toEqual([
      503,
      'source_unavailable',
    ])
    source.answer = serveRanges
    const { paymentId } = (await pay()).json
    await fixture.service.context.db
      .update(payment)
      .set({ status: 'finalized' })
      .where(eq(payment.id, paymentId))
    source.answer = (_, response) => void response.writeHead(500).end()
    const download = async () => fetch(addressIn(await ticketFor(browser, file)))
    expect((await download()).status).toBe(503)
    expect(await listed(file)).toMatchObject({ sales: 1, undelivered: 1, failed: 1 })
    // The payer came through a link: the list of undelivered payments does not have it.
    expect(await failures()).toBe(1)
    // Who tries again pays for it by a budget, before the service is told.
    const { budgets, upstream } = fixture.bff.context
    const [spend, told] = [vi.spyOn(budgets, 'spend'), vi.spyOn(upstream, 'write')]
    expect((await download()).status).toBe(503)
    expect(told.mock.calls.map(([name]) => name)).toEqual(['undeliveredReopen'])
    expect(spend.mock.lastCall?.[1]).toBe('tail')
    expect(spend.mock.invocationCallOrder.at(-1)).toBeGreaterThan(
      told.mock.invocationCallOrder[0] ?? Infinity,
    )
    vi.restoreAllMocks()
    source.answer = serveRanges
    expect(await (await download()).text()).toBe(CONTENT)
    await delivered(file)
    expect(await listed(file)).toMatchObject({ sales: 1, downloads: 1, undelivered: 0, failed: 0 })
    expect(await failures()).toBe(0)
  })

  test('whose source cuts a download off is in the list of failed ones, until it went back', async () => {
    const file = await create()
    const { signedIn, wallet } = await buyer()
    const resource = `${PUBLIC_URL}/api/file/${file.code}`
    await record({ sender: wallet.address, amount: PRICE, resource })
    source.answer = afterProbe(cutOff)
    const url = addressIn(await ticketFor(await signedIn(), file))
    await expect(fetch(url).then((answer) => answer.text())).rejects.toThrow(TypeError)
    await eventually(failures, (failed) => failed === 1)
    expect(await listed(file)).toMatchObject({ sales: 1, downloads: 0, undelivered: 1, failed: 1 })
    const [row] = await purchases(file)
    await refund(row?.paymentId ?? '', wallet.address)
    // A reorganization drops the refund: the buyer has neither file nor money.
    for (const status of ['confirmed', 'rolled_back', 'finalized'] as const) {
      await fixture.service.context.db
        .update(payment)
        .set({ status })
        .where(isNotNull(payment.refundOf))
      fixture.bff.context.upstream.forgetReads()
      expect(await failures()).toBe(status === 'rolled_back' ? 1 : 0)
    }
    // A hundred newer ones that went back hide no older one that did not.
    const open = createPaymentId()
    const returned = Array.from({ length: 100 }, () => createPaymentId())
    const { db } = fixture.bff.context
    for (const [index, paymentId] of [...returned, open].entries()) {
      const purchase = { paymentId, fileId: file.id, wallet: wallet.address, downloads: 0 }
      const failedAt = new Date(Date.now() - index * 60_000)
      await db.insert(filePurchase).values({ ...purchase, createdAt: failedAt, failedAt })
      await record({ sender: wallet.address, amount: PRICE, id: paymentId })
      if (paymentId !== open) await refund(paymentId, wallet.address)
    }
    expect(await failures()).toBe(1)
    // Those that went back are not asked about again.
    const listedOnly = and(isNotNull(filePurchase.failedAt), isNull(filePurchase.reportedAt))
    expect(await db.$count(filePurchase, listedOnly)).toBe(1)
  })

  test('gets an address that one request may read, within a minute', async () => {
    const file = await create({ source: TEXT })
    const bought = await buyer()
    await (await bought.buy(file)).text()
    const browser = await bought.signedIn()
    const url = addressIn(await ticketFor(browser, file))
    // Looking the address up uses nothing up.
    expect((await fetch(url, { method: 'HEAD' })).status).toBe(405)
    const both = await Promise.all([fetch(url), fetch(url)])
    expect(both.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 404])
    expect((await fetch(url)).status).toBe(404)
    const late = addressIn(await ticketFor(browser, file))
    files.ahead += 60_000
    expect((await fetch(late)).status).toBe(404)
    expect((await fixture.bff.context.db.select().from(fileTicket)).length).toBeLessThanOrEqual(1)
  })

  test('gets nothing at an address that was given before the refund of the payment was started', async () => {
    const file = await create({ source: TEXT })
    const bought = await buyer()
    await (await bought.buy(file)).text()
    await delivered(file)
    const url = addressIn(await ticketFor(await bought.signedIn(), file))
    const [row] = await purchases(file)
    await refund(row?.paymentId ?? '', bought.wallet.address)
    fixture.bff.context.upstream.forgetReads()
    const answer = await fetch(url)
    expect([answer.status, await answer.text()]).toEqual([404, expect.stringContaining('refund')])
    expect(await listed(file)).toMatchObject({ downloads: 1 })
  })

  test('owns it alone: no other wallet, no role and no visitor reads it', async () => {
    const file = await create({ source: TEXT })
    await (await (await buyer()).buy(file)).text()
    const stranger = await (await buyer()).signedIn()
    for (const browser of [stranger, shop])
      expect(problemOf(await ticketFor(browser, file))).toEqual([
        403,
        { reason: { code: 'file_not_paid', params: {} } },
      ])
    expect((await ticketFor(fixture.browser(), file)).status).toBe(401)
    expect(await stranger.post('/api/files/open', { code: file.code })).toMatchObject({
      json: { paid: false },
    })
  })

  test('keeps it when the merchant takes other wallets and no longer that token', async () => {
    const file = await create({ source: TEXT })
    const bought = await buyer()
    await (await bought.buy(file)).text()
    const { config } = fixture.bff.context
    const before = { ...config }
    onTestFinished(() => void Object.assign(config, before))
    const networks = [{ ...tokens.network, assets: tokens.network.assets.slice(0, 1) }]
    Object.assign(config, { sellerWallets: [evmWallet().address], networks })
    const answer = await ticketFor(await bought.signedIn(), file)
    expect(await (await fetch(addressIn(answer))).text()).toBe(CONTENT)
  })

  test('does not own it for a smaller payment that names it, nor for one of another file', async () => {
    const file = await create({ source: TEXT })
    const poor = await buyer()
    const resource = `${PUBLIC_URL}/api/file/${file.code}`
    await record({ sender: poor.wallet.address, amount: PRICE - 1n, resource })
    await record({ sender: poor.wallet.address, amount: PRICE, resource: `${resource}x` })
    const browser = await poor.signedIn()
    expect((await ticketFor(browser, file)).status).toBe(403)
    await record({ sender: poor.wallet.address, amount: PRICE, resource })
    files.ahead += 1_100
    expect((await ticketFor(browser, file)).status).toBe(200)
  })
})

/** A payment to the seller in the service's ledger. */
async function record(facts: Partial<PaymentRecord> & { sender: string; amount: bigint }) {
  const { address, symbol, decimals } = tokens.usdc
  await insertPayment(fixture.service.context.db, {
    id: createPaymentId(),
    accountId: fixture.accountId,
    mode: 'local',
    status: 'confirmed',
    network: NETWORK,
    asset: address,
    symbol,
    decimals,
    recipient: seller.address,
    ...facts,
  })
}

/** The service's ledger says that all of a payment went back, or is on its way. */
const refund = (
  refundOf: string,
  recipient: string,
  status: 'finalized' | 'pending' = 'finalized',
) => record({ sender: seller.address, recipient, amount: PRICE, refundOf, status })
