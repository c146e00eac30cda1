import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { createPaymentId } from '#contract/payment.ts'
import { recordEvent } from '#service/db/record-event.ts'
import { examples } from '#service/openapi/examples.ts'
import { createTestDatabase } from '#testing/postgres.ts'
import { createTestKey, insertTestPayment, startTestApp } from '#testing/service-app.ts'
import { EventHub } from './hub.ts'

const MIB = 2 ** 20
const EVENTS = 2_000
/** As many fields as the 4 KiB of a payment's metadata take. */
const metadata = Object.fromEntries(Array.from({ length: 400 }, (_, index) => [`k${index}`, index]))

/** Bytes of the heap that are in use after garbage collection. */
function usedHeap(): number {
  setFlagsFromString('--expose-gc')
  const collect: () => void = runInNewContext('gc')
  // The first collection runs finalizers, and the second collects what they released.
  collect()
  collect()
  return process.memoryUsage().heapUsed
}

test('the stored events take little more memory than their text', async () => {
  await using database = await createTestDatabase('postgres', 'service')
  await using app = await startTestApp({
    target: database.target,
    readPayment: async (paymentId) => ({ ...examples.paymentStatus.reply, paymentId, metadata }),
  })
  const { db } = app.context
  const { accountId, key } = await createTestKey(db)
  const paymentId = createPaymentId()
  await insertTestPayment(db, { id: paymentId, accountId })
  const hub = new EventHub({
    serviceUrl: app.url,
    apiKey: key,
    log: pino({ level: 'silent' }),
    findMakers: async () => new Map(),
    onPlan: () => {},
  })
  const record = (count: number) =>
    db.transaction(async (tx) => {
      for (let index = 0; index < count; index++)
        await recordEvent(tx, {
          accountId,
          paymentId,
          status: 'created',
          source: 'watcher',
          blockHeight: null,
          at: new Date(),
        })
    })
  try {
    hub.start()
    await expect.poll(() => hub.ring).toBeDefined()
    // Code that runs for the first time is compiled, and its memory is not that of the events.
    const first = hub.ring?.last ?? 0n
    await record(20)
    await expect.poll(() => hub.ring?.last).toBe(first + 20n)
    const before = usedHeap()
    await record(EVENTS - 20)
    await expect.poll(() => hub.ring?.room).toBe(0)
    const grown = usedHeap() - before
    const text = hub.ring?.after(first)?.json.length ?? 0
    expect(text).toBeGreaterThan(4_000)
    expect(grown / MIB).toBeLessThan((EVENTS * text) / MIB + 6)
  } finally {
    hub.stop()
  }
})

test('who missed too much is told so, and for a while nobody reaches back; who may not ask costs the service nothing', async () => {
  await using database = await createTestDatabase('postgres', 'service')
  await using app = await startTestApp({
    target: database.target,
    readPayment: async (paymentId) => ({ ...examples.paymentStatus.reply, paymentId }),
  })
  const { db } = app.context
  const { accountId, key } = await createTestKey(db)
  const paymentId = createPaymentId()
  await insertTestPayment(db, { id: paymentId, accountId })
  const event = { accountId, paymentId, status: 'created', source: 'watcher' } as const
  await db.transaction(async (tx) => {
    for (let index = 0; index < 20; index++)
      await recordEvent(tx, { ...event, blockHeight: null, at: new Date() })
  })
  const hub = new EventHub({
    serviceUrl: app.url,
    apiKey: key,
    log: pino({ level: 'silent' }),
    findMakers: async () => new Map(),
    onPlan: () => {},
    capacity: 10,
  })
  const charged: bigint[] = []
  const reachBack = (position: bigint, may = true) =>
    hub.extendBack(position, () => {
      charged.push(position)
      return may
    })
  try {
    hub.start()
    await expect.poll(() => hub.ring).toBeDefined()
    const start = hub.ring?.start ?? 0n
    expect(await reachBack(start - 5n, false)).toBe(false)
    expect(hub.ring?.start).toBe(start)
    expect(await reachBack(start - 5n)).toBe(true)
    expect(hub.ring?.start).toBe(start - 5n)
    // What the ring holds is asked of nobody.
    expect(await reachBack(start - 5n)).toBe(true)
    expect(await reachBack(start - 20n)).toBe(false)
    expect(charged).toEqual([start - 5n, start - 5n, start - 20n])
    expect([await reachBack(start - 19n), await reachBack(start - 6n)]).toEqual([false, false])
    expect(charged).toHaveLength(3)
  } finally {
    hub.stop()
  }
})
