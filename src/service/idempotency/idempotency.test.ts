import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ProblemError } from '#contract/problem.ts'
import { createTestDatabase, type TestDatabase } from '#testing/postgres.ts'
import { createTestKey, exampleRoutes, startTestApp, type TestApp } from '#testing/service-app.ts'
import { claim, release, store, fingerprint } from './run-once.ts'

const BODY = {
  walletAddress: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
  recipientAddress: '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC',
  amount: 0.01,
}

describe('Idempotency-Key', () => {
  let database: TestDatabase
  let app: TestApp
  let owner: Awaited<ReturnType<typeof createTestKey>>
  let runs = 0
  let behave: () => Promise<void> = async () => {}

  beforeAll(async () => {
    database = await createTestDatabase('postgres', 'service')
    app = await startTestApp({
      target: database.target,
      routes: {
        async transactionSend(call) {
          runs++
          await behave()
          return { ...(await exampleRoutes.transactionSend(call)), metadata: runs } as Awaited<
            ReturnType<typeof exampleRoutes.transactionSend>
          >
        },
      },
    })
    owner = await createTestKey(app.context.db)
  })
  afterAll(async () => {
    await app?.[Symbol.asyncDispose]()
    await database?.[Symbol.asyncDispose]()
  })

  async function send(idempotencyKey: string, body: unknown = BODY, key = owner.key) {
    const response = await fetch(`${app.url}/transaction/send`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        'idempotency-key': idempotencyKey,
      },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    })
    const text = await response.text()
    return {
      status: response.status,
      text,
      code: JSON.parse(text).error?.code as string | undefined,
      replayed: response.headers.get('idempotent-replayed'),
      retryAfter: response.headers.get('retry-after'),
    }
  }

  test('the same key and body get the first answer again, to the byte, and the handler runs once', async () => {
    behave = async () => {}
    runs = 0
    const first = await send('a')
    const again = await send(
      'a',
      '{"amount": 0.01, "recipientAddress":"0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC", "walletAddress": "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"}',
    )
    expect(first).toMatchObject({ status: 200, replayed: null })
    expect(again).toMatchObject({ status: 200, replayed: 'true', text: first.text })
    expect(runs).toBe(1)
  })

  test('the same key with another body is a conflict, with another account its own', async () => {
    await send('b')
    expect(await send('b', { ...BODY, amount: 0.010000001 })).toMatchObject({
      status: 409,
      code: 'IDEMPOTENCY_CONFLICT',
    })
    const other = await createTestKey(app.context.db)
    expect(await send('b', { ...BODY, amount: 1 }, other.key)).toMatchObject({
      status: 200,
      replayed: null,
    })
  })

  test('of many requests at once one runs; the others hear that it does, and later its answer', async () => {
    runs = 0
    const gate = Promise.withResolvers<void>()
    behave = () => gate.promise
    const first = send('c')
    await expect.poll(() => runs).toBe(1)
    const others = await Promise.all(Array.from({ length: 8 }, () => send('c')))
    for (const other of others)
      expect(other).toMatchObject({ status: 409, code: 'IDEMPOTENCY_IN_PROGRESS', retryAfter: '1' })
    expect(await send('c', { ...BODY, amount: 2 })).toMatchObject({
      status: 409,
      code: 'IDEMPOTENCY_CONFLICT',
    })
    gate.resolve()
    const answer = await first
    expect(await send('c')).toMatchObject({ replayed: 'true', text: answer.text })
    expect(runs).toBe(1)
  })

  test.each([
    ['an unexpected error', () => new Error('broken'), 500],
    ['an unreachable chain', () => new ProblemError('CHAIN_UNAVAILABLE', { retryAfter: 3 }), 503],
    ['a limit', () => new ProblemError('RATE_LIMIT', { retryAfter: 1 }), 429],
    ['a balance that can be topped up', () => new ProblemError('INSUFFICIENT_BALANCE'), 400],
  ])('%s is not kept: the retry runs', async (name, problem, status) => {
    runs = 0
    behave = async () => {
      throw problem()
    }
    expect(await send(`d-${status}-${name.length}`)).toMatchObject({ status })
    behave = async () => {}
    expect(await send(`d-${status}-${name.length}`)).toMatchObject({ status: 200, replayed: null })
    expect(runs).toBe(2)
  })

  test('after an error whose outcome is not known, only the same request gets the key', async () => {
    behave = async () => {
      throw new ProblemError('SERVICE_UNAVAILABLE', { retryAfter: 1 })
    }
    expect(await send('i')).toMatchObject({ status: 503 })
    behave = async () => {}
    expect(await send('i', { ...BODY, amount: 2 })).toMatchObject({
      status: 409,
      code: 'IDEMPOTENCY_CONFLICT',
    })
    behave = async () => {
      throw new ProblemError('INSUFFICIENT_BALANCE')
    }
    expect(await send('i')).toMatchObject({ status: 400 })
    behave = async () => {}
    expect(await send('i', { ...BODY, amount: 2 }), 'the first may have begun it').toMatchObject({
      status: 409,
      code: 'IDEMPOTENCY_CONFLICT',
    })
    expect(await send('i')).toMatchObject({ status: 200, replayed: null })
  })

  test('after a refusal for want of money, another request may have the key', async () => {
    behave = async () => {
      throw new ProblemError('INSUFFICIENT_BALANCE')
    }
    expect(await send('j')).toMatchObject({ status: 400 })
    behave = async () => {}
    expect(await send('j', { ...BODY, amount: 0.001 })).toMatchObject({ status: 200 })
  })

  test('a refusal that stays one is kept', async () => {
    behave = async () => {
      throw new ProblemError('INVALID_RECIPIENT', { details: { recipientAddress: 'no' } })
    }
    const first = await send('e')
    behave = async () => {}
    expect(first).toMatchObject({ status: 400, replayed: null })
    expect(await send('e')).toMatchObject({ status: 400, replayed: 'true', text: first.text })
  })

  test('a request that died holds its key until its lease ends, and cannot answer after that', async () => {
    behave = async () => {}
    const request = {
      accountId: owner.accountId,
      key: 'f',
      fingerprint: fingerprint('transactionSend', BODY),
    }
    const dead = await claim(app.context.db, request)
    if (!dead.claimed) throw new Error('expected the key to be free')
    expect(await send('f')).toMatchObject({ status: 409, code: 'IDEMPOTENCY_IN_PROGRESS' })
    // The database's clock cannot be moved, its rows can.
    await app.context.db.execute(
      sql`update service.idempotency set lease_until = lease_until - interval '31 seconds' where key = 'f'`,
    )
    expect(await send('f', { ...BODY, amount: 3 })).toMatchObject({
      status: 409,
      code: 'IDEMPOTENCY_CONFLICT',
    })
    behave = async () => {
      // It wakes up while the second attempt runs.
      await store(app.context.db, dead.attempt, { status: 418, body: 'late' })
      await release(app.context.db, dead.attempt)
    }
    const second = await send('f')
    expect(second).toMatchObject({ status: 200, replayed: null })
    expect(await send('f')).toMatchObject({ status: 200, replayed: 'true', text: second.text })
  })

  test('a key is free again after 30 days', async () => {
    await send('g')
    await app.context.db.execute(
      sql`update service.idempotency set created_at = created_at - interval '29 days' where key = 'g'`,
    )
    expect(await send('g', { ...BODY, amount: 4 })).toMatchObject({ status: 409 })
    await app.context.db.execute(
      sql`update service.idempotency set created_at = created_at - interval '2 days' where key = 'g'`,
    )
    expect(await send('g', { ...BODY, amount: 4 })).toMatchObject({ status: 200, replayed: null })
  })

  test('a key is 1 to 255 visible ASCII characters', async () => {
    expect(await send('x'.repeat(255))).toMatchObject({ status: 200 })
    expect(await send('x'.repeat(256))).toMatchObject({ status: 400, code: 'INVALID_PARAMETERS' })
    expect(await send('with space')).toMatchObject({ status: 400 })
    expect(await send('é')).toMatchObject({ status: 400 })
    expect(await send('')).toMatchObject({ status: 400 })
  })

  test('a request that is refused before the handler leaves the key free', async () => {
    expect(await send('h', { ...BODY, amount: 'x' })).toMatchObject({ status: 400 })
    expect(await send('h')).toMatchObject({ status: 200, replayed: null })
  })
})
