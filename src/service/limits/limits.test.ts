import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { SCOPES } from '#contract/api-key-body.ts'
import { createTestDatabase, type TestDatabase } from '#testing/postgres.ts'
import { createTestKey, startTestApp, type TestApp } from '#testing/service-app.ts'
import { account, tokenPool } from '../db/schema/access.ts'
import { sweep } from '../service.ts'
import { authenticate } from '../keys/authenticate.ts'
import { createKey } from '../keys/create-key.ts'
import { CHARGED_MS, leaseTokens, Limits } from './limits.ts'
import { limitsOf } from '../api/identify.ts'

describe('limits', () => {
  let database: TestDatabase
  let app: TestApp
  /** How many statements the limits sent. */
  let statements = 0
  const process = () =>
    new Limits({
      lease: (requests) => {
        statements++
        return leaseTokens(app.context.db, requests)
      },
    })
  beforeAll(async () => {
    database = await createTestDatabase('postgres', 'service')
    app = await startTestApp({ target: database.target })
  })
  afterAll(async () => {
    await app?.[Symbol.asyncDispose]()
    await database?.[Symbol.asyncDispose]()
  })

  const get = (key: string) =>
    fetch(`${app.url}/payments`, { headers: { authorization: `Bearer ${key}` } })

  test('a plan lets through its requests at once and not one more, and counts them down', async () => {
    const limits = process()
    const verdicts = []
    for (let index = 0; index < 140; index++)
      verdicts.push(await limits.take([{ pool: 'count', perMinute: 100 }]))
    expect(verdicts.map(({ allowed }) => allowed)).toEqual([
      ...Array<boolean>(100).fill(true),
      ...Array<boolean>(40).fill(false),
    ])
    expect(verdicts.map(({ remaining }) => remaining)).toEqual([
      ...Array.from({ length: 100 }, (_, index) => 99 - index),
      ...Array<number>(40).fill(0),
    ])
    const refused = verdicts[100]
    expect(refused).toMatchObject({ limit: 100 })
    expect(refused?.retryAfter).toBeGreaterThanOrEqual(50)
    expect(refused?.retryAfter).toBeLessThanOrEqual(63)
    expect((refused?.reset ?? 0) * 1000 - Date.now()).toBeGreaterThan(55_000)
    expect((refused?.reset ?? 0) * 1000 - Date.now()).toBeLessThanOrEqual(63_000 + 1_000)
    await limits.close()
  })

  test('four processes that share a database let through the plan together, and a fifth one nothing', async () => {
    const processes = Array.from({ length: 4 }, process)
    const verdicts = await Promise.all(
      Array.from({ length: 100 }, () =>
        processes.map((limits) => limits.take([{ pool: 'shared', perMinute: 100 }])),
      ).flat(),
    )
    expect(verdicts.filter((verdict) => verdict.allowed)).toHaveLength(100)
    expect(await process().take([{ pool: 'shared', perMinute: 100 }])).toMatchObject({
      allowed: false,
      limit: 100,
      remaining: 0,
    })
    await Promise.all(processes.map((limits) => limits.close()))
  })

  test('a process that stops gives back what it leased ahead', async () => {
    const limits = process()
    for (let index = 0; index < 20; index++) await limits.take([{ pool: 'stop', perMinute: 100 }])
    await limits.close()
    expect(await process().take([{ pool: 'stop', perMinute: 100 }])).toMatchObject({
      remaining: 79,
    })
  })

  test('many requests cost far fewer statements, and those that are refused cost none', async () => {
    const limits = process()
    const before = statements
    for (let index = 0; index < 2_000; index++)
      expect((await limits.take([{ pool: 'busy', perMinute: 100_000 }])).allowed).toBe(true)
    expect(statements - before).toBeLessThan(40)
    await limits.close()
  })

  test('the keys of an account share its plan', async () => {
    const { key, accountId } = await createTestKey(app.context.db, { plan: 'standard' })
    await app.context.db.update(account).set({ plan: 'standard' }).where(eq(account.id, accountId))
    const keys = [key]
    for (let index = 0; index < 4; index++) {
      const more = {
        accountId,
        name: 'more',
        scopes: SCOPES,
        plan: 'standard',
        environment: 'test',
      } as const
      keys.push((await createKey(app.context.db, more)).key)
    }
    const answers = await Promise.all(
      Array.from({ length: 250 }, (_, index) => get(keys[index % 5] ?? key)),
    )
    const statuses = answers.map(({ status }) => status)
    await Promise.all(answers.map((answer) => answer.arrayBuffer()))
    expect(statuses.filter((status) => status === 200)).toHaveLength(100)
    expect(statuses.filter((status) => status === 429)).toHaveLength(150)
  })

  test('a key has its own limit within the plan of its account; the headers tell the tighter of the two', async () => {
    const { key, accountId } = await createTestKey(app.context.db, { plan: 'standard' })
    const other = await createKey(app.context.db, {
      accountId,
      name: 'other',
      scopes: SCOPES,
      plan: 'premium',
      environment: 'test',
    })
    const first = await get(key)
    expect([
      first.headers.get('x-ratelimit-limit'),
      first.headers.get('x-ratelimit-remaining'),
    ]).toEqual(['100', '99'])
    for (let index = 0; index < 99; index++) expect((await get(key)).status).toBe(200)
    expect((await get(key)).status).toBe(429)
    const answer = await get(other.key)
    expect([
      answer.status,
      answer.headers.get('x-ratelimit-limit'),
      answer.headers.get('x-ratelimit-remaining'),
    ]).toEqual([200, '1000', '899'])
  })

  test("a quota above the plan that the operator gave one key bounds the account, and raises no other key's limit", async () => {
    const { key, accountId } = await createTestKey(app.context.db, { plan: 'standard' })
    const wide = await createKey(app.context.db, {
      accountId,
      name: 'w',
      scopes: SCOPES,
      plan: 'premium',
      environment: 'test',
      requestsPerMinute: 5_000,
    })
    const limitOf = async (one: string) => {
      const caller = await authenticate(app.context.db, one, new Date())
      return caller && limitsOf(caller)
    }
    expect(await limitOf(wide.key)).toEqual([{ pool: accountId, perMinute: 5_000 }])
    expect(await limitOf(key)).toEqual([
      { pool: accountId, perMinute: 5_000 },
      { pool: expect.any(String), perMinute: 100 },
    ])
  })

  test('over the limit: 429 with Retry-After and retryAfter', async () => {
    const { key } = await createTestKey(app.context.db, { plan: 'standard' })
    let response: Response
    do response = await get(key)
    while (response.status === 200)
    expect(response.status).toBe(429)
    const { error } = await response.json()
    expect(error).toMatchObject({
      code: 'RATE_LIMIT',
      details: { limit: '100 requests per minute' },
    })
    expect(error.retryAfter).toBeGreaterThan(0)
    expect(response.headers.get('retry-after')).toBe(String(error.retryAfter))
    expect([
      response.headers.get('x-ratelimit-limit'),
      response.headers.get('x-ratelimit-remaining'),
    ]).toEqual(['100', '0'])
  })

  test('requests without a valid key are limited by their address, and a valid key from there is not', async () => {
    const { key } = await createTestKey(app.context.db)
    const statuses: number[] = []
    for (let index = 0; index < 140; index++) statuses.push((await get('wrong')).status)
    expect(statuses).toEqual([...Array<number>(100).fill(401), ...Array<number>(40).fill(429)])
    expect((await get(key)).status).toBe(200)
  })

  test('limits that nobody used for a minute leave no row', async () => {
    await leaseTokens(
      app.context.db,
      [{ pool: 'long ago', capacity: 10, needed: 1, extra: 0, back: [] }],
      Date.now() - 2 * CHARGED_MS,
    )
    const rows = () => app.context.db.$count(tokenPool, eq(tokenPool.name, 'long ago'))
    expect(await rows()).toBe(1)
    await sweep(app.context)
    expect(await rows()).toBe(0)
  })
})

describe('two processes on one database', () => {
  test('share one limit exactly', async () => {
    await using database = await createTestDatabase('postgres', 'service')
    await using first = await startTestApp({ target: database.target })
    await using second = await startTestApp({ target: database.target })
    const { key } = await createTestKey(first.context.db, { plan: 'standard' })
    const statuses = await Promise.all(
      Array.from({ length: 240 }, async (_, index) => {
        const response = await fetch(`${index % 2 ? first.url : second.url}/payments`, {
          headers: { authorization: `Bearer ${key}` },
        })
        await response.arrayBuffer()
        return response.status
      }),
    )
    expect(statuses.filter((status) => status === 200)).toHaveLength(100)
    expect(statuses.filter((status) => status === 429)).toHaveLength(140)
  })
})
