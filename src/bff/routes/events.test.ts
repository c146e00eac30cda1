import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { desc, eq } from 'drizzle-orm'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { createId, type PaymentStatus } from '#contract/payment.ts'
import { recordEvent } from '#service/db/record-event.ts'
import { event, payment, unmatchedTransfer } from '#service/db/schema/payment.ts'
import { Fixture } from '#testing/fixture.ts'
import { evmWallet, type TestBrowser, type TestWallet } from '#testing/test-browser.ts'
import type { EventReader } from '#testing/event-reader.ts'
import { session } from '../db/schema.ts'
import { findSessions, insertSessionPayment } from '../db/sessions.ts'
import { Streams } from '../events/streams.ts'
import { toOpenSession } from '../session/open-session.ts'

const operatorWallet = evmWallet()
const RING = 40

let fixture: Fixture
let operator: TestBrowser
let seller: TestBrowser
let sellerWallet: TestWallet
const readers: EventReader[] = []

beforeAll(async () => {
  fixture = await Fixture.open({
    bff: { operatorWallets: [operatorWallet.address] },
    overrides: { heartbeatMs: 200, ringCapacity: RING },
  })
})
afterAll(() => fixture?.[Symbol.asyncDispose]())
beforeEach(async () => {
  operator = fixture.browser()
  seller = fixture.browser()
  sellerWallet = evmWallet()
  await operator.signIn(operatorWallet)
  await seller.signIn(sellerWallet)
})
afterEach(() => {
  for (const reader of readers.splice(0)) reader.close()
})

async function open(browser: TestBrowser, lastEventId?: string): Promise<EventReader> {
  const reader = browser.events(lastEventId)
  readers.push(reader)
  await expect.poll(() => reader.status).toBe(200)
  if (lastEventId === undefined) await expect.poll(() => reader.lastEventId).toBeDefined()
  return reader
}

/**
 * Moves one payment to the seller through these states. Returns what a reader must have received.
 */
async function pay(statuses: PaymentStatus[] = ['pending', 'confirmed']): Promise<string[]> {
  const id = await fixture.createPayment({ recipient: sellerWallet.address })
  for (const status of statuses) await fixture.move(id, status)
  return ['created', ...statuses].map((status) => `${id} ${status}`)
}

function lastBeat(reader: EventReader): string | undefined {
  return reader.raw
    .match(/event: beat\ndata: .*/g)
    ?.at(-1)
    ?.split('data: ')[1]
}

async function hears(reader: EventReader, told: string[]): Promise<void> {
  await expect.poll(() => reader.told.length).toBeGreaterThanOrEqual(told.length)
  expect(reader.told).toEqual(told)
  const ids = reader.payments.map(({ id }) => BigInt(id))
  expect(ids).toEqual(ids.toSorted((a, b) => (a < b ? -1 : 1)))
  for (const { id, data } of reader.payments) expect(data.id).toBe(id)
}

test('the stream has the security headers of every other answer', async () => {
  const abort = new AbortController()
  const { headers } = await fetch(`${fixture.bff.url}/api/events`, {
    headers: seller.headers(),
    signal: abort.signal,
  })
  abort.abort()
  expect(Object.fromEntries(headers)).toMatchObject({
    'cache-control': 'no-store, no-transform',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
    'cross-origin-resource-policy': 'same-origin',
    'referrer-policy': 'no-referrer',
    'strict-transport-security': 'max-age=31536000',
    vary: 'Origin',
    'x-content-type-options': 'nosniff',
  })
})

test('a wallet gets events of its payments only, the operator of all, in order and once', async () => {
  const [mine, all] = [await open(seller), await open(operator)]
  expect(mine.raw).toMatch(/^retry: \d+\n\nid: \d+\nevent: beat\ndata: \{"live":true\}\n\n/)
  const first = await pay()
  const other = await fixture.createPayment({})
  const second = await pay(['pending'])
  await hears(mine, [...first, ...second])
  await hears(all, [...first, `${other} created`, ...second])
})

test('who of the account assigned a transfer, and the note about it, reach people of the account alone', async () => {
  const [mine, all] = [await open(seller), await open(operator)]
  const paymentId = await fixture.createPayment({ recipient: sellerWallet.address })
  const { db } = fixture.service.context
  const [order] = await db.select().from(payment).where(eq(payment.id, paymentId))
  if (!order) throw new Error('no order')
  const { accountId, network, sender, recipient, asset, symbol, decimals, amount } = order
  const terms = { accountId, network, sender, recipient, asset, symbol, decimals, amount }
  await db.insert(unmatchedTransfer).values({
    ...terms,
    id: createId('umt'),
    signature: `0x${'7'.repeat(64)}`,
    blockHeight: 1,
    assignedPaymentId: paymentId,
    assignedBy: operatorWallet.address,
    assignedAt: new Date(),
    assignedNote: 'She called.',
  })
  await fixture.move(paymentId, 'pending')
  const told = [`${paymentId} created`, `${paymentId} pending`]
  await hears(mine, told)
  await hears(all, told)
  const read = (browser: TestBrowser) => browser.get(`/api/payment/status/${paymentId}`)
  for (const text of [all.raw, (await read(operator)).text])
    expect(text).toContain(`"by":"${operatorWallet.address}"`)
  for (const text of [mine.raw, (await read(seller)).text]) {
    expect(text).toContain('"by":null')
    expect(text).not.toContain(operatorWallet.address)
    expect(text).not.toContain('She called.')
  }
})

