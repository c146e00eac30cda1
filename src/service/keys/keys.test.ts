import { request } from 'node:http'
import { eq, sql } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isApiKey, type Scope } from '#contract/api-key-body.ts'
import type { ProblemError } from '#contract/problem.ts'
import type { Database } from '#postgres/open.ts'
import { createTestDatabase, executeAsOwner, type TestDatabase } from '#testing/postgres.ts'
import { createTestKey, startTestApp, type TestApp } from '#testing/service-app.ts'
import { lockAccount } from '../db/lease.ts'
import { apiKey } from '../db/schema/access.ts'
import { routes } from '../api/handlers.ts'
import { changePlan } from './accounts.ts'
import { createKey } from './create-key.ts'
import { listKeys, revokeKey, rotateKey } from './manage-keys.ts'

const START = new Date('2026-01-01T00:00:00Z').getTime()
const { apiKeyList, apiKeyCreate, apiKeyRotate, apiKeyDelete } = routes

async function waitingLocks(db: Database): Promise<string | undefined> {
  const { rows } = await db.execute<{ waiting: string }>(
    sql`select count(*)::text as waiting from pg_locks where not granted`,
  )
  return rows[0]?.waiting
}

describe('the keys of an account', () => {
  let database: TestDatabase
  let app: TestApp
  let owner: Awaited<ReturnType<typeof createTestKey>>
  let now = START

  beforeAll(async () => {
    database = await createTestDatabase('postgres', 'service')
    app = await startTestApp({
      target: database.target,
      routes: { apiKeyList, apiKeyCreate, apiKeyRotate, apiKeyDelete },
      now: () => new Date(now),
    })
    owner = await createTestKey(app.context.db)
  })
  afterAll(async () => {
    await app?.[Symbol.asyncDispose]()
    await database?.[Symbol.asyncDispose]()
  })

  async function ask(
    method: string,
    path: string,
    {
      key = owner.key,
      body,
      idempotencyKey,
    }: { key?: string; body?: object; idempotencyKey?: string } = {},
  ) {
    const headers: Record<string, string> = { authorization: `Bearer ${key}` }
    if (body) headers['content-type'] = 'application/json'
    if (idempotencyKey) headers['idempotency-key'] = idempotencyKey
    const response = await fetch(app.url + path, {
      method,
      headers,
      body: body && JSON.stringify(body),
    })
    return {
      status: response.status,
      replayed: response.headers.get('idempotent-replayed'),
      json: await response.json(),
    }
  }
  const create = (body: object, key?: string) => ask('POST', '/api-keys', { key, body })
  const rotate = (id: string, graceSeconds: number, key?: string) =>
    ask('POST', `/api-keys/${id}/rotate`, { key, body: { graceSeconds } })
  const works = async (key: string) => (await ask('GET', '/payments', { key })).status === 200
  const till: Scope[] = ['payment:read', 'transaction:build']

  test('a new key is shown once, works with its scopes alone, and is listed by its hint', async () => {
    const made = await create({
      name: ' till ',
      scopes: till,
      environment: 'test',
      expiresAt: START + 86_400_000,
    })
    expect(made.status).toBe(200)
    const { success, key, ...row } = made.json
    expect([success, isApiKey(key)]).toEqual([true, true])
    expect(row).toEqual({
      id: expect.stringMatching(/^key_/),
      name: 'till',
      hint: `${key.slice(0, 12)}…${key.slice(-4)}`,
      scopes: till,
      plan: 'standard',
      createdAt: expect.any(Number),
      lastUsedAt: null,
      expiresAt: START + 86_400_000,
      status: 'active',
      rotation: { replaces: null, replacedBy: null },
    })
    expect(await works(key)).toBe(true)
    expect((await ask('GET', '/api-keys', { key })).json.error).toMatchObject({
      code: 'FORBIDDEN',
      details: { scope: 'keys:manage' },
    })
    const list = await ask('GET', '/api-keys')
    expect(list.json.keys.map((own: { id: string }) => own.id)).toEqual([owner.id, row.id])
    expect(list.json.keys[1]).toEqual({ ...row, lastUsedAt: START })
    expect(JSON.stringify(list.json)).not.toContain(key.slice(8, 48))
  })

  test('a key grants no scope that it lacks and no plan above the account, and is told which', async () => {
    const manager = await create({ name: 'manager', scopes: ['keys:manage', 'payment:read'] })
    const refused = await create(
      { name: 'x', scopes: ['payment:read', 'payment:send', 'wallets:manage'] },
      manager.json.key,
    )
    expect([refused.status, refused.json.error.details]).toEqual([
      403,
      { scopes: ['payment:send', 'wallets:manage'] },
    ])
    expect((await create({ name: 'x', scopes: ['payment:read'] }, manager.json.key)).status).toBe(
      200,
    )
    const { accountId } = owner
    await changePlan(app.context.db, { accountId, plan: 'standard', scopes: null })
    const above = await create({ name: 'x', scopes: till, plan: 'premium' })
    expect([above.status, above.json.error.details]).toEqual([403, { plan: 'standard' }])
    await changePlan(app.context.db, { accountId, plan: 'premium', scopes: null })
    expect((await create({ name: 'x', scopes: till, plan: 'premium' })).json.plan).toBe('premium')
  })

  test('a key cannot get at the scopes of a stronger one by rotating it', async () => {
    const manager = await create({ name: 'manager', scopes: ['keys:manage'] })
    const refused = await rotate(owner.id, 0, manager.json.key)
    expect([refused.status, refused.json.error.details.scopes]).toEqual([
      403,
      expect.arrayContaining(['payment:send']),
    ])
    expect(await works(owner.key)).toBe(true)
  })

  test('a key that ends makes, and replaces, none that ends later, and is told its end', async () => {
    const end = now + 60_000
    const scopes: Scope[] = ['keys:manage', 'payment:read']
    const { key } = await createTestKey(app.context.db)
    const temporary = (await create({ name: 'temporary', scopes, expiresAt: end }, key)).json
    const permanent = (await create({ name: 'permanent', scopes }, key)).json
    const make = (more: object) => create({ name: 'x', scopes, ...more }, temporary.key)
    for (const expiresAt of [undefined, end + 1])
      expect(await make({ expiresAt })).toMatchObject({
        status: 403,
        json: {
          error: {
            code: 'FORBIDDEN',
            details: {
              expiresAt: `Expected at most ${end}, when this API key ends; received ${expiresAt ?? 'none'}.`,
            },
          },
        },
      })
    expect((await make({ expiresAt: end })).json.expiresAt).toBe(end)
    const refused = await rotate(permanent.id, 0, temporary.key)
    expect([refused.status, refused.json.error.details]).toEqual([
      403,
      { expiresAt: expect.stringContaining(String(end)) },
    ])
    expect(await works(permanent.key)).toBe(true)
    expect((await rotate(temporary.id, 0, temporary.key)).json.expiresAt).toBe(end)
    // In its grace the key that was replaced has an end too.
    await rotate(permanent.id, 60, permanent.key)
    expect((await create({ name: 'x', scopes }, permanent.key)).status).toBe(403)
  })

  test('a key makes, and replaces, none with a higher quota than the operator gave it', async () => {
    const scopes: Scope[] = ['keys:manage', 'payment:read']
    const { key } = await createTestKey(app.context.db, { plan: 'premium' })
    const slow = (await create({ name: 'slow', scopes }, key)).json
    const free = (await create({ name: 'free', scopes }, key)).json
    const target = { target: app.context.config.database, db: app.context.db }
    const setQuota = (quota: number) =>
      executeAsOwner(
        target,
        `update service.api_key set requests_per_minute = ${quota} where id = '${slow.id}'`,
      )
    const quotaOf = async (id: string) => {
      const [row] = await app.context.db
        .select({ quota: apiKey.requestsPerMinute })
        .from(apiKey)
        .where(eq(apiKey.id, id))
      return row?.quota
    }
    await setQuota(40)
    const made = await create({ name: 'x', scopes, plan: 'premium' }, slow.key)
    expect(await quotaOf(made.json.id)).toBe(40)
    const refused = await rotate(free.id, 0, slow.key)
    expect([refused.status, refused.json.error.details]).toEqual([
      403,
      { id: 'Expected a key with at most 40 requests a minute; received 100.' },
    ])
    expect((await rotate(made.json.id, 0, slow.key)).status).toBe(200)
    // A quota above the plan is given by the operator alone.
    await setQuota(5_000)
    const usual = await create({ name: 'x', scopes }, slow.key)
    expect(await quotaOf(usual.json.id)).toBeNull()
  })

  test('after a rotation both keys are valid until the grace ends, to the millisecond', async () => {
    const old = await create({
      name: 'till',
      scopes: till,
      environment: 'test',
      expiresAt: START + 86_400_000,
    })
    const fresh = await rotate(old.json.id, 900)
    expect(fresh.status).toBe(200)
    expect(fresh.json).toMatchObject({
      name: 'till',
      scopes: till,
      hint: expect.stringMatching(/^pk_test_/),
      expiresAt: START + 86_400_000,
      graceEndsAt: START + 900_000,
      rotation: { replaces: old.json.id, replacedBy: null },
    })
    now = START + 899_999
    expect([await works(old.json.key), await works(fresh.json.key)]).toEqual([true, true])
    now = START + 900_000
    expect([await works(old.json.key), await works(fresh.json.key)]).toEqual([false, true])
    const listed = (await ask('GET', '/api-keys')).json.keys.find(
      (own: { id: string }) => own.id === old.json.id,
    )
    expect(listed).toMatchObject({
      status: 'expired',
      expiresAt: START + 900_000,
      rotation: { replaces: null, replacedBy: fresh.json.id },
    })
    now = START
  })

  test('a rotation without grace ends the old key at once, and never prolongs a key', async () => {
    const old = await create({ name: 'till', scopes: till, expiresAt: START + 30_000 })
    expect((await rotate(old.json.id, 86_400)).json).toMatchObject({
      expiresAt: START + 30_000,
      graceEndsAt: START + 30_000,
    })
    const other = await create({ name: 'till', scopes: till })
    expect((await rotate(other.json.id, 0)).status).toBe(200)
    expect(await works(other.json.key)).toBe(false)
  })

  test('a key is rotated once, also by two at the same moment; one that ended is not', async () => {
    const old = await create({ name: 'till', scopes: till })
    const answers = await Promise.all([rotate(old.json.id, 60), rotate(old.json.id, 60)])
    expect(answers.map((answer) => answer.status).toSorted((a, b) => a - b)).toEqual([200, 400])
    await ask('DELETE', `/api-keys/${old.json.id}`)
    expect((await rotate(old.json.id, 60)).json.error).toMatchObject({
      code: 'INVALID_PARAMETERS',
      message: expect.stringContaining('was rotated before'),
    })
    const gone = await create({ name: 'till', scopes: till })
    await ask('DELETE', `/api-keys/${gone.json.id}`)
    expect((await rotate(gone.json.id, 60)).json.error.message).toBe(
      `The key ${gone.json.id} is deleted.`,
    )
  })

  test('a key may rotate itself: its answer holds the successor', async () => {
    const own = await create({ name: 'manager', scopes: ['keys:manage', 'payment:read'] })
    const fresh = await rotate(own.json.id, 0, own.json.key)
    expect([await works(own.json.key), await works(fresh.json.key)]).toEqual([false, true])
  })

  test('a deleted key is refused at once, stays listed, and deleting twice is no error; a key cannot delete itself', async () => {
    const made = await create({ name: 'till', scopes: till })
    expect((await ask('DELETE', `/api-keys/${made.json.id}`)).json).toMatchObject({
      success: true,
      id: made.json.id,
      status: 'deleted',
    })
    expect(await works(made.json.key)).toBe(false)
    expect((await ask('DELETE', `/api-keys/${made.json.id}`)).status).toBe(200)
    const own = await ask('DELETE', `/api-keys/${owner.id}`)
    expect([own.status, own.json.error.code, await works(owner.key)]).toEqual([
      403,
      'FORBIDDEN',
      true,
    ])
  })

  test("another account's keys do not exist", async () => {
    const other = await createTestKey(app.context.db)
    expect((await ask('GET', '/api-keys', { key: other.key })).json.keys).toHaveLength(1)
    for (const answer of [await rotate(other.id, 0), await ask('DELETE', `/api-keys/${other.id}`)])
      expect([answer.status, answer.json.error.code]).toEqual([404, 'NOT_FOUND'])
    expect(await works(other.key)).toBe(true)
  })

  test.each([
    [{ scopes: till }, 'name'],
    [{ name: '', scopes: till }, 'name'],
    [{ name: 'a\u0000b', scopes: till }, 'name'],
    [{ name: 'x'.repeat(101), scopes: till }, 'name'],
    [{ name: 'x', scopes: [] }, 'scopes'],
    [{ name: 'x', scopes: ['payment:steal'] }, 'scopes.0'],
    [{ name: 'x', scopes: till, plan: 'gold' }, 'plan'],
    [{ name: 'x', scopes: till, environment: 'prod' }, 'environment'],
    [{ name: 'x', scopes: till, expiresAt: START }, 'expiresAt'],
    [{ name: 'x', scopes: till, expiresAt: 1e300 }, 'expiresAt'],
  ])('the request %j is refused by the name of its field', async (body, field) => {
    const { status, json } = await create(body)
    expect([status, Object.keys(json.error.details)]).toEqual([400, [field]])
  })

  test.each([[{ graceSeconds: 61 }], [{ graceSeconds: '60' }], [{}]])(
    'the grace %j is refused with the choices',
    async (body) => {
      const { status, json } = await ask('POST', `/api-keys/${owner.id}/rotate`, { body })
      expect([status, json.error.details.graceSeconds]).toEqual([
        400,
        expect.stringMatching(/one of 0, 60, 900, 3600, 21600, 86400/i),
      ])
    },
  )

  test('under an Idempotency-Key a key is made once, and no byte of it is kept: a repetition is a conflict that tells the rest', async () => {
    const body = { name: 'once', scopes: till }
    const first = await ask('POST', '/api-keys', { body, idempotencyKey: 'make-one' })
    const again = await ask('POST', '/api-keys', { body, idempotencyKey: 'make-one' })
    expect([again.status, again.replayed, again.json.error.code]).toEqual([
      409,
      'true',
      'IDEMPOTENCY_CONFLICT',
    ])
    expect(again.json.error.details).toMatchObject({ id: first.json.id, name: 'once' })
    expect(again.json.error.details).not.toHaveProperty('key')
    const { rows } = await app.context.db.execute<{ dump: string }>(
      sql`select row_to_json(i)::text as dump from service.idempotency i`,
    )
    expect(rows.map((row) => row.dump).join()).toContain(first.json.id)
    expect(rows.map((row) => row.dump).join()).not.toContain(first.json.key.slice(8, 48))
    const { json } = await ask('GET', '/api-keys')
    expect(json.keys.filter((own: { name: string }) => own.name === 'once')).toHaveLength(1)
  })

  test('an Idempotency-Key belongs to the key it rotates: used for another one it is a conflict', async () => {
    const [one, two] = [
      await create({ name: 'one', scopes: till }),
      await create({ name: 'two', scopes: till }),
    ]
    const attempt = (id: string) =>
      ask('POST', `/api-keys/${id}/rotate`, {
        body: { graceSeconds: 0 },
        idempotencyKey: 'rotate-one',
      })
    expect((await attempt(one.json.id)).status).toBe(200)
    expect((await attempt(two.json.id)).json.error.code).toBe('IDEMPOTENCY_CONFLICT')
    expect([await works(one.json.key), await works(two.json.key)]).toEqual([false, true])
  })

  test('what the plan of an account does not include is refused with the plan, also to keys made before', async () => {
    const other = await createTestKey(app.context.db, { plan: 'premium' })
    const scopes: Scope[] = ['keys:manage', 'token:read']
    await changePlan(app.context.db, { accountId: other.accountId, plan: 'standard', scopes })
    const refused = await ask('GET', '/payments', { key: other.key })
    expect([refused.status, refused.json.error]).toEqual([
      403,
      expect.objectContaining({
        code: 'FORBIDDEN',
        message: 'The plan standard of this account does not include payment:read.',
        details: { scope: 'payment:read', plan: 'standard' },
      }),
    ])
    expect((await create({ name: 'x', scopes: ['payment:read'] }, other.key)).status).toBe(403)
    expect((await create({ name: 'x', scopes: ['token:read'] }, other.key)).status).toBe(200)
    const limit = await fetch(`${app.url}/payments`, {
      headers: { authorization: `Bearer ${other.key}` },
    })
    expect(limit.headers.get('x-ratelimit-limit')).toBe('100')
  })

  test("a custom quota is the successor's too", async () => {
    const made = await create({ name: 'slow', scopes: till })
    await executeAsOwner(
      { target: app.context.config.database, db: app.context.db },
      `update service.api_key set requests_per_minute = 7 where id = '${made.json.id}'`,
    )
    const { id } = await app.context.db.transaction((tx) =>
      rotateKey(tx, { id: made.json.id, graceSeconds: 0, now: () => new Date(now) }),
    )
    const [row] = await app.context.db
      .select({ quota: apiKey.requestsPerMinute })
      .from(apiKey)
      .where(eq(apiKey.id, id))
    expect(row?.quota).toBe(7)
  })
})

