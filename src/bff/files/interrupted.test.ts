import type { ServerResponse } from 'node:http'
import { eq } from 'drizzle-orm'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { filePurchase } from '#bff/db/schema.ts'
import { claim } from '#service/db/schema/proof.ts'
import { FileShop, PUBLIC_URL } from '#testing/file-shop.ts'
import {
  afterProbe,
  CONTENT,
  cutOff,
  KEY,
  openSource,
  sendBeginning,
  serveRanges,
  type FileServer,
} from '#testing/file-source.ts'
import { evmPayer, payInvoice } from '#testing/token-payers.ts'
import { extendSendings, settleLostDeliveries } from './deliver.ts'

/** Programs whose paid download ends with the process that sends it, by its stop or by a crash. */

let shop: FileShop
let source: FileServer

beforeAll(async () => {
  shop = await FileShop.open()
  source = await openSource()
})
afterAll(async () => {
  await shop?.[Symbol.asyncDispose]()
  await source?.[Symbol.asyncDispose]()
})
beforeEach(async () => {
  source.answer = serveRanges
  await shop.beginTest()
})

/** A file on sale, and a program that presents one payment for it as often as it asks. */
async function sale() {
  const file = await shop.create({
    source: {
      kind: 'https',
      url: source.url,
      credential: { type: 'header', name: 'X-Key', value: KEY },
    },
  })
  const address = shop.addressOf(file)
  const account = privateKeyToAccount(generatePrivateKey())
  await shop.tokens.fund(account.address)
  const { headers } = await fetch(address)
  const required = Buffer.from(headers.get('payment-required') ?? '', 'base64').toString()
  const [offer] = JSON.parse(required).accepts
  const url = `${PUBLIC_URL}/api/file/${file.code}`
  const proof = await payInvoice(evmPayer(shop.evm, account), offer, { url })
  return {
    present: () => fetch(address, { headers: { 'payment-signature': proof } }),
    paymentId: async () => (await shop.purchases(file))[0]?.paymentId ?? '',
    /** After the payer has signed in: an address under which the file can be read once. */
    downloadAddress: async () => {
      const browser = shop.fixture.browser()
      const { network } = shop.tokens.network
      const sign = (message: string) => account.signMessage({ message })
      await browser.signIn({ address: account.address, network, sign })
      const { json } = await browser.post('/api/files/download', { code: file.code })
      const { url: ticket } = json as unknown as { url: string }
      return ticket.replace(PUBLIC_URL, shop.fixture.bff.url)
    },
    delivered: () => shop.delivered(file),
    listed: () => shop.listed(file),
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

/** The service is away when the source has sent a part, and is back once the proxy has noted how the download ended. */
async function endWhileAway(
  download: () => Promise<Response>,
  end: (response: ServerResponse) => void,
): Promise<void> {
  const sent = Promise.withResolvers<ServerResponse>()
  source.answer = afterProbe((_, response) => {
    response.writeHead(200, { 'content-length': String(CONTENT.length) })
    response.write(CONTENT.slice(0, 3), () => sent.resolve(response))
  })
  const answer = await download()
  expect(answer.status).toBe(200)
  const ended = answer.text().catch(() => undefined)
  const response = await sent.promise
  await shop.fixture.stopService()
  end(response)
  await ended
  for (const { settled } of shop.fixture.bff.context.deliveries) await settled
  await shop.fixture.startService()
}

describe('a program', () => {
  test('whose proxy ends while it sends is in the inbox, and gets the file later', async () => {
    const { present, delivered, paymentId } = await sale()
    await (await present()).text()
    await delivered()
    const id = await paymentId()
    // As a process leaves it that was killed while it sent.
    await shop.fixture.bff.context.db
      .update(filePurchase)
      .set({ deliveredAt: null, downloads: 0, sendingUntil: new Date(0) })
      .where(eq(filePurchase.paymentId, id))
    await settleLostDeliveries(shop.fixture.bff.context)
    expect(await shop.inbox()).toContain(id)
    expect((await present()).status).toBe(200)
    await delivered()
    expect(await shop.inbox()).not.toContain(id)
  })

  test('whose download a stop of the proxy ends gets the file right after, also where the service is slow', async () => {
    const { present, paymentId, delivered } = await sale()
    const { ended } = await beginDownload({ present })
    const id = await paymentId()
    const [held, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const slow = shop.fixture.service.context.db.transaction(async (tx) => {
      await tx.select().from(claim).where(eq(claim.paymentId, id)).for('update')
      held.resolve()
      await released.promise
    })
    await held.promise
    await shop.fixture.stopBff()
    await expect(ended).rejects.toThrow(TypeError)
    released.resolve()
    await slow
    await shop.fixture.startBff()
    const next = await present()
    expect([next.status, await next.text()]).toEqual([200, CONTENT])
    await delivered()
  })

  test('whose download ends while the service is away is in the inbox afterwards, until it has the file', async () => {
    const { present, downloadAddress, paymentId } = await sale()
    await endWhileAway(present, (response) => response.destroy())
    const id = await paymentId()
    expect(await shop.inbox()).not.toContain(id)
    await settleLostDeliveries(shop.fixture.bff.context)
    expect(await shop.inbox()).toContain(id)

    const address = await downloadAddress()
    await endWhileAway(
      () => fetch(address),
      (response) => response.end(CONTENT.slice(3)),
    )
    expect(await shop.inbox()).toContain(id)
    await settleLostDeliveries(shop.fixture.bff.context)
    expect(await shop.inbox()).not.toContain(id)
  })

  test('whose downloads are cut again and again is reported to the service once', async () => {
    const { present, downloadAddress, paymentId } = await sale()
    source.answer = afterProbe(cutOff)
    const cut = async (download: Promise<Response>) => {
      await expect(download.then((answer) => answer.text())).rejects.toThrow(TypeError)
      for (const { settled } of shop.fixture.bff.context.deliveries) await settled
    }
    await cut(present())
    expect(await shop.inbox()).toContain(await paymentId())
    const told = vi.spyOn(shop.fixture.bff.context.upstream, 'write')
    for (let time = 0; time < 3; time++) await cut(fetch(await downloadAddress()))
    expect(told).not.toHaveBeenCalled()
    expect(await shop.inbox()).toContain(await paymentId())
  })

  test('alone is sent the file while its download runs, and a crash keeps it from the next try for two minutes', async () => {
    const { present, delivered, listed } = await sale()
    const { ended } = await beginDownload({ present })
    for (let minutes = 0; minutes < 5; minutes++) {
      shop.ahead += 60_000
      await extendSendings(shop.fixture.bff.context)
    }
    const { deliveries } = shop.fixture.bff.context
    shop.ahead += 90_000
    expect((await present()).status).toBe(409)
    // Nothing extends it any more, as where the process has crashed.
    const running = [...deliveries]
    deliveries.clear()
    shop.ahead += 120_000
    const next = await present()
    expect([next.status, await next.text()]).toEqual([200, CONTENT])
    for (const delivery of running) deliveries.add(delivery)
    await extendSendings(shop.fixture.bff.context)
    await expect(ended).rejects.toThrow(TypeError)
    await delivered()
    expect(await listed()).toMatchObject({ sales: 1, downloads: 1, undelivered: 0 })
  })
})
