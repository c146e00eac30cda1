import { Webhook } from 'standardwebhooks'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createId, type PaymentStatus } from '#contract/payment.ts'
import { ApiClient, at, listAt, succeed, textAt } from '#testing/api-client.ts'
import { backUp, putBack } from '#testing/database-copy.ts'
import { createTestDatabase } from '#testing/postgres.ts'
import {
  createTestKey,
  insertTestPayment,
  startTestApp,
  type TestApp,
} from '#testing/service-app.ts'
import { eventually } from '#testing/service-context.ts'
import { openTestSigner } from '#testing/test-signer.ts'
import { WebhookReceiver, type ReceivedWebhook } from '#testing/webhook-receiver.ts'
import { routes } from '../api/handlers.ts'
import { startEpoch } from '../db/deployment.ts'
import { event } from '../db/schema/payment.ts'
import { recordEvent } from '../db/record-event.ts'
import { examples } from '../openapi/examples.ts'
import { leaseWebhook, removeOldDeliveries } from '../db/webhooks.ts'
import { webhookDelivery, webhookEndpoint } from '../db/schema/webhook.ts'
import { deliverTo, pauseAfter, signMessage, type WebhookSender } from './deliver.ts'

const HOUR_MS = 3_600_000
const STATUSES: readonly PaymentStatus[] = ['created', 'pending', 'confirmed', 'finalized']

test('signatures are those of Standard Webhooks, in its own example and in any other', async () => {
  await using signer = openTestSigner()
  const cases = [
    {
      secret: 'MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
      id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      body: '{"test": 2432232314}',
    },
    ...['', '\u00e9 \u{1f600}', 'x'.repeat(20_000)].map((body, length) => ({
      secret: Buffer.alloc(32, length).toString('base64'),
      id: `evt_${length}`,
      body,
    })),
  ]
  const at = new Date(1_614_265_330_000)
  for (const { secret, id, body } of cases) {
    const seal = () =>
      signer.sealKey({ id: 'whs_1', accountId: 'acc_1', secret: Buffer.from(secret, 'base64') })
    const headers = await signMessage(signer, [await seal(), await seal()], { id, at, body })
    const right = new Webhook(secret).sign(id, at, body)
    expect(headers).toEqual({
      'webhook-id': id,
      'webhook-timestamp': '1614265330',
      'webhook-signature': `${right} ${right}`,
    })
  }
})

test('attempts are spread over three days, further and further apart', () => {
  let [ms, attempts] = [0, 0]
  while (ms < 72 * HOUR_MS) {
    attempts++
    const [least, most] = [pauseAfter(attempts, 0), pauseAfter(attempts, 1)]
    expect(least).toBeLessThan(most)
    expect(most).toBeLessThanOrEqual(5 * HOUR_MS)
    ms += (least + most) / 2
  }
  expect(attempts).toBeGreaterThan(20)
  expect(attempts).toBeLessThan(30)
})