test('a stream continues after the last event its reader saw', async () => {
  const first = await open(seller)
  const told = await pay()
  await hears(first, told)
  first.close()
  const missed = [...(await pay()), ...(await pay(['pending']))]
  const after = await open(seller, first.lastEventId)
  const live = await pay([])
  await hears(after, [...missed, ...live])
  const middle = await open(seller, first.payments[0]?.id)
  await hears(middle, [...told.slice(1), ...missed, ...live])
})

test('a client that cannot set the header names its position in the query', async () => {
  const first = await open(seller)
  const told = await pay()
  await hears(first, told)
  const answer = await fetch(`${fixture.bff.url}/api/events?lastEventId=${first.payments[0]?.id}`, {
    headers: seller.headers(),
  })
  const text = new TextDecoder()
  let received = ''
  for await (const chunk of answer.body as AsyncIterable<Uint8Array>) {
    received += text.decode(chunk)
    if (received.split('event: payment').length > 2) break
  }
  expect(received).toContain(`id: ${first.payments[1]?.id}\nevent: payment\n`)
  expect(received).not.toContain(`id: ${first.payments[0]?.id}\nevent: payment\n`)
  expect((await seller.get('/api/events?lastEventId=-1')).status).toBe(400)
})

test('a draft reaches no stream and holds up none that resumes; its maker reads it by its id', async () => {
  const before = await open(operator)
  const told = await pay()
  await hears(before, told)
  await fixture.stopBff()
  const missed = await pay()
  const maker = fixture.browser()
  const draft = await fixture.createPayment({ recipient: sellerWallet.address, draft: true })
  await fixture.startBff()
  // The drafts are the newest events when the ring begins.
  const after = await open(operator, before.lastEventId)
  await hears(after, missed)
  await fixture.move(draft, 'expired')
  const live = await pay()
  await hears(after, [...missed, ...live])

  await maker.signIn(evmWallet())
  expect((await maker.get(`/api/payment/status/${draft}`)).status).toBe(404)
  const [own] = await fixture.bff.context.db
    .select()
    .from(session)
    .orderBy(desc(session.createdAt))
    .limit(1)
  await insertSessionPayment(fixture.bff.context.db, { sessionId: own?.id ?? '', paymentId: draft })
  expect((await maker.get(`/api/payment/status/${draft}`)).json).toMatchObject({
    paymentId: draft,
    status: 'expired',
    draft: true,
  })
})

test('a settlement, of which no stream tells, holds up none that resumes', async () => {
  const before = await open(operator)
  await hears(before, await pay())
  await fixture.stopBff()
  const missed = await pay()
  const [paymentId = ''] = missed[0]?.split(' ') ?? []
  const { db } = fixture.service.context
  await db.transaction((tx) =>
    recordEvent(tx, {
      kind: 'settlement',
      accountId: fixture.accountId,
      paymentId,
      status: 'confirmed',
      source: 'service',
      blockHeight: null,
      at: new Date(),
    }),
  )
  const numbers = () =>
    db.select({ number: event.number }).from(event).where(eq(event.kind, 'settlement'))
  await expect.poll(numbers).toEqual([{ number: expect.any(BigInt) }])
  await fixture.startBff()
  // It is the newest event when the ring begins.
  const after = await open(operator, before.lastEventId)
  await hears(after, missed)
  const live = await pay()
  await hears(after, [...missed, ...live])
})

test('over a restart of the proxy nothing is lost and nothing comes twice', async () => {
  const before = await open(seller)
  const idle = await open(operator)
  const told = await pay()
  await hears(before, told)
  await fixture.stopBff()
  await expect.poll(() => before.ended).toBe(true)
  const missed = [...(await pay()), ...(await pay())]
  await fixture.startBff()
  const [after, all] = [
    await open(seller, before.lastEventId),
    await open(operator, idle.lastEventId),
  ]
  const live = await pay()
  await hears(after, [...missed, ...live])
  await hears(all, [...missed, ...live])
})

