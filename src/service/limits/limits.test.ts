import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createTestDatabase, ENGINES, type TestDatabase } from '#testing/postgres.ts'
import { createTestKey, startTestApp, type TestApp } from '#testing/service-app.ts'
import { takeRequest } from './take.ts'

describe.each(ENGINES)('limits on %s', (engine) => {
  let database: TestDatabase
  let app: TestApp
  beforeAll(async () => {
    database = await createTestDatabase(engine)
    app = await startTestApp({ target: database.target })
  })
  afterAll(async () => {
    await app?.[Symbol.asyncDispose]()
    await database?.[Symbol.asyncDispose]()
  })

  /** The database's clock runs on while a test does; a bucket regains one request per step of it. */
  const regained = (quota: number, ms: number) => Math.ceil((ms / 60_000) * quota) + 1

  test('a quota lets through the plan and a fifth of grace at once, counts down to 0 and stays there through the grace', async () => {
    const started = Date.now()
    const verdicts = []
    for (let index = 0; index < 140; index++) verdicts.push(await takeRequest(app.context.db, 'count', 100))
    const extra = regained(100, Date.now() - started)
    const allowed = verdicts.filter((verdict) => verdict.allowed)
    expect(allowed.length).toBeGreaterThanOrEqual(120)
    expect(allowed.length).toBeLessThanOrEqual(120 + extra)
    expect(verdicts[0]).toMatchObject({ limit: 100, remaining: 99, retryAfter: 0 })
    for (const [index, verdict] of verdicts.slice(0, 100).entries()) {
      expect(verdict.remaining).toBeGreaterThanOrEqual(99 - index)
      expect(verdict.remaining).toBeLessThanOrEqual(99 - index + extra)
    }
    expect(verdicts.slice(100 + extra, 120).every((verdict) => verdict.allowed && verdict.remaining === 0)).toBe(true)
    const refused = verdicts.findLast((verdict) => !verdict.allowed)
    expect(refused).toMatchObject({ remaining: 0, retryAfter: 1 })
    expect((refused?.reset ?? 0) * 1000 - Date.now()).toBeGreaterThan(65_000)
  })

  test('a bucket refills at the quota', async () => {
    for (let index = 0; index < 130; index++) await takeRequest(app.context.db, 'refill', 100)
    // The database's clock cannot be moved, the bucket can: thirty seconds pass for it.
    await app.context.db.execute(sql`update service.rate_limit set arrival_us = arrival_us - 30000000 where key = 'refill'`)
    const started = Date.now()
    const verdicts = []
    for (let index = 0; index < 70; index++) verdicts.push(await takeRequest(app.context.db, 'refill', 100))
    const allowed = verdicts.filter((verdict) => verdict.allowed).length
    expect(allowed).toBeGreaterThanOrEqual(50)
    expect(allowed).toBeLessThanOrEqual(50 + 1 + regained(100, Date.now() - started))
  })

  test('over the limit: 429 with Retry-After and retryAfter, and after waiting that long a request passes', async () => {
    const { key } = await createTestKey(app.context.db, { plan: 'standard' })
    let response: Response
    do response = await fetch(`${app.url}/payments`, { headers: { authorization: `Bearer ${key}` } })
    while (response.status === 200)
    expect(response.status).toBe(429)
    const { error } = await response.json()
    expect(error).toMatchObject({ code: 'RATE_LIMIT', retryAfter: 1 })
    expect(response.headers.get('retry-after')).toBe('1')
    expect([response.headers.get('x-ratelimit-limit'), response.headers.get('x-ratelimit-remaining')]).toEqual(['100', '0'])
    await sleep(error.retryAfter * 1000)
    expect((await fetch(`${app.url}/payments`, { headers: { authorization: `Bearer ${key}` } })).status).toBe(200)
  })

  test('requests without a valid key are limited by their address, and a valid key from there is not', async () => {
    const { key } = await createTestKey(app.context.db)
    const statuses = new Set<number>()
    for (let index = 0; index < 140; index++) statuses.add((await fetch(`${app.url}/payments`, { headers: { authorization: 'Bearer wrong' } })).status)
    expect(statuses).toEqual(new Set([401, 429]))
    expect((await fetch(`${app.url}/payments`, { headers: { authorization: `Bearer ${key}` } })).status).toBe(200)
  })
})

describe('two processes on one database', () => {
  test('share one limit exactly', async () => {
    await using database = await createTestDatabase('postgres')
    await using first = await startTestApp({ target: database.target })
    await using second = await startTestApp({ target: database.target })
    const { key } = await createTestKey(first.context.db, { plan: 'standard' })
    const started = Date.now()
    const statuses = await Promise.all(
      Array.from({ length: 200 }, async (_, index) => {
        const response = await fetch(`${index % 2 ? first.url : second.url}/payments`, { headers: { authorization: `Bearer ${key}` } })
        await response.arrayBuffer()
        return response.status
      }),
    )
    const allowed = statuses.filter((status) => status === 200).length
    expect(statuses.filter((status) => status === 429).length).toBe(200 - allowed)
    expect(allowed).toBeGreaterThanOrEqual(120)
    expect(allowed).toBeLessThanOrEqual(120 + Math.ceil((Date.now() - started) / 600) + 1)
  })
})