describe('a key that is deleted while it asks for another one', () => {
  let database: TestDatabase
  let app: TestApp
  beforeAll(async () => {
    database = await createTestDatabase('postgres', 'service')
    app = await startTestApp({
      target: database.target,
      routes: { apiKeyList, apiKeyCreate, apiKeyRotate, apiKeyDelete },
    })
  })
  afterAll(async () => {
    await app?.[Symbol.asyncDispose]()
    await database?.[Symbol.asyncDispose]()
  })

  /** The two keys of an account: the owner's, and the one that a thief has. */
  async function stolen() {
    const owner = await createTestKey(app.context.db)
    const authorization = `Bearer ${owner.key}`
    const headers = { authorization, 'content-type': 'application/json' }
    const body = JSON.stringify({ name: 'stolen', scopes: ['keys:manage', 'payment:read'] })
    const answer = await fetch(`${app.url}/api-keys`, { method: 'POST', headers, body })
    const thief: { id: string; key: string } = await answer.json()
    const revoke = () =>
      fetch(`${app.url}/api-keys/${thief.id}`, { method: 'DELETE', headers: { authorization } })
    const count = async () => (await listKeys(app.context.db, owner.accountId)).length
    return { owner, thief, revoke, count }
  }

  test.each([
    ['a new key', () => '/api-keys', { name: 'x', scopes: ['payment:read'] }],
    ['a successor', (id: string) => `/api-keys/${id}/rotate`, { graceSeconds: 86_400 }],
  ] as const)('with a body that arrives slowly gets no key: %s', async (_, path, body) => {
    const { thief, revoke, count } = await stolen()
    const text = JSON.stringify(body)
    const status = Promise.withResolvers<number>()
    const asking = request(
      app.url + path(thief.id),
      {
        method: 'POST',
        headers: {
          authorization: `Bearer ${thief.key}`,
          'content-type': 'application/json',
          'content-length': String(text.length),
        },
      },
      (response) => {
        response.resume()
        status.resolve(response.statusCode ?? 0)
      },
    )
    asking.write(text.slice(0, -1))
    // It was let in: the request has counted as its use.
    await eventuallyUsed(thief.id)
    expect((await revoke()).status).toBe(200)
    asking.end(text.slice(-1))
    expect(await status.promise).toBe(401)
    expect(await count()).toBe(2)
  })

  test('makes none where the deletion commits first, and shows in the list where it comes second', async () => {
    const { owner, thief, count } = await stolen()
    const { db } = app.context
    const ask = () =>
      createKey(db, {
        accountId: owner.accountId,
        name: 'x',
        scopes: ['payment:read'],
        plan: 'standard',
        environment: 'test',
        requestedBy: thief.id,
      })
    await ask()
    expect(await count()).toBe(3)
    const gate = Promise.withResolvers<void>()
    const deleted = Promise.withResolvers<void>()
    const deleting = db.transaction(async (tx) => {
      await revokeKey(tx, thief.id, new Date())
      deleted.resolve()
      await gate.promise
    })
    await deleted.promise
    const made = ask().then(
      () => 'made',
      (error: ProblemError) => error.code,
    )
    await expect.poll(() => waitingLocks(db)).not.toBe('0')
    gate.resolve()
    await deleting
    expect(await made).toBe('UNAUTHORIZED')
    expect(await count()).toBe(3)
  })

  test('of two that replace each other at once one gets a successor, and the other is refused', async () => {
    const { owner, thief } = await stolen()
    const ask = (key: string, id: string) =>
      fetch(`${app.url}/api-keys/${id}/rotate`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ graceSeconds: 0 }),
      })
    const wide = await createKey(app.context.db, {
      accountId: owner.accountId,
      name: 'y',
      scopes: ['keys:manage', 'payment:read'],
      plan: 'standard',
      environment: 'test',
    })
    const answers = await Promise.all([ask(thief.key, wide.id), ask(wide.key, thief.id)])
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 401])
  })

  async function eventuallyUsed(id: string): Promise<void> {
    await expect
      .poll(async () => (await listKeys(app.context.db)).find((key) => key.id === id)?.lastUsedAt)
      .toBeTruthy()
  }
})

