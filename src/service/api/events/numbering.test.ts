import { asc, eq, isNull } from 'drizzle-orm'
import { describe, expect, test } from 'vitest'
import { createPaymentId, type PaymentStatus } from '#contract/payment.ts'
import { openDatabase, type Database, type DatabaseTarget } from '#postgres/open.ts'
import { createTestDatabase, ENGINES } from '#testing/postgres.ts'
import { createTestKey, insertTestPayment, startTestApp } from '#testing/service-app.ts'
import { SocketClient } from '#testing/socket-client.ts'
import { createLog } from '../../context/log.ts'
import { SERVICE_SCHEMA } from '../../db/migrations-folder.ts'
import {
  NUMBERING_LEASE_MS,
  numberEvents,
  takeNumbering,
  recordEvent,
} from '../../db/record-event.ts'
import { event, eventNumbering, payment } from '../../db/schema/payment.ts'
import { startNumbering } from './numbering.ts'
import { readEvents } from '../../events/read.ts'

const log = createLog('silent')

async function openShop(db: Database) {
  const { accountId, key } = await createTestKey(db)
  const createPayment = async () => {
    const id = createPaymentId()
    await insertTestPayment(db, { id, accountId })
    return id
  }
  const record = (on: Database, paymentId: string, status: PaymentStatus = 'created') =>
    recordEvent(on, {
      accountId,
      paymentId,
      status,
      source: 'watcher',
      blockHeight: null,
      at: new Date(),
    })
  return { accountId, key, createPayment, record }
}