test('over a restart of the service the streams stay open, nothing is lost and nothing comes twice', async () => {
  const reader = await open(seller)
  const told = await pay()
  await hears(reader, told)
  await fixture.stopService()
  expect((await seller.get('/api/payments')).json.error).toMatchObject({
    code: 'SERVICE_UNAVAILABLE',
    details: { reason: { code: 'unreachable', params: {} } },
  })
  // The stream is open but receives no events, and says so.
  await expect.poll(() => lastBeat(reader)).toBe('{"live":false}')
  await fixture.startService()
  const meanwhile = await pay()
  await expect.poll(() => lastBeat(reader)).toBe('{"live":true}')
  await expect.poll(() => fixture.bff.context.hub.state).toBe('live')
  await hears(reader, [...told, ...meanwhile, ...(await pay())])
  expect(reader.ended).toBe(false)
})

test('a client that missed more events than are stored is told once to reload, and resumes from there', async () => {
  const reader = await open(seller)
  const start = reader.lastEventId
  reader.close()
  const watching = await open(operator)
  const missed: string[] = []
  for (let index = 0; index < RING / 3 + 2; index++) missed.push(...(await pay()))
  // Streams opened from now on begin after all of these events.
  await hears(watching, missed)
  const all = await open(operator)
  const late = await open(seller, start)
  await expect.poll(() => late.events.map(({ event }) => event)).toEqual(['reset'])
  const live = await pay()
  await hears(late, live)
  await hears(all, live)
})

test('a position that the service never gave is told to read everything again', async () => {
  const reader = await open(seller, '900000000000000000')
  await expect.poll(() => reader.events.map(({ event }) => event)).toEqual(['reset'])
  await hears(reader, await pay())
})

test('a wallet that joins is heard of at once', async () => {
  const browser = fixture.browser()
  await browser.signIn(evmWallet())
  const reader = await open(browser)
  await browser.signIn(sellerWallet)
  await hears(reader, await pay())
})

test('a wallet that joins outlasts a look at the sessions that began before', async () => {
  const { hub, log, db, now, config } = fixture.bff.context
  const browser = fixture.browser()
  await browser.signIn(evmWallet())
  const [{ id } = { id: '' }] = await db.select().from(session).orderBy(desc(session.createdAt))
  const read = async () => {
    const rows = await findSessions(db, [id], now())
    return new Map(rows.map((row) => [row.id, toOpenSession(row, config.operatorWallets)]))
  }
  const [first, answered, ended] = [0, 0, 0].map(() => Promise.withResolvers<void>())
  let looks = 0
  const streams = new Streams({
    hub,
    log,
    heartbeatMs: 20,
    // The first look reads at once and is answered late; no later one is answered, which would correct it.
    standing: async () => {
      const isFirst = looks++ === 0
      const sessions = await read()
      if (isFirst) first?.resolve()
      await (isFirst ? answered : ended)?.promise
      return sessions
    },
  })
  const before = (await read()).get(id)
  if (!before) throw new Error('There is no session.')
  const server = createServer((_, response) =>
    streams.open(response, { session: before, address: '', position: undefined, spend: () => {} }),
  )
  try {
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const response = await fetch(`http://127.0.0.1:${port}`)
    let text = ''
    const reading = (async () => {
      for await (const piece of response.body ?? []) text += Buffer.from(piece).toString()
    })()
    await first?.promise
    await browser.signIn(sellerWallet)
    const joined = (await read()).get(id)
    expect(joined?.wallets).toContain(sellerWallet.address)
    if (joined) streams.refresh(joined)
    const beats = () => text.split('event: beat').length
    const count = beats()
    answered?.resolve()
    await expect.poll(beats).toBeGreaterThan(count)
    const [told = ''] = await pay()
    await expect.poll(() => text).toContain(told.split(' ')[0])
    streams.stop()
    await reading
  } finally {
    streams.stop()
    ended?.resolve()
    server.close()
  }
})

test('a stream ends with its session: by signing out here, or in another process', async () => {
  const first = await open(seller)
  await seller.delete('/api/session')
  await expect.poll(() => first.ended).toBe(true)
  expect((await seller.get('/api/events')).status).toBe(401)

  const second = await open(operator)
  await fixture.bff.context.db.delete(session)
  await expect.poll(() => second.ended).toBe(true)
})

test('one session has at most 5 streams', async () => {
  for (let index = 0; index < 5; index++) await open(seller)
  const sixth = seller.events()
  readers.push(sixth)
  await expect.poll(() => sixth.status).toBe(429)
  readers.shift()?.close()
  await expect.poll(() => fixture.bff.context.streams.size).toBe(4)
  await open(seller)
})

test('a reader that reads nothing keeps nobody else waiting, and costs no memory beyond its socket', async () => {
  const [stuck, lively] = [await open(seller), await open(seller)]
  stuck.pause()
  const told: string[] = []
  for (let index = 0; index < 20; index++) told.push(...(await pay()))
  await hears(lively, told)
})