test('of two rotations that overlap the second one waits, and finds a successor', async () => {
  await using database = await createTestDatabase('postgres', 'service')
  await using app = await startTestApp({ target: database.target })
  const { db } = app.context
  const { id } = await createTestKey(db)
  const rotation = { id, graceSeconds: 60, now: () => new Date() }
  const gate = Promise.withResolvers<void>()
  const rotated = Promise.withResolvers<void>()
  const first = db.transaction(async (tx) => {
    const made = await rotateKey(tx, rotation)
    rotated.resolve()
    await gate.promise
    return made
  })
  await rotated.promise
  const second = db
    .transaction((tx) => rotateKey(tx, rotation))
    .then(
      () => 'rotated again',
      (error: Error) => error.message,
    )
  await expect.poll(() => waitingLocks(db)).not.toBe('0')
  gate.resolve()
  expect(await second).toBe(
    `The key ${id} was rotated before; its successor is ${(await first).id}.`,
  )
})

test('a key that another rotation ends while it waits is refused, by the time when its turn comes', async () => {
  await using database = await createTestDatabase('postgres', 'service')
  await using app = await startTestApp({ target: database.target })
  const { db } = app.context
  const owner = await createTestKey(db)
  const other = await createKey(db, {
    accountId: owner.accountId,
    name: 'other',
    scopes: ['keys:manage'],
    plan: 'standard',
    environment: 'test',
  })
  let time = Date.now()
  const now = () => new Date(time)
  const gate = Promise.withResolvers<void>()
  const ended = Promise.withResolvers<void>()
  const first = db.transaction(async (tx) => {
    await lockAccount(tx, owner.accountId)
    ended.resolve()
    await gate.promise
    await rotateKey(tx, { id: other.id, graceSeconds: 0, now })
  })
  await ended.promise
  const second = db
    .transaction((tx) =>
      rotateKey(tx, { id: owner.id, graceSeconds: 0, requestedBy: other.id, now }),
    )
    .then(
      () => 'rotated',
      (error: ProblemError) => error.code,
    )
  await expect.poll(() => waitingLocks(db)).not.toBe('0')
  time += 1
  gate.resolve()
  await first
  expect(await second).toBe('UNAUTHORIZED')
})