async function openShopOn(target: DatabaseTarget) {
  const opened = await openDatabase(target, SERVICE_SCHEMA)
  return {
    ...opened,
    ...(await openShop(opened.db)),
    [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
  }
}

const numbersOf = async (db: Database) =>
  (await db.select().from(event).orderBy(asc(event.number))).map(({ number }) => number)

/** A transaction that is open until it is ended. */
function openTransaction(db: Database, work: (tx: Database) => Promise<unknown>) {
  const did = Promise.withResolvers<void>()
  const end = Promise.withResolvers<void>()
  const ended = db.transaction(async (tx) => {
    await work(tx)
    did.resolve()
    await end.promise
  })
  return {
    did: Promise.race([did.promise, ended]),
    end: async () => {
      end.resolve()
      await ended
    },
  }
}

/** The lease to number events is over, as after its holder died. */
const endLease = (db: Database) =>
  db.update(eventNumbering).set({ leaseUntil: new Date(Date.now() - 1_000) })

describe('on a server', () => {
  test('a writer waits for no other writer, and what commits late is numbered late: a reader misses nothing', async () => {
    await using database = await createTestDatabase('postgres', 'service')
    await using shop = await openShopOn(database.target)
    const { db, accountId, createPayment, record } = shop
    const [slow, quick] = [await createPayment(), await createPayment()]
    await takeNumbering(db, 'one')
    const filter = { accountId, kinds: ['payment' as const], wallets: [] }
    let position = 0n
    const read = async () => {
      await numberEvents(db, 'one')
      const rows = await readEvents(db, filter, position)
      position = rows.at(-1)?.number ?? position
      return rows.map(({ paymentId, number }) => [paymentId, number])
    }
    // The smaller id commits behind the greater one.
    const first = openTransaction(db, (tx) => record(tx, slow))
    await first.did
    await db.transaction((tx) => record(tx, quick))
    expect(await read()).toEqual([[quick, 1n]])
    await first.end()
    expect(await read()).toEqual([[slow, 2n]])
    const ids = (await db.select().from(event).orderBy(asc(event.id))).map((row) => row.paymentId)
    expect(ids).toEqual([slow, quick])
  })

  test('an event that a transaction writes to holds up no number of another', async () => {
    await using database = await createTestDatabase('postgres', 'service')
    await using shop = await openShopOn(database.target)
    const { db, createPayment, record } = shop
    const [draft, other] = [await createPayment(), await createPayment()]
    await db.update(payment).set({ draft: true }).where(eq(payment.id, draft))
    for (const id of [draft, other]) await record(db, id)
    await takeNumbering(db, 'one')
    const clearing = openTransaction(db, (tx) =>
      tx.update(payment).set({ draft: false }).where(eq(payment.id, draft)),
    )
    await clearing.did
    await numberEvents(db, 'one')
    expect(await db.select().from(event).where(isNull(event.number))).toMatchObject([
      { paymentId: draft },
    ])
    await clearing.end()
    await numberEvents(db, 'one')
    expect(await numbersOf(db)).toEqual([1n, 2n])
  })

  test('who takes the lease waits for numbers that are being handed out, and its former holder hands out no more', async () => {
    await using database = await createTestDatabase('postgres', 'service')
    await using shop = await openShopOn(database.target)
    const { db, createPayment, record } = shop
    const id = await createPayment()
    for (let index = 0; index < 3; index++) await record(db, id)
    expect(await takeNumbering(db, 'one')).toBe(0)
    expect(await takeNumbering(db, 'two')).toBeGreaterThan(0)
    await endLease(db)
    const handing = openTransaction(db, (tx) => numberEvents(tx, 'one'))
    await handing.did
    let taken: number | undefined
    const taking = takeNumbering(db, 'two').then((waitMs) => (taken = waitMs))
    await expect.poll(() => countWaiting(db)).toBe(1)
    expect(taken).toBeUndefined()
    await handing.end()
    // Handing out numbers has extended the lease.
    expect(await taking).toBeGreaterThan(0)
    await endLease(db)
    expect(await takeNumbering(db, 'two')).toBe(0)
    await record(db, id)
    expect(await numberEvents(db, 'one')).toBeUndefined()
    expect(await numbersOf(db)).toEqual([1n, 2n, 3n, null])
    expect(await numberEvents(db, 'two')).toMatchObject({ more: false })
    expect(await numbersOf(db)).toEqual([1n, 2n, 3n, 4n])
  })

  test('two processes and holders that freeze: no gap, none twice, and a frozen holder is replaced within 2 s', async () => {
    await using database = await createTestDatabase('postgres', 'service')
    await using stack = new AsyncDisposableStack()
    const frozen = []
    for (let count = 0; count < 3; count++)
      frozen.push(stack.use(await openDatabase(database.target, SERVICE_SCHEMA)))
    const freeze = await Promise.all(frozen.slice(0, 1).map((each) => startFreezable(each)))
    await using reader = await startTestApp({ target: database.target })
    await using writer = await startTestApp({ target: database.target })
    const { db } = writer.context
    const { accountId, key, createPayment, record } = await openShop(db)
    const client = new SocketClient(reader)
    await client.enter(key, ['payments'])
    let recorded = 0
    const writeSome = async () => {
      const ids = await Promise.all(Array.from({ length: 6 }, createPayment))
      await Promise.all(
        ids.map(async (id, index) => {
          const on = index % 2 === 0 ? db : reader.context.db
          for (const status of ['created', 'pending', 'confirmed'] as const) {
            await on.transaction((tx) => record(tx, id, status))
            recorded++
          }
        }),
      )
    }
    const heard = async () => {
      const often = { interval: 10 }
      await expect.poll(() => client.events().length, often).toBe(recorded)
    }
    const lateness: number[] = []
    for (let round = 0; round < 3; round++) {
      const calmAt = performance.now()
      await writeSome()
      await heard()
      freeze.pop()?.()
      const startedAt = performance.now()
      const calmMs = startedAt - calmAt
      await writeSome()
      await heard()
      // On a busy machine, what takes no time otherwise takes longer before and after.
      lateness.push(performance.now() - startedAt - 2 * calmMs)
      const [next] = frozen.slice(round + 1, round + 2)
      if (!next) continue
      // The next one to freeze has the lease first.
      await db.update(eventNumbering).set({ holder: null, leaseUntil: null })
      freeze.push(await startFreezable(next))
    }
    expect(Math.max(...lateness)).toBeLessThan(NUMBERING_LEASE_MS + 500)
    const rows = await db
      .select()
      .from(event)
      .where(eq(event.accountId, accountId))
      .orderBy(asc(event.number))
    expect(client.events().map(({ id }) => id)).toEqual(rows.map(({ number }) => String(number)))
    expect(rows.map(({ number }) => number)).toEqual(rows.map((_, index) => BigInt(index + 1)))
    await client.end()
  })
})

/** Numbers events until it freezes: then none of its statements reaches the database. */
async function startFreezable({
  db,
  listen,
}: Pick<Awaited<ReturnType<typeof openDatabase>>, 'db' | 'listen'>): Promise<() => void> {
  await startNumbering({ db, log }, listen)
  await expect.poll(async () => (await db.select().from(eventNumbering))[0]?.holder).not.toBeNull()
  return () => {
    db.execute = (() => new Promise(() => {})) as unknown as Database['execute']
  }
}

async function countWaiting(db: Database): Promise<number> {
  const { rows } = await db.execute<{ waiting: number }>(
    `select count(*)::int as waiting from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`,
  )
  return rows[0]?.waiting ?? 0
}

describe.each(ENGINES)('on %s', (engine) => {
  test('with nothing to number there are no statements but the one that extends the lease', async () => {
    await using database = await createTestDatabase(engine, 'service')
    await using opened = await openDatabase(database.target, SERVICE_SCHEMA)
    const { db } = opened
    const execute = db.execute.bind(db)
    let statements = 0
    db.execute = (query) => {
      statements++
      return execute(query)
    }
    const startedAt = performance.now()
    const stop = await startNumbering({ db, log }, opened.listen)
    await expect.poll(() => statements).toBeGreaterThanOrEqual(8)
    const seconds = (performance.now() - startedAt) / 1_000
    // To take the lease, to number what was there, to tell everybody; then every half second.
    expect(statements).toBeLessThanOrEqual(3 + 2 * seconds + 1)
    await stop()
    expect(await db.select().from(eventNumbering)).toMatchObject([{ holder: null }])
  })

  test('the transaction of a payment notifies nobody', async () => {
    await using database = await createTestDatabase(engine, 'service')
    await using shop = await openShopOn(database.target)
    const { db, createPayment, record } = shop
    const told: string[] = []
    for (const channel of ['service_event', 'service_event_recorded'])
      await shop.listen(channel, (payload) => told.push(payload))
    const id = await createPayment()
    await db.transaction((tx) => record(tx, id))
    await db.execute("select pg_notify('service_event', 'the test')")
    await expect.poll(() => told).toEqual(['the test'])
  })

  test('events that are recorded together are told of together, and not before they are numbered', async () => {
    await using database = await createTestDatabase(engine, 'service')
    await using shop = await openShopOn(database.target)
    const { db, accountId, createPayment, record } = shop
    const told: string[] = []
    const unnumbered: Promise<number>[] = []
    await shop.listen('service_event', (accounts) => {
      told.push(accounts)
      unnumbered.push(db.$count(event, isNull(event.number)))
    })
    await using _ = { [Symbol.asyncDispose]: await startNumbering({ db, log }, shop.listen) }
    // Who takes the lease tells everybody.
    await expect.poll(() => told).toEqual([''])
    const id = await createPayment()
    await db.transaction(async (tx) => {
      for (let index = 0; index < 40; index++) await record(tx, id)
    })
    await expect.poll(() => told.filter((accounts) => accounts === accountId)).toEqual([accountId])
    expect(await Promise.all(unnumbered)).toEqual(unnumbered.map(() => 0))
    expect(await numbersOf(db)).toEqual(
      Array.from({ length: 40 }, (__, index) => BigInt(index + 1)),
    )
    // A transaction that is rolled back tells nobody.
    await expect(
      db.transaction(async (tx) => {
        await record(tx, id)
        throw new Error('undone')
      }),
    ).rejects.toThrow('undone')
    await db.transaction((tx) => record(tx, id))
    await expect.poll(() => told.filter((accounts) => accounts === accountId).length).toBe(2)
    expect((await numbersOf(db)).at(-1)).toBe(41n)
  })
})
