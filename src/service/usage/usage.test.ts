import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createTestDatabase, executeAsOwner, type TestDatabase } from '#testing/postgres.ts'
import { createTestKey, startTestApp, type TestApp } from '#testing/service-app.ts'
import { sweep } from '../service.ts'
import { routes } from '../api/handlers.ts'

const START = Date.UTC(2026, 0, 31, 23, 58)
const { usage } = routes
type Row = { startsAt: number; keyId: string; endpoint: string; status: string; requests: number }

async function ask(app: TestApp, key: string, path: string) {
  const response = await fetch(app.url + path, { headers: { authorization: `Bearer ${key}` } })
  return { status: response.status, json: await response.json() }
}

describe('usage', () => {
  let database: TestDatabase
  let app: TestApp
  let now = START
  beforeAll(async () => {
    database = await createTestDatabase('postgres', 'service')
    app = await startTestApp({
      target: database.target,
      routes: { usage },
      now: () => new Date(now),
    })
  })
  afterAll(async () => {
    await app?.[Symbol.asyncDispose]()
    await database?.[Symbol.asyncDispose]()
  })

  test('is exact per key, endpoint, status and period, up to the request before', async () => {
    const owner = await createTestKey(app.context.db)
    for (const minute of [0, 1, 1, 2]) {
      now = START + minute * 60_000
      await ask(app, owner.key, '/payments')
    }
    await ask(app, owner.key, '/payments?limit=0')
    await ask(app, owner.key, '/nowhere')
    const read = async (query: string) =>
      (await ask(app, owner.key, `/usage?endpoint=paymentList&${query}`)).json
    const at = (minute: number) => START + minute * 60_000
    const row = (startsAt: number, status: string, requests: number): Row => ({
      startsAt,
      keyId: owner.id,
      endpoint: 'paymentList',
      status,
      requests,
    })
    const minutes = await read('period=minute')
    expect(minutes).toEqual({
      success: true,
      period: 'minute',
      since: at(-57),
      until: at(3),
      totalRequests: 5,
      usage: [
        row(at(0), '2xx', 1),
        row(at(1), '2xx', 2),
        row(at(2), '2xx', 1),
        row(at(2), '4xx', 1),
      ],
    })
    const lastHour = START - 58 * 60_000
    expect((await read('')).usage).toEqual([
      row(lastHour, '2xx', 3),
      row(at(2), '2xx', 1),
      row(at(2), '4xx', 1),
    ])
    expect((await read('period=day')).usage).toEqual([
      row(Date.UTC(2026, 0, 31), '2xx', 3),
      row(at(2), '2xx', 1),
      row(at(2), '4xx', 1),
    ])
    expect((await read(`period=minute&since=${at(1)}&until=${at(2)}`)).usage).toEqual([
      row(at(1), '2xx', 2),
    ])
    const all = (await ask(app, owner.key, `/usage?keyId=${owner.id}`)).json.usage.map(
      (own: Row) => `${own.endpoint} ${own.status} ${own.requests}`,
    )
    expect(all).toEqual(expect.arrayContaining(['unmatched 4xx 1', 'usage 2xx 4']))
    now = START
  })

  test("shows the account's own keys alone", async () => {
    const [one, two] = [await createTestKey(app.context.db), await createTestKey(app.context.db)]
    await ask(app, one.key, '/payments')
    expect((await ask(app, two.key, '/usage')).json.usage).toEqual([])
    expect((await ask(app, two.key, `/usage?keyId=${one.id}`)).json.usage).toEqual([])
  })

  test('counts requests over the limit too', async () => {
    const { key, id } = await createTestKey(app.context.db, { plan: 'standard' })
    const sent = { allowed: 0, refused: 0 }
    while (sent.refused < 3)
      sent[(await ask(app, key, '/payments')).status === 429 ? 'refused' : 'allowed']++
    await app.context.usage.flush()
    const { rows } = await app.context.db.execute<{ status: string; requests: string }>(
      sql`select status_class as status, requests::text from service.usage where key_id = ${id} and period = 'day' order by status_class`,
    )
    expect(rows).toEqual([
      { status: '2xx', requests: String(sent.allowed) },
      { status: '4xx', requests: String(sent.refused) },
    ])
  })

  test.each([
    ['period=week', 'period'],
    ['since=5000&until=1', 'since'],
    ['keyId=key_x', 'keyId'],
    ['endpoint=%00', 'endpoint'],
    ['since=999999999999999', 'since'],
  ])('the query %s is refused by the name of its field', async (query, field) => {
    const { key } = await createTestKey(app.context.db)
    const { status, json } = await ask(app, key, `/usage?${query}`)
    expect([status, Object.keys(json.error.details)]).toEqual([400, [field]])
  })

  test('a range that holds too much is refused, not cut', async () => {
    const { key, id } = await createTestKey(app.context.db)
    await app.context.db.execute(sql`
      insert into service.usage select ${id}, 'minute', to_timestamp(60 * n), 'paymentList', '2xx', 1 from generate_series(1, 10001) n`)
    expect((await ask(app, key, '/usage?period=minute&since=0')).json.error.message).toContain(
      'more than 10000 rows',
    )
    expect(
      (await ask(app, key, `/usage?period=minute&since=0&until=${60_000 * 10_001}`)).json
        .totalRequests,
    ).toBe(10_000)
  })

  test('what could not be written stays counted, and is written with the next flush', async () => {
    const { key, id } = await createTestKey(app.context.db)
    await ask(app, key, '/payments')
    const owner = { target: app.context.config.database, db: app.context.db }
    await executeAsOwner(owner, 'alter table service.usage rename to away')
    await ask(app, key, '/payments')
    await expect(app.context.usage.flush()).rejects.toThrow('service.usage')
    await executeAsOwner(owner, 'alter table service.away rename to usage')
    await ask(app, key, '/payments')
    expect(
      (await ask(app, key, `/usage?endpoint=paymentList&keyId=${id}`)).json.totalRequests,
    ).toBe(3)
  })

  test('fine figures are removed after their time, coarse ones stay', async () => {
    const { id } = await createTestKey(app.context.db)
    await app.context.db.execute(sql`
      insert into service.usage select ${id}, period, now() - make_interval(days => 3), 'paymentList', '2xx', 1 from unnest(array['minute', 'hour', 'day']) period`)
    await sweep(app.context)
    const { rows } = await app.context.db.execute<{ period: string }>(
      sql`select period from service.usage where key_id = ${id} order by period`,
    )
    expect(rows.map((row) => row.period)).toEqual(['day', 'hour'])
  })
})

test('two processes add up in one table, and one that is asked to stop loses nothing', async () => {
  await using database = await createTestDatabase('postgres', 'service')
  const first = await startTestApp({ target: database.target, routes: { usage } })
  await using second = await startTestApp({ target: database.target, routes: { usage } })
  const keys = await Promise.all(Array.from({ length: 4 }, () => createTestKey(second.context.db)))
  await Promise.all(
    Array.from({ length: 200 }, async (_, index) => {
      await ask(index % 2 ? first : second, keys[index % 4]?.key ?? '', '/payments')
      if (index % 10 === 0)
        await Promise.all([first.context.usage.flush(), second.context.usage.flush()])
    }),
  )
  // Counted in memory alone when the stop begins.
  for (const { key } of keys) await ask(first, key, '/payments')
  await first[Symbol.asyncDispose]()
  for (const { key } of keys)
    expect(
      (await ask(second, key, '/usage?period=day&endpoint=paymentList')).json.totalRequests,
    ).toBe(51)
})
