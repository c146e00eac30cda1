import { setTimeout as sleep } from 'node:timers/promises'
import { eq } from 'drizzle-orm'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { EVENT_KINDS } from '#contract/event.ts'
import { createPaymentId, type PaymentStatus } from '#contract/payment.ts'
import type { Database } from '#postgres/open.ts'
import { evmWallet } from '#testing/test-browser.ts'
import { createTestDatabase, type TestDatabase } from '#testing/postgres.ts'
import {
  createTestKey,
  insertTestPayment,
  startTestApp,
  type TestApp,
} from '#testing/service-app.ts'
import { SocketClient } from '#testing/socket-client.ts'
import { event, payment } from '../../db/schema/payment.ts'
import { changePlan } from '../../keys/accounts.ts'
import { revokeKey } from '../../keys/manage-keys.ts'
import { examples } from '../../openapi/examples.ts'
import { recordEvent } from '../../db/record-event.ts'
import { lastEventId } from '../../events/read.ts'

describe('the event stream', () => {
  let database: TestDatabase
  let app: TestApp
  let db: Database
  let owner: Awaited<ReturnType<typeof createTestKey>>

  beforeAll(async () => {
    database = await createTestDatabase('postgres', 'service')
    app = await startTestApp({
      target: database.target,
      limits: { authenticateWithinMs: 1_500 },
      readPayment,
    })
    db = app.context.db
    owner = await createTestKey(db)
  })
  afterAll(async () => {
    await app?.[Symbol.asyncDispose]()
    await database?.[Symbol.asyncDispose]()
  })

  async function readPayment(
    paymentId: string,
  ): ReturnType<NonNullable<Parameters<typeof startTestApp>[0]['readPayment']>> {
    const rows = await db
      .select()
      .from(event)
      .where(eq(event.paymentId, paymentId))
      .orderBy(event.id)
    const [row] = await db.select().from(payment).where(eq(payment.id, paymentId))
    const events = rows.map((each) => ({
      status: each.status,
      at: each.at.getTime(),
      blockHeight: each.blockHeight,
      source: each.source,
    }))
    return { ...examples.paymentStatus.reply, paymentId, status: row?.status ?? 'created', events }
  }
  const wallets = { recipient: examples.paymentStatus.reply.recipient }

  async function createPayment(
    facts: { accountId?: string; sender?: string; recipient?: string } = {},
  ): Promise<string> {
    const id = createPaymentId()
    await insertTestPayment(db, { id, accountId: owner.accountId, ...facts })
    return id
  }
  async function record(
    paymentId: string,
    status: PaymentStatus,
    accountId = owner.accountId,
  ): Promise<void> {
    await db.transaction((tx) =>
      recordEvent(tx, {
        accountId,
        paymentId,
        status,
        source: 'watcher',
        blockHeight: 1,
        at: new Date(),
      }),
    )
  }

  test('a status change arrives live, with the status it had then, and only at its own account', async () => {
    const stranger = await createTestKey(db)
    const mine = new SocketClient(app)
    const subscribed = await mine.enter(owner.key, ['payments'])
    const theirs = new SocketClient(app)
    await theirs.enter(stranger.key, ['payments'])
    expect(subscribed).toMatchObject({
      keys: ['payments'],
      lastEventId: expect.stringMatching(/^\d+$/),
    })
    const id = await createPayment()
    for (const status of ['created', 'pending', 'confirmed'] as const) await record(id, status)
    await expect.poll(() => mine.events().length).toBe(3)
    expect(mine.events().map(({ status, events }) => [status, events?.length])).toEqual([
      ['created', 1],
      ['pending', 2],
      ['confirmed', 3],
    ])
    const foreign = await createPayment({ accountId: stranger.accountId })
    await record(foreign, 'created', stranger.accountId)
    await expect.poll(() => theirs.events().length).toBe(1)
    expect(mine.events().length).toBe(3)
    await Promise.all([mine.end(), theirs.end()])
  })

  test('a wallet key brings what this wallet sent or received; unsubscribe ends it', async () => {
    const wallet = '0x90F79bf6EB2c4f870365E785982E1f101E93b906'
    const client = new SocketClient(app)
    expect(await client.enter(owner.key, [wallet.toLowerCase()])).toMatchObject({ keys: [wallet] })
    const [sent, received, other] = [
      await createPayment({ sender: wallet }),
      await createPayment({ recipient: wallet }),
      await createPayment(),
    ]
    for (const id of [other, sent, received]) await record(id, 'created')
    await expect
      .poll(() => client.events().map((message) => message.paymentId))
      .toEqual([sent, received])
    await client.say({ method: 'unsubscribe', keys: [wallet] })
    expect(await client.hear('unsubscribed')).toMatchObject({ keys: [] })
    const before = await lastEventId(db, owner.accountId)
    await record(sent, 'pending')
    // An event that has no number yet is new to a subscription that is made now.
    await expect.poll(() => lastEventId(db, owner.accountId)).toBe(before + 1n)
    await client.say({ method: 'subscribe', keys: ['payments'] })
    await expect
      .poll(() => client.messages.filter(({ type }) => type === 'subscribed').length)
      .toBe(2)
    await record(received, 'pending')
    await expect.poll(() => client.events().length).toBe(3)
    expect(client.events().at(-1)).toMatchObject({ paymentId: received, status: 'pending' })
    await client.end()
  })

  test('nothing is lost and nothing comes twice: many writers, a client that breaks off again and again', async () => {
    const first = new SocketClient(app)
    const start = (await first.enter(owner.key, ['payments'])).lastEventId ?? ''
    const ids = await Promise.all(Array.from({ length: 12 }, () => createPayment()))
    const writers = ids.map(async (id, index) => {
      for (const status of ['created', 'pending', 'confirmed', 'finalized'] as const) {
        await sleep((index * 17) % 61)
        await db.transaction(async (tx) => {
          await recordEvent(tx, {
            accountId: owner.accountId,
            paymentId: id,
            status,
            source: 'watcher',
            blockHeight: null,
            at: new Date(),
          })
          // Slow and quick transactions overlap: the quick one's event is read before the slow one's, which has a smaller id.
          await sleep(index % 3 === 0 ? 15 : 0)
        })
      }
    })
    const heard: string[] = []
    const seen: string[] = []
    let client = first
    let breaks = 0
    while (heard.length < 48) {
      await expect.poll(() => client.events().length).toBeGreaterThan(0)
      await client.end()
      // What came after the tenth is thrown away, as by a client that died before it looked at it.
      for (const { id, paymentId, status } of client.events().slice(0, 10)) {
        heard.push(id ?? '')
        seen.push(`${paymentId} ${status}`)
      }
      breaks++
      client = new SocketClient(app)
      await client.enter(owner.key, ['payments'], heard.at(-1) ?? start)
    }
    await Promise.all(writers)
    await client.end()
    expect(client.events()).toEqual([])
    expect(breaks).toBeGreaterThanOrEqual(5)
    expect(heard).toEqual([...heard].sort((a, b) => Number(a) - Number(b)))
    expect(new Set(heard).size).toBe(48)
    expect(new Set(seen)).toEqual(
      new Set(
        ids.flatMap((id) =>
          ['created', 'pending', 'confirmed', 'finalized'].map((status) => `${id} ${status}`),
        ),
      ),
    )
  })

  test('a page of events takes as many statements as one event', async () => {
    const client = new SocketClient(app)
    const start = (await client.enter(owner.key, ['payments'])).lastEventId
    const ids = await Promise.all(Array.from({ length: 50 }, () => createPayment()))
    for (const status of ['created', 'pending'] as const)
      for (const id of ids) await record(id, status)
    await expect.poll(() => client.events().length).toBe(100)
    await client.end()

    const queries = vi.spyOn(pg.Client.prototype, 'query')
    onTestFinished(() => queries.mockRestore())
    const resumed = new SocketClient(app)
    await resumed.enter(owner.key, ['payments'], start)
    await expect.poll(() => resumed.events().length).toBe(100)
    const counted = queries.mock.calls.filter((call) => JSON.stringify(call[0]).includes('earlier'))
    expect(counted.length).toBe(1)
    expect(resumed.events()).toEqual(client.events())
    await resumed.end()
  })

  test('verifications and settlements have keys of their own, and a wallet brings all three', async () => {
    const { address: wallet } = evmWallet()
    const [proofs, wallets] = [new SocketClient(app), new SocketClient(app)]
    expect(await proofs.enter(owner.key, ['verifications', 'settlements'])).toMatchObject({
      keys: ['verifications', 'settlements'],
    })
    await wallets.enter(owner.key, [wallet])
    const [id, other] = [await createPayment({ recipient: wallet }), await createPayment()]
    const facts = {
      accountId: owner.accountId,
      status: 'confirmed',
      source: 'service',
      blockHeight: 1,
      at: new Date(),
    } as const
    for (const paymentId of [other, id]) {
      for (const kind of EVENT_KINDS)
        await db.transaction((tx) => recordEvent(tx, { ...facts, kind, paymentId }))
    }
    await expect
      .poll(() => proofs.events('settlement').map(({ paymentId, status }) => [paymentId, status]))
      .toEqual([other, id].map((each) => [each, 'confirmed']))
    expect(proofs.events('verification').map(({ paymentId }) => paymentId)).toEqual([other, id])
    expect(proofs.events('payment')).toEqual([])
    await expect
      .poll(() =>
        EVENT_KINDS.flatMap((kind) =>
          wallets.events(kind).map(({ type, paymentId }) => [type, paymentId]),
        ),
      )
      .toEqual(EVENT_KINDS.map((kind) => [kind, id]))
    await Promise.all([proofs.end(), wallets.end()])
  })

  test('events of drafts reach no reader, hold up no position, and come with the payment once there is evidence', async () => {
    const client = new SocketClient(app)
    const start = (await client.enter(owner.key, ['payments'])).lastEventId
    const [draft, own] = [await createPayment(), await createPayment()]
    await db.update(payment).set({ draft: true }).where(eq(payment.id, draft))
    await record(draft, 'created')
    const position = new SocketClient(app)
    expect(await position.enter(owner.key, ['payments', wallets.recipient])).toMatchObject({
      lastEventId: start,
    })
    await record(draft, 'expired')
    await record(own, 'created')
    await expect.poll(() => client.events().length).toBe(1)
    const resumed = new SocketClient(app)
    await resumed.enter(owner.key, ['payments', wallets.recipient], start)
    for (const reader of [client, position, resumed]) {
      await expect.poll(() => reader.events().map(({ paymentId }) => paymentId)).toEqual([own])
    }

    await db.update(payment).set({ draft: false }).where(eq(payment.id, draft))
    await record(draft, 'confirmed')
    for (const reader of [client, position, resumed]) {
      await expect
        .poll(() => reader.events().map(({ paymentId, status }) => [paymentId, status]))
        .toEqual([
          [own, 'created'],
          [draft, 'confirmed'],
        ])
    }
    expect(client.events().at(-1)?.events).toMatchObject([
      { status: 'created' },
      { status: 'expired' },
      { status: 'confirmed' },
    ])
    const late = new SocketClient(app)
    await late.enter(owner.key, ['payments'], start)
    await expect
      .poll(() => late.events().map(({ status }) => status))
      .toEqual(['created', 'expired', 'created', 'confirmed'])
    await Promise.all([client, position, resumed, late].map((reader) => reader.end()))
  })

  test('a position ahead of the newest event hides nothing', async () => {
    const client = new SocketClient(app)
    await client.enter(owner.key, ['payments'], '999999999999')
    await record(await createPayment(), 'created')
    await expect.poll(() => client.events().length).toBe(1)
    await client.end()
  })

  test('who does not authenticate in time, or with a wrong key, is closed', async () => {
    const silent = new SocketClient(app)
    await expect.poll(() => silent.closed).toMatchObject({ code: 4401 })
    const wrong = new SocketClient(app)
    await wrong.say({ method: 'authenticate', apiKey: `${owner.key.slice(0, -1)}_` })
    await expect.poll(() => wrong.closed).toMatchObject({ code: 4401 })
    expect(wrong.messages).toEqual([
      { type: 'error', code: 'UNAUTHORIZED', message: 'The API key is missing or not valid.' },
    ])
    const early = new SocketClient(app)
    await early.say({ method: 'subscribe', keys: ['payments'] })
    await expect.poll(() => early.closed).toMatchObject({ code: 4401 })
  })

  test('a key without payment:read may not subscribe', async () => {
    const weak = await createTestKey(db, { scopes: ['token:read'] })
    const client = new SocketClient(app)
    await client.say({ method: 'authenticate', apiKey: weak.key })
    await client.hear('authenticated')
    await client.say({ method: 'subscribe', keys: ['payments'] })
    expect(await client.hear('error')).toMatchObject({ code: 'FORBIDDEN' })
    await client.end()
  })

  test.each([
    ['not JSON', 'hello', 'Expected well-formed JSON.'],
    [
      'an unknown method',
      { method: 'dance' },
      'method: Expected one of authenticate, subscribe, unsubscribe, received "dance".',
    ],
    [
      'a list',
      [],
      'method: Expected one of authenticate, subscribe, unsubscribe, received nothing.',
    ],
    ['no keys', { method: 'subscribe' }, 'keys: Expected an array, received nothing.'],
    [
      'an empty list of keys',
      { method: 'unsubscribe', keys: [] },
      'keys: Expected at least one key.',
    ],
    [
      'a position that is no id',
      { method: 'subscribe', keys: ['payments'], since: 'x' },
      'since: Expected the id of an event.',
    ],
    [
      'a misspelt field',
      { method: 'subscribe', keys: ['payments'], sinse: '1' },
      'sinse: Unknown field. Did you mean since?',
    ],
    [
      'an unknown key',
      { method: 'subscribe', keys: ['everything'] },
      'keys: Expected payments, verifications, settlements, refundRequests, or a wallet address, received "everything".',
    ],
    [
      'a second authentication',
      { method: 'authenticate', apiKey: 'x' },
      'This connection is authenticated already.',
    ],
  ])('%s is answered with an error and the connection stays', async (_, request, message) => {
    const client = new SocketClient(app)
    await client.enter(owner.key, ['payments'])
    await client.say(request)
    expect(await client.hear('error')).toMatchObject({
      code: 'INVALID_PARAMETERS',
      message: typeof message === 'string' ? message : expect.stringMatching(message),
    })
    expect(client.closed).toBeUndefined()
    await client.end()
  })

  test("a plan's connections are counted, and a connection that ends gives its place back", async () => {
    const { key } = await createTestKey(db, { plan: 'standard' })
    const clients = Array.from({ length: 6 }, () => new SocketClient(app))
    for (const client of clients) await client.say({ method: 'authenticate', apiKey: key })
    await expect.poll(() => clients.filter((client) => client.closed?.code === 4429).length).toBe(1)
    const open = clients.filter((client) => !client.closed)
    expect(open.length).toBe(5)
    await open[0]?.end()
    await expect
      .poll(async () => {
        const next = new SocketClient(app)
        await next.say({ method: 'authenticate', apiKey: key })
        await expect.poll(() => next.messages.length).toBe(1)
        open.push(next)
        return next.messages[0]?.type
      })
      .toBe('authenticated')
    await Promise.all(open.map((client) => client.end()))
  })

  test('a client that sends faster than its plan is closed', async () => {
    const { key } = await createTestKey(db, { plan: 'standard' })
    const client = new SocketClient(app)
    await client.enter(key, ['payments'])
    for (let index = 0; index < 60; index++)
      await client.say({ method: 'unsubscribe', keys: ['payments'] })
    await expect.poll(() => client.closed).toMatchObject({ code: 4429 })
  })

  test('a revoked key ends its connections', async () => {
    const revoked = await createTestKey(db)
    const client = new SocketClient(app)
    await client.enter(revoked.key, ['payments'])
    await revokeKey(db, revoked.id, new Date())
    await expect.poll(() => client.closed).toMatchObject({ code: 4401 })
  })

  test('an account that may no longer read payments hears of none', async () => {
    const [taken, kept] = [await createTestKey(db), await createTestKey(db)]
    const [client, other] = [new SocketClient(app), new SocketClient(app)]
    await client.enter(taken.key, ['payments'])
    await other.enter(kept.key, ['payments'])
    const plan = 'premium' as const
    const { accountId } = taken
    await changePlan(db, { accountId: kept.accountId, plan, scopes: ['payment:read'] })
    await changePlan(db, { accountId, plan, scopes: ['token:read'] })
    await expect.poll(() => client.closed).toMatchObject({ code: 4401 })
    expect(other.closed).toBeUndefined()
  })
})