describe('webhooks', () => {
  const START = Date.UTC(2026, 5, 1)
  let now = START
  let app: TestApp
  let receiver: WebhookReceiver
  let api: ApiClient
  let other: ApiClient
  let accountId: string
  let stack: AsyncDisposableStack

  beforeEach(async () => {
    now = START
    stack = new AsyncDisposableStack()
    receiver = stack.use(await WebhookReceiver.start())
    const database = stack.use(await createTestDatabase('postgres', 'service'))
    const signer = stack.use(openTestSigner())
    const config = {
      host: '127.0.0.1',
      port: 0,
      trustedProxyHops: 0,
      database: database.target,
      networks: [],
      logLevel: 'info' as const,
      signer: { socket: 'unused' },
      webhookLoopback: true,
    }
    app = stack.use(
      await startTestApp({
        target: database.target,
        routes,
        now: () => new Date(now),
        parts: { config, chains: new Map(), signer },
      }),
    )
    const key = await createTestKey(app.context.db)
    accountId = key.accountId
    api = new ApiClient(app.url, key.key)
    other = new ApiClient(app.url, (await createTestKey(app.context.db)).key)
  })
  afterEach(() => stack.disposeAsync())

  async function create(body: object = {}): Promise<{ id: string; secret: string }> {
    const reply = succeed(await api.post('/webhooks', { url: receiver.url, ...body }))
    return { id: textAt(reply.body, 'id'), secret: textAt(reply.body, 'secret') }
  }

  /** Payments that pass through these statuses, in turns; resolves when their events have numbers. */
  async function pass(payments: number, statuses = STATUSES): Promise<string[]> {
    const ids = Array.from({ length: payments }, () => createId('pay'))
    const { db } = app.context
    for (const id of ids) await insertTestPayment(db, { id, accountId })
    for (const status of statuses)
      for (const paymentId of ids)
        await db.transaction((tx) =>
          recordEvent(tx, {
            accountId,
            paymentId,
            status,
            source: 'watcher',
            blockHeight: null,
            at: new Date(now),
          }),
        )
    await numbered()
    return ids
  }

  async function numbered(): Promise<void> {
    await eventually(
      () => app.context.db.select({ number: event.number }).from(event),
      (rows) => rows.every(({ number }) => number !== null),
    )
  }

  /** Sends all that is due, as the worker does. */
  async function deliver(attemptMs = 500): Promise<void> {
    while ((await deliverOnce({ attemptMs })) !== undefined);
  }

  /** Sends to one endpoint for one turn. @returns when something is due again; undefined where nothing was */
  async function deliverOnce(
    times: Pick<WebhookSender, 'attemptMs' | 'turnMs'>,
  ): Promise<number | undefined> {
    const holder = crypto.randomUUID()
    const endpoint = await leaseWebhook(app.context.db, { holder, now: new Date(now) })
    if (!endpoint) return undefined
    const readPayment = async (paymentId: string) => ({
      ...examples.paymentStatus.reply,
      paymentId,
    })
    const { signal } = new AbortController()
    return deliverTo({ ...app.context, readPayment, holder, signal, ...times }, endpoint)
  }

  /** What a receiver relies on: every event, in the order of each payment, duplicates with one id. */
  function expectWhole(ids: readonly string[], statuses = STATUSES): void {
    const first = new Map<string, ReceivedWebhook>()
    for (const webhook of receiver.accepted)
      if (!first.has(webhook.id)) first.set(webhook.id, webhook)
    for (const id of ids)
      expect(
        [...first.values()].filter(({ paymentId }) => paymentId === id).map(({ type }) => type),
      ).toEqual(statuses.map((status) => `payment.${status}`))
    expect(first.size).toBe(ids.length * statuses.length)
  }

  const deliveries = async (id: string, query = '') =>
    listAt(succeed(await api.get(`/webhooks/${id}/deliveries${query}`)).body, 'deliveries') as {
      id: string
      cursor: string
      state: string
      attempts: number
      failure: string | null
      request: string | null
      response: { status: number; body: string } | null
    }[]

  test('each event comes once, in order, signed, and says which one came before it', async () => {
    const { id, secret } = await create()
    const ids = await pass(3)
    await deliver()
    expectWhole(ids)
    expect(receiver.received).toHaveLength(12)
    let previous: string | null = null
    const sorted = receiver.received.toSorted((a, b) => Number(a.cursor) - Number(b.cursor))
    for (const webhook of sorted) {
      expect(webhook.previous).toBe(previous)
      previous = webhook.cursor
      const [signed] = [webhook.headers['webhook-signature']]
      expect(signed).toBe(new Webhook(secret).sign(webhook.id, new Date(now), webhook.body))
    }
    expect((await deliveries(id))[0]).toMatchObject({
      id: sorted.at(-1)?.id,
      state: 'delivered',
      attempts: 1,
      failure: null,
      request: sorted.at(-1)?.body,
      response: { status: 200, body: 'answered 200' },
    })
  })

  test('a receiver that is down for a day loses nothing, and gets each payment in order', async () => {
    await create()
    receiver.answer = () => 503
    const ids = await pass(4)
    for (const end = now + 24 * HOUR_MS; now < end; now += HOUR_MS / 4) await deliver()
    expect(receiver.accepted).toEqual([])
    // Only the first event of a payment was attempted: the others wait behind it.
    expect(new Set(receiver.received.map(({ type }) => type))).toEqual(new Set(['payment.created']))
    receiver.answer = () => 200
    now += 5 * HOUR_MS
    await deliver()
    expectWhole(ids)
  })

  test('a receiver that fails every second request gets everything, and what is repeated has its id and its bytes', async () => {
    await create()
    let requests = 0
    receiver.answer = () => (requests++ % 2 === 0 ? 500 : 200)
    const ids = await pass(3)
    for (let round = 0; round < 40; round++) {
      await deliver()
      now += HOUR_MS
    }
    expectWhole(ids)
    const bodies = new Map<string, Set<string>>()
    for (const { id, body } of receiver.received)
      bodies.set(id, (bodies.get(id) ?? new Set()).add(body))
    expect([...bodies.values()].every(({ size }) => size === 1)).toBe(true)
    expect(receiver.received.length).toBeGreaterThan(bodies.size)
  })

  test('a receiver that hangs is asked again, and delays its payment alone', async () => {
    const { id } = await create()
    const ids = await pass(2)
    receiver.answer = ({ paymentId }) => (paymentId === ids[0] ? 'hang' : 200)
    await deliver()
    expect(receiver.accepted.map(({ paymentId }) => paymentId)).toEqual(STATUSES.map(() => ids[1]))
    expect((await deliveries(id, '?state=pending')).map(({ failure }) => failure)).toEqual([
      null,
      null,
      null,
      'no_answer',
    ])
    receiver.answer = () => 200
    now += HOUR_MS
    await deliver()
    expectWhole(ids)
  })

  test('of many payments at once, one that hangs delays no other', async () => {
    await create()
    const ids = await pass(40, ['created'])
    const held = Promise.withResolvers<number>()
    receiver.answer = ({ paymentId }) => (paymentId === ids[0] ? held.promise : 200)
    const delivering = deliver(600_000)
    await eventually(
      () => Promise.resolve(receiver.accepted.length),
      (accepted) => accepted === 39,
    )
    held.resolve(200)
    await delivering
    expectWhole(ids, ['created'])
    expect(receiver.received).toHaveLength(40)
  })

  test('an endpoint that hangs gives its place back after its turn, and is due again', async () => {
    const { id } = await create()
    const ids = await pass(40, ['created'])
    receiver.answer = () => 'hang'
    expect(await deliverOnce({ attemptMs: 300, turnMs: 100 })).toBe(now)
    expect(await deliveries(id, '?state=pending&limit=100')).toHaveLength(40)
    const asked = receiver.received.length
    expect(asked).toBeLessThanOrEqual(16)
    receiver.answer = () => 200
    await deliver()
    expect(receiver.accepted).toHaveLength(40 - asked)
    now += HOUR_MS
    await deliver()
    expectWhole(ids, ['created'])
  })

  test('after three days a delivery is dead, the next event goes on, and a range is delivered again in order', async () => {
    const { id } = await create()
    receiver.answer = () => 500
    const ids = await pass(1)
    for (const end = now + 90 * HOUR_MS; now < end; now += HOUR_MS) await deliver()
    const dead = await deliveries(id, '?state=dead')
    expect(dead.map(({ failure }) => failure)).toEqual(STATUSES.map(() => 'status'))
    expect(dead.at(-1)?.attempts).toBeGreaterThan(15)
    await create()
    const counts = async () =>
      listAt(succeed(await api.get('/webhooks')).body, 'webhooks').map((one) => [
        at(one, 'dead'),
        at(one, 'pending'),
      ])
    expect(await counts()).toEqual([
      [4, 0],
      [0, 0],
    ])
    const before = receiver.received.length
    now += HOUR_MS
    await deliver()
    expect(receiver.received).toHaveLength(before)

    receiver.answer = () => 200
    const range = { from: dead.at(-1)?.cursor, to: dead[0]?.cursor }
    const reply = await api.post(`/webhooks/${id}/redeliver`, range)
    expect(succeed(reply).body).toMatchObject({ deliveries: 4 })
    expect((await counts())[0]).toEqual([0, 4])
    await deliver()
    expectWhole(ids)
    // One that was delivered comes again with its id.
    const one = { from: range.to, to: range.to }
    succeed(await api.post(`/webhooks/${id}/redeliver`, one))
    await deliver()
    expect(receiver.accepted.at(-1)?.id).toBe(receiver.accepted.at(-2)?.id)
    expect(receiver.accepted).toHaveLength(5)
  })

  test('a redelivery that is asked for during an attempt is made after it, whatever comes of that attempt', async () => {
    const { id } = await create()
    for (const status of [200, 500]) {
      // The clock of these tests stands still: the redelivery has the time of the schedule.
      now += HOUR_MS
      const count = receiver.received.length
      const asked = Promise.withResolvers<void>()
      const answered = Promise.withResolvers<number>()
      receiver.answer = () => {
        asked.resolve()
        return receiver.received.length > count ? 200 : answered.promise
      }
      await pass(1, ['created'])
      const delivering = deliver(15_000)
      await asked.promise
      const [{ cursor } = { cursor: '' }] = await deliveries(id)
      succeed(await api.post(`/webhooks/${id}/redeliver`, { from: cursor, to: cursor }))
      answered.resolve(status)
      await delivering
      const came = receiver.received.slice(count)
      expect(came.map((one) => one.status)).toEqual([status, 200])
      expect(new Set(came.map((one) => `${one.id} ${one.body}`)).size).toBe(1)
      expect((await deliveries(id))[0]).toMatchObject({ state: 'delivered', attempts: 1 })
    }
  })

  test('what waits for a failed delivery is due with it, and comes at once when the receiver is back', async () => {
    const { id } = await create()
    receiver.answer = () => 500
    const [paymentId = ''] = await pass(1, ['created', 'pending'])
    await deliver()
    const dueAts = async () => {
      const rows = await app.context.db.select().from(webhookDelivery)
      return rows.map(({ nextAttemptAt }) => nextAttemptAt.getTime())
    }
    const [dueAt = 0] = await dueAts()
    expect(dueAt).toBeGreaterThan(now)
    expect(await dueAts()).toEqual([dueAt, dueAt])
    // One that comes later, and one that is asked for again while the first one still fails.
    await app.context.db.transaction((tx) =>
      recordEvent(tx, {
        accountId,
        paymentId,
        status: 'confirmed',
        source: 'watcher',
        blockHeight: null,
        at: new Date(now),
      }),
    )
    await numbered()
    await deliver()
    expect(await dueAts()).toEqual([dueAt, dueAt, dueAt])
    const cursor = (await deliveries(id))[0]?.cursor
    succeed(await api.post(`/webhooks/${id}/redeliver`, { from: cursor, to: cursor }))
    await deliver()
    expect(receiver.received).toHaveLength(1)
    receiver.answer = () => 200
    now = dueAt
    await deliver()
    expectWhole([paymentId], ['created', 'pending', 'confirmed'])
  })

  test('what was made in a time is counted and delivered again, all of it or what failed', async () => {
    const { id } = await create()
    await pass(2, ['created'])
    await deliver()
    const since = (now += HOUR_MS)
    receiver.answer = () => 500
    await pass(1, ['created'])
    for (const end = now + 90 * HOUR_MS; now < end; now += HOUR_MS) await deliver()
    receiver.answer = () => 200
    await pass(1, ['created'])
    await deliver()
    const until = now
    now += HOUR_MS
    const before = receiver.accepted.length
    const total = async (query: string) =>
      at(succeed(await api.get(`/webhooks/${id}/deliveries?limit=1${query}`)).body, 'total')
    expect([
      await total(''),
      await total(`&since=${START}&until=${until}`),
      await total(`&since=${since}&until=${until}`),
      await total(`&since=${START}&until=${until + 1}&state=dead`),
    ]).toEqual([null, 3, 1, 1])
    const again = async (body: object) =>
      at(succeed(await api.post(`/webhooks/${id}/redeliver`, body)).body, 'deliveries')
    expect(await again({ since: START, until, state: 'dead' })).toBe(1)
    await deliver()
    expect(receiver.accepted).toHaveLength(before + 1)
    expect(await again({ since: START, until })).toBe(3)
    await deliver()
    expect(receiver.accepted).toHaveLength(before + 4)
    // Neither no range nor two.
    const bodies = [
      ['from', {}],
      ['from', { state: 'dead' }],
      ['from', { to: '1' }],
      ['since', { until }],
      ['since', { from: '0', to: '1', since: START, until }],
      ['state', { from: '0', to: '1', state: 'dead' }],
    ] as const
    for (const [field, body] of bodies)
      expect((await api.post(`/webhooks/${id}/redeliver`, body)).body).toMatchObject({
        error: {
          code: 'INVALID_PARAMETERS',
          details: { [field]: expect.stringContaining('Expected from and to') },
        },
      })
  })

  test('both secrets sign while one is rotated, and the old one alone ends', async () => {
    const { id, secret } = await create()
    const rotated = succeed(await api.post(`/webhooks/${id}/secret`, { graceSeconds: 3600 }))
    const next = textAt(rotated.body, 'secret')
    const signed = async () => {
      succeed(await api.post(`/webhooks/${id}/test`, {}))
      await deliver()
      const webhook = receiver.received.at(-1)
      if (!webhook) throw new Error('Nothing was received.')
      const of = (one: string) => new Webhook(one).sign(webhook.id, new Date(now), webhook.body)
      expect(webhook.type).toBe('test')
      return [secret, next].map((one) =>
        String(webhook.headers['webhook-signature']).split(' ').includes(of(one)),
      )
    }
    expect(await signed()).toEqual([true, true])
    now += HOUR_MS
    expect(await signed()).toEqual([false, true])
    const rows = await app.context.db.select().from(webhookEndpoint)
    for (const one of [secret, next])
      expect(JSON.stringify(rows.map(({ secrets }) => secrets))).not.toContain(
        one.slice('whsec_'.length),
      )
  })

  test('an endpoint takes the types it names; disabled it gets nothing, and enabled again everything', async () => {
    const { id } = await create({ events: ['payment.finalized'] })
    succeed(await api.post(`/webhooks/${id}`, { enabled: false }))
    const ids = await pass(2)
    await deliver()
    expect(receiver.received).toEqual([])
    succeed(await api.post(`/webhooks/${id}`, { enabled: true }))
    await deliver()
    expectWhole(ids, ['finalized'])
  })

  test('enabled again after a week, it is attempted for three days again', async () => {
    const { id } = await create()
    receiver.answer = () => 500
    const ids = await pass(1, ['created'])
    await deliver()
    succeed(await api.post(`/webhooks/${id}`, { enabled: false }))
    now += 7 * 24 * HOUR_MS
    succeed(await api.post(`/webhooks/${id}`, { enabled: true }))
    await deliver()
    expect((await deliveries(id)).map(({ state, attempts }) => [state, attempts])).toEqual([
      ['pending', 1],
    ])
    receiver.answer = () => 200
    now += HOUR_MS
    await deliver()
    expectWhole(ids, ['created'])
  })

  test('a change of the URL, a rotation and a stop apply to a send that is under way', async () => {
    const { id, secret } = await create()
    await pass(50, ['created'])
    const change = async (path: string, body: object) =>
      succeed(await api.post(`/webhooks/${id}${path}`, body)).body
    // Each change is made while the requests of a batch wait for their answers.
    const changes = [
      () => change('', { url: `${receiver.url}/mine` }),
      async () => textAt(await change('/secret', { graceSeconds: 0 }), 'secret'),
      () => change('', { enabled: false }),
    ]
    const batches: Promise<unknown>[] = []
    let count = 0
    receiver.answer = async () => {
      if (count++ % 16 === 0) batches.push(changes[batches.length]?.() ?? Promise.resolve())
      await batches.at(-1)
      return 200
    }
    await deliver(15_000)
    expect(receiver.received).toHaveLength(48)
    const paths = receiver.received.map(({ path }) => path)
    expect(paths).toEqual(paths.map((_, index) => (index < 16 ? '/webhooks' : '/webhooks/mine')))
    const next = String(await batches[1])
    for (const [index, { id: message, headers, body }] of receiver.received.entries())
      expect(headers['webhook-signature']).toBe(
        new Webhook(index < 32 ? secret : next).sign(message, new Date(now), body),
      )
    succeed(await api.post(`/webhooks/${id}`, { enabled: true }))
    await deliver()
    expect(receiver.received).toHaveLength(50)
  })

  test('events after a cursor are listed as they were delivered', async () => {
    await create()
    // More than a page.
    await pass(30)
    await deliver()
    const cursors = receiver.received.map(({ cursor }) => Number(cursor)).toSorted((a, b) => a - b)
    const seen: number[] = []
    for (let after = '0'; ;) {
      const { body } = succeed(await api.get(`/events?after=${after}`))
      const events = listAt(body, 'events')
      if (events.length === 0) break
      seen.push(...events.map((one) => Number(textAt(one, 'id'))))
      after = textAt(body, 'next')
    }
    expect(seen).toEqual(cursors)
    expect(listAt(succeed(await other.get('/events')).body, 'events')).toEqual([])
  })

  test('after a restore no event has the id of one that the backup has forgotten, however often it is restored', async () => {
    await create()
    const { config, db } = app.context
    const copied = { target: config.database, db }
    await pass(1)
    await deliver()
    await backUp(copied)
    await pass(2)
    await deliver()
    for (let restored = 0; restored < 2; restored++) {
      const last = receiver.received.at(-1)?.cursor
      await putBack(copied)
      await startEpoch(db)
      const [paymentId] = await pass(1)
      await deliver()
      const { body } = succeed(await api.get(`/events?after=${last}`))
      const ids = listAt(body, 'events').map((one) => [textAt(one, 'paymentId'), textAt(one, 'id')])
      expect(ids.map(([of]) => of)).toEqual(STATUSES.map(() => paymentId))
      for (const [, id] of ids) expect(Number(id)).toBeLessThan(Number.MAX_SAFE_INTEGER)
    }
    expect(receiver.received).toHaveLength(5 * STATUSES.length)
    expect(new Set(receiver.received.map(({ id }) => id)).size).toBe(5 * STATUSES.length)
  })

  test('another account sees, changes and redelivers nothing', async () => {
    const { id } = await create()
    await pass(1)
    await deliver()
    const count = receiver.received.length
    for (const reply of [
      await other.get(`/webhooks/${id}/deliveries`),
      await other.post(`/webhooks/${id}`, { enabled: false }),
      await other.post(`/webhooks/${id}/secret`, { graceSeconds: 0 }),
      await other.post(`/webhooks/${id}/test`, {}),
      await other.post(`/webhooks/${id}/redeliver`, { from: '0', to: '999' }),
      await other.send({ method: 'DELETE', path: `/webhooks/${id}` }),
    ])
      expect(reply.status).toBe(404)
    expect(listAt(succeed(await other.get('/webhooks')).body, 'webhooks')).toEqual([])
    await deliver()
    expect(receiver.received).toHaveLength(count)
    expect(listAt(succeed(await api.get('/webhooks')).body, 'webhooks')).toHaveLength(1)
  })

  test('a key that may not read payments cannot have them sent', async () => {
    const { key } = await createTestKey(app.context.db, { scopes: ['keys:manage'] })
    const reply = await new ApiClient(app.url, key).post('/webhooks', { url: receiver.url })
    expect(reply.status).toBe(403)
  })

  test('an address that is not public is refused, and an account has ten webhooks', async () => {
    for (const url of ['http://10.0.0.1/', 'https://127.0.0.1/', 'http://localhost:80/', 'nothing'])
      expect((await api.post('/webhooks', { url })).status).toBe(400)
    for (let count = 0; count < 10; count++) await create()
    expect((await api.post('/webhooks', { url: receiver.url })).status).toBe(403)
  })

  test('a deleted webhook gets nothing, and its log is gone', async () => {
    const { id } = await create()
    await pass(1)
    await deliver()
    const count = receiver.received.length
    succeed(await api.send({ method: 'DELETE', path: `/webhooks/${id}` }))
    await pass(1)
    await deliver()
    expect(receiver.received).toHaveLength(count)
    expect(await app.context.db.$count(webhookDelivery)).toBe(0)
  })

  test('after a month the log forgets what was delivered, and nothing that waits', async () => {
    const { id } = await create()
    now = Date.now() - 31 * 24 * HOUR_MS
    await pass(2, ['created'])
    const paid = new Set<string>()
    receiver.answer = ({ paymentId = '' }) => (paid.size === 0 || paid.has(paymentId) ? 200 : 500)
    receiver.onReceived = () => void paid.add(receiver.received[0]?.paymentId ?? '')
    await deliver()
    await removeOldDeliveries(app.context.db)
    expect((await deliveries(id)).map(({ state }) => state)).toEqual(['pending'])
  })

  test('a process without the lease writes and sends nothing', async () => {
    await create()
    await pass(1)
    const lease = (holder: string) => leaseWebhook(app.context.db, { holder, now: new Date(now) })
    const endpoint = await lease('first')
    expect(await lease('second')).toBeUndefined()
    if (!endpoint) throw new Error('Expected a lease.')
    const { signal } = new AbortController()
    const readPayment = async () => examples.paymentStatus.reply
    await deliverTo({ ...app.context, readPayment, holder: 'second', signal }, endpoint)
    expect(receiver.received).toEqual([])
    expect(await app.context.db.$count(webhookDelivery)).toBe(0)
  })
})
