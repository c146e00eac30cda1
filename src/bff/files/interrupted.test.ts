import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { eq } from 'drizzle-orm'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { filePurchase } from '#bff/db/schema.ts'
import type { FileBody } from '#contract/file-endpoints.ts'
import { claim } from '#service/db/schema/proof.ts'
import { createWallet } from '#service/wallets/create-wallet.ts'
import {
  afterProbe,
  CONTENT,
  KEY,
  openSource,
  sendBeginning,
  serveRanges,
  type FileServer,
} from '#testing/file-source.ts'
import { Fixture } from '#testing/fixture.ts'
import { startEvm, type EvmFixture } from '#testing/local-chains.ts'
import { eventually } from '#testing/service-context.ts'
import { evmWallet, type TestBrowser } from '#testing/test-browser.ts'
import { deployTokens, evmPayer, payInvoice, type EvmTokens } from '#testing/token-payers.ts'
import { extendSendings, settleLostDeliveries } from './deliver.ts'

/** Programs whose paid download ends with the process that sends it, by its stop or by a crash. */

const PUBLIC_URL = 'https://files.example'

const seller = evmWallet()
const folder = mkdtempSync(join(tmpdir(), 'paydesk-files-'))
let evm: EvmFixture
let tokens: EvmTokens
let source: FileServer
let fixture: Fixture
let shop: TestBrowser
let miner: NodeJS.Timeout | undefined
let ahead = 0

beforeAll(async () => {
  evm = await startEvm({ slotsInEpoch: 4 })
  tokens = await deployTokens(evm)
  source = await openSource()
  const secret = generatePrivateKey()
  const { address } = privateKeyToAccount(secret)
  await evm.client.setBalance({ address, value: 10n ** 18n })
  fixture = await Fixture.open({
    plan: 'premium',
    networks: [tokens.network],
    service: { facilitators: { allowed: [], loopback: true, wallets: [address] } },
    bff: {
      sellerWallets: [seller.address],
      operatorWallets: [seller.address],
      files: {
        publicUrl: PUBLIC_URL,
        keyFile: join(folder, 'source.key'),
        lostKeys: [],
        maxBytes: 10_000,
        loopback: true,
      },
    },
    overrides: { now: () => new Date(Date.now() + ahead) },
  })
  const wallet = {
    accountId: fixture.accountId,
    family: 'evm',
    name: 'Settlements',
    secret: Buffer.from(secret.slice(2), 'hex'),
  } as const
  await createWallet({ ...fixture.service.context, now: new Date() }, wallet)
  await fixture.registerPayee(seller.address)
  miner = setInterval(() => void evm.mine().catch(() => undefined), 100)
})
afterAll(async () => {
  clearInterval(miner)
  await fixture?.[Symbol.asyncDispose]()
  await source?.[Symbol.asyncDispose]()
  await evm?.[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true })
})
beforeEach(async () => {
  // What one address may ask in a minute is not what is tried.
  ahead += 61_000
  source.answer = serveRanges
  shop = fixture.browser()
  await shop.signIn({ ...seller, network: tokens.network.network })
})

/** A file on sale, and a program that presents one payment for it as often as it asks. */
async function sale() {
  const { status, json, text } = await shop.post('/api/files', {
    name: 'The guide',
    prices: [{ currency: 'USDC', amount: '1.5' }],
    source: {
      kind: 'https',
      url: source.url,
      credential: { type: 'header', name: 'X-Key', value: KEY },
    },
    page: 'http://localhost:4173/file',
  })
  if (status !== 200) throw new Error(text)
  const { id, code } = (json as unknown as { file: FileBody }).file
  const address = `${fixture.bff.url}/api/file/${code}`
  const account = privateKeyToAccount(generatePrivateKey())
  await tokens.fund(account.address)
  const { headers } = await fetch(address)
  const required = Buffer.from(headers.get('payment-required') ?? '', 'base64').toString()
  const [offer] = JSON.parse(required).accepts
  const url = `${PUBLIC_URL}/api/file/${code}`
  const proof = await payInvoice(evmPayer(evm, account), offer, { url })
  const purchases = async () =>
    fixture.bff.context.db.select().from(filePurchase).where(eq(filePurchase.fileId, id))
  return {
    present: () => fetch(address, { headers: { 'payment-signature': proof } }),
    paymentId: async () => (await purchases())[0]?.paymentId ?? '',
    delivered: () =>
      eventually(purchases, (rows) => rows.some(({ deliveredAt }) => deliveredAt !== null)),
    async listed() {
      const list = (await shop.get('/api/files')).json as unknown as { files: FileBody[] }
      return list.files.find((file) => file.id === id)
    },
  }
}

/** A download that waits for the rest of its file. */
async function beginDownload({ present }: Pick<Awaited<ReturnType<typeof sale>>, 'present'>) {
  source.answer = afterProbe(sendBeginning)
  const answer = await present()
  expect(answer.status).toBe(200)
  source.answer = serveRanges
  const ended = answer.text()
  // How it ends is looked at later.
  ended.catch(() => undefined)
  return { ended }
}

const inbox = async () => {
  const { json } = await shop.get('/api/undelivered')
  return json.payments.map(({ paymentId }) => paymentId)
}

describe('a program', () => {
  test('whose proxy ends while it sends is in the inbox, and gets the file later', async () => {
    const { present, delivered, paymentId } = await sale()
    await (await present()).text()
    await delivered()
    const id = await paymentId()
    // As a process leaves it that was killed while it sent.
    await fixture.bff.context.db
      .update(filePurchase)
      .set({ deliveredAt: null, downloads: 0, sendingUntil: new Date(0) })
      .where(eq(filePurchase.paymentId, id))
    await settleLostDeliveries(fixture.bff.context)
    expect(await inbox()).toContain(id)
    expect((await present()).status).toBe(200)
    await delivered()
    expect(await inbox()).not.toContain(id)
  })

  test('whose download a stop of the proxy ends gets the file right after, also where the service is slow', async () => {
    const { present, paymentId, delivered } = await sale()
    const { ended } = await beginDownload({ present })
    const id = await paymentId()
    const [held, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const slow = fixture.service.context.db.transaction(async (tx) => {
      await tx.select().from(claim).where(eq(claim.paymentId, id)).for('update')
      held.resolve()
      await released.promise
    })
    await held.promise
    await fixture.stopBff()
    await expect(ended).rejects.toThrow(TypeError)
    released.resolve()
    await slow
    await fixture.startBff()
    const next = await present()
    expect([next.status, await next.text()]).toEqual([200, CONTENT])
    await delivered()
  })

  test('alone is sent the file while its download runs, and a crash keeps it from the next try for two minutes', async () => {
    const { present, delivered, listed } = await sale()
    const { ended } = await beginDownload({ present })
    for (let minutes = 0; minutes < 5; minutes++) {
      ahead += 60_000
      await extendSendings(fixture.bff.context)
    }
    ahead += 119_000
    expect((await present()).status).toBe(409)
    // Nothing extends it any more, as where the process has crashed.
    ahead += 1_100
    const next = await present()
    expect([next.status, await next.text()]).toEqual([200, CONTENT])
    await extendSendings(fixture.bff.context)
    await expect(ended).rejects.toThrow(TypeError)
    await delivered()
    expect(await listed()).toMatchObject({ sales: 1, downloads: 1, undelivered: 0 })
  })
})