describe('two processes', () => {
  test('a client hears of events that another process wrote, also after its database connections broke', async () => {
    await using database = await createTestDatabase('postgres', 'service')
    await using reader = await startTestApp({ target: database.target })
    await using writer = await startTestApp({ target: database.target })
    const { accountId, key } = await createTestKey(writer.context.db)
    const paymentId = createPaymentId()
    await insertTestPayment(writer.context.db, { id: paymentId, accountId })
    const client = new SocketClient(reader)
    await client.enter(key, ['payments'])
    const record = (status: PaymentStatus) =>
      writer.context.db.transaction((tx) =>
        recordEvent(tx, {
          accountId,
          paymentId,
          status,
          source: 'watcher',
          blockHeight: null,
          at: new Date(),
        }),
      )
    await record('created')
    await expect.poll(() => client.events().length).toBe(1)
    await writer.context.db.execute(
      "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'paydesk-service-listen' and datname = current_database()",
    )
    await record('pending')
    await expect.poll(() => client.events().length).toBe(2)
    await client.end()
  })
})

describe('a client that does not read', () => {
  test('is closed instead of being buffered for', async () => {
    await using database = await createTestDatabase('pglite', 'service')
    await using app = await startTestApp({
      target: database.target,
      limits: { sendWithinMs: 300 },
      readPayment: async (paymentId) => ({
        ...examples.paymentStatus.reply,
        paymentId,
        metadata: { fill: 'x'.repeat(200_000) },
      }),
    })
    const { accountId, key } = await createTestKey(app.context.db)
    const paymentId = createPaymentId()
    await insertTestPayment(app.context.db, { id: paymentId, accountId })
    const client = new SocketClient(app)
    await client.enter(key, ['payments'])
    client.ws.pause()
    await app.context.db.insert(event).values(
      Array.from({ length: 400 }, () => ({
        accountId,
        paymentId,
        status: 'pending' as const,
        source: 'watcher' as const,
        at: new Date(),
      })),
    )
    await app.context.db.transaction((tx) =>
      recordEvent(tx, {
        accountId,
        paymentId,
        status: 'confirmed',
        source: 'watcher',
        blockHeight: null,
        at: new Date(),
      }),
    )
    const sockets = async () =>
      /^websocket_connections (\d+)$/m.exec(
        await (await fetch(`${app.internalUrl}/metrics`)).text(),
      )?.[1]
    await expect.poll(sockets).toBe('0')
    client.ws.resume()
    await expect.poll(() => client.closed !== undefined).toBe(true)
    expect(client.events().length).toBeLessThan(401)
  })
})
