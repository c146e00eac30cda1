import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { SCOPES } from '#contract/api-key-body.ts'
import { createTestDatabase, executeAsOwner, type TestDatabase } from '#testing/postgres.ts'
import { createTestKey, startTestApp, type TestApp } from '#testing/service-app.ts'
import { routes } from '../api/handlers.ts'
import { createRequestLog, MOST_A_MINUTE, MOST_WAITING_ROWS } from '../context/request-log.ts'
import { createKey } from '../keys/create-key.ts'
import { examples } from '../openapi/examples.ts'
import { sweep } from '../service.ts'

const { requestList } = routes
const refused = { isValid: false, invalidReason: 'insufficient_funds', payer: '0xpayer' }

let database: TestDatabase
let app: TestApp
beforeAll(async () => {
  database = await createTestDatabase('postgres', 'service')
  app = await startTestApp({
    target: database.target,
    routes: { requestList, facilitatorVerify: async () => refused },
  })
})
afterAll(async () => {
  await app?.[Symbol.asyncDispose]()
  await database?.[Symbol.asyncDispose]()
})

type Sent = { method?: string; body?: unknown; requestId?: string }
async function ask(key: string, path: string, { body, method, requestId }: Sent = {}) {
  const response = await fetch(app.url + path, {
    method: method ?? (body === undefined ? 'GET' : 'POST'),
    headers: {
      authorization: `Bearer ${key}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(requestId !== undefined && { 'x-request-id': requestId }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  return { status: response.status, json: await response.json() }
}

async function read(key: string, query = '') {
  const { status, json } = await ask(key, `/requests${query}`)
  expect(json).toMatchObject({ success: true })
  expect(status).toBe(200)
  return json
}
const pathsOf = (json: { requests: { method: string; path: string }[] }) =>
  json.requests.map(({ method, path }) => `${method} ${path}`)

test('a request is recorded with what it asked and was answered, and found by its id', async () => {
  const { key, id } = await createTestKey(app.context.db)
  const { metadata, ...body } = examples.transactionSend.request.body
  await ask(key, '/transaction/send', { body: { ...body, metadata }, requestId: 'order-4711' })
  const [row] = (await read(key, '?requestId=order-4711')).requests
  expect(row).toMatchObject({
    keyId: id,
    method: 'POST',
    path: '/transaction/send',
    endpoint: 'transactionSend',
    status: 200,
    code: null,
    skipped: 0,
  })
  expect(JSON.parse(row.request)).toMatchObject({ amount: 0.01, metadata: '[hidden]' })
  expect(JSON.parse(row.response)).toMatchObject({
    paymentId: examples.transactionSend.reply.paymentId,
    transaction: '[hidden]',
  })
  expect(row.at).toBeGreaterThan(Date.now() - 60_000)
  expect((await read(key, '?requestId=another-one')).requests).toEqual([])
})

test('a refused request says why, and a facilitator’s refusal with status 200 is an error too', async () => {
  const { key } = await createTestKey(app.context.db)
  await ask(key, '/payments?limit=0')
  await ask(key, '/facilitator/verify', { body: examples.facilitatorVerify.request.body })
  await ask(key, '/payments')
  const errors = await read(key, '?result=error')
  expect(
    errors.requests.map(({ status, code }: { status: number; code: string }) => [status, code]),
  ).toEqual([
    [200, 'insufficient_funds'],
    [400, 'INVALID_PARAMETERS'],
  ])
  expect(JSON.parse(errors.requests[1].response).error.details).toEqual({
    limit: 'Expected a whole number from 1 to 500.',
  })
  expect(JSON.parse(errors.requests[1].request)).toEqual({ limit: '[hidden]' })
  expect(pathsOf(await read(key, '?result=4xx'))).toEqual(['GET /payments'])
  expect(pathsOf(await read(key, '?path=/facilitator'))).toEqual(['POST /facilitator/verify'])
})

test('an account reads no requests of another account, and reading is not recorded', async () => {
  const [one, two] = [await createTestKey(app.context.db), await createTestKey(app.context.db)]
  await ask(one.key, '/payments', { requestId: 'shared-id' })
  await ask(two.key, '/api-keys', { requestId: 'shared-id' })
  await read(one.key)
  expect(pathsOf(await read(one.key))).toEqual(['GET /payments'])
  expect(pathsOf(await read(two.key, '?requestId=shared-id'))).toEqual(['GET /api-keys'])
  expect((await read(two.key, `?keyId=${one.id}`)).requests).toEqual([])
})

test('a filter by key shows what each key of an account asked, whichever of them reads', async () => {
  const { db } = app.context
  const first = await createTestKey(db)
  const { accountId } = first
  const second = await createKey(db, {
    accountId,
    name: 'second',
    scopes: SCOPES,
    plan: 'premium',
    environment: 'test',
    expiresAt: undefined,
  })
  await ask(first.key, '/payments')
  await ask(second.key, '/api-keys')
  await ask(second.key, '/usage')
  for (const { key } of [first, second]) {
    expect(pathsOf(await read(key, `?keyId=${first.id}`))).toEqual(['GET /payments'])
    expect(pathsOf(await read(key, `?keyId=${second.id}`))).toEqual(['GET /usage', 'GET /api-keys'])
    expect(pathsOf(await read(key))).toHaveLength(3)
  }
  const both = `?keyId=${second.id}&path=/usage`
  expect(pathsOf(await read(first.key, both))).toEqual(['GET /usage'])
})

test('a key without payment:read reads no log', async () => {
  const { key } = await createTestKey(app.context.db, { scopes: ['keys:manage'] })
  expect((await ask(key, '/requests')).status).toBe(403)
})

test('nothing that was pasted in a wrong place is in the table', async () => {
  const { key } = await createTestKey(app.context.db)
  const secret = 'pk_live_7hJ2kLmN4pQrS6tUvW8xYzA1bC3dE5fG9iKoHqMsRuTwXy'
  await ask(key, `/payment/send/${secret}`)
  await ask(key, `/payment/status/${secret}`)
  await ask(key, `/payments?${secret}=1&q=${secret}&status=${secret}`)
  await ask(key, '/payment/receive', { body: { [secret]: secret, paymentProof: secret } })
  await ask(key, '/payment/send', { body: { walletAddress: secret, metadata: { secret } } })
  await ask(key, '/api-keys', { body: examples.apiKeyCreate.request.body })
  await app.context.requests.flush()
  const { rows } = await app.context.db.execute<{ row: string }>(
    sql`select row_to_json(l)::text as row from service.request_log l where account_id = (select account_id from service.api_key where hint like ${`%${key.slice(-4)}`} limit 1)`,
  )
  expect(rows.length).toBe(6)
  const text = rows.map(({ row }) => row).join('\n')
  expect(text).toContain('/payment/send/…')
  expect(text).toContain('/payment/status/:paymentId')
  for (const word of [secret, key, examples.apiKeyCreate.reply.key])
    expect(text).not.toContain(word.slice(0, 20))
})

test('pages follow each other without a gap or a repetition, also where few rows fit', async () => {
  const { key, id, accountId } = await createTestKey(app.context.db)
  await app.context.db.execute(sql`
    insert into service.request_log (account_id, key_id, request_id, at, method, path, endpoint, status, duration_ms, skipped)
    select ${accountId}, ${id}, 'r' || n, now() - make_interval(secs => n / 3), 'GET', case n % 4000 when 0 then '/usage' else '/payments' end, 'paymentList', 200, 1, 0
    from generate_series(1, 12000) n`)
  const seen: string[] = []
  let cursor: string | null = ''
  for (let page = 0; page < 4 && cursor !== null; page++) {
    const json = await read(key, cursor ? `?cursor=${cursor}` : '')
    seen.push(...json.requests.map(({ requestId }: { requestId: string }) => requestId))
    cursor = json.nextCursor
  }
  expect(new Set(seen).size).toBe(200)
  expect(seen.map((each) => Number(each.slice(1))).at(-1)).toBeLessThan(205)
  const rare: number[] = []
  cursor = ''
  let pages = 0
  for (; cursor !== null; pages++) {
    const json = await read(key, `?path=/usage${cursor ? `&cursor=${cursor}` : ''}`)
    rare.push(json.requests.length)
    cursor = json.nextCursor
  }
  // 5,000 rows are looked at for each page.
  expect([pages, rare.reduce((sum, count) => sum + count, 0)]).toEqual([3, 3])
  expect((await read(key, `?until=${Date.now() - 3_000_000}`)).requests).toHaveLength(50)
})

test('a database that does not take the log delays no request, and gets it later', async () => {
  const { key } = await createTestKey(app.context.db)
  const owner = { target: app.context.config.database, db: app.context.db }
  await executeAsOwner(owner, 'alter table service.request_log rename to away')
  expect((await ask(key, '/payments')).status).toBe(200)
  await expect(app.context.requests.flush()).rejects.toThrow('service.request_log')
  expect((await ask(key, '/api-keys')).status).toBe(200)
  await executeAsOwner(owner, 'alter table service.away rename to request_log')
  expect(pathsOf(await read(key))).toEqual(['GET /api-keys', 'GET /payments'])
})

test('no text of a caller stops the log', async () => {
  const { id, accountId } = await createTestKey(app.context.db)
  const errors: unknown[] = []
  const log = createRequestLog(app.context.db, { onError: (error) => errors.push(error) })
  const note = (more: object) =>
    log.note({
      accountId,
      keyId: id,
      requestId: 'x',
      at: new Date(),
      method: 'POST',
      durationMs: 1,
      route: 'facilitatorVerify',
      path: '/facilitator/verify',
      params: {},
      status: 200,
      response: JSON.stringify({ isValid: false, invalidReason: 'a\0b' }),
      ...more,
    })
  note({ body: { paymentRequirements: { scheme: 'a\0b\ud800', asset: '"\\' } } })
  // Deeper than the parser reads.
  note({ response: `{"a":${'['.repeat(20)}${']'.repeat(20)}}` })
  await log.flush()
  // No path has such a method; the database refuses it.
  note({ method: 'P\0T' })
  await expect(log.flush()).rejects.toThrow('service.request_log')
  note({ requestId: 'after' })
  await log.flush()
  const { rows } = await app.context.db.execute(
    sql`select request_id as id, code, skipped, request from service.request_log where account_id = ${accountId} order by skipped`,
  )
  expect(rows).toEqual([
    {
      id: 'x',
      code: 'refused',
      skipped: 0,
      request: '{"paymentRequirements":{"scheme":"a\\u0000b\\ud800","asset":"\\"\\\\"}}',
    },
    { id: 'after', code: 'refused', skipped: 2, request: null },
  ])
  expect(errors).toHaveLength(1)
})

test('memory is bounded: what is not recorded is counted, and the next row of its key tells it', async () => {
  const { id, accountId } = await createTestKey(app.context.db)
  const told: number[] = []
  const log = createRequestLog(app.context.db, { onSkipped: (count) => told.push(count) })
  const note = (keyId: string, at: number) =>
    log.note({
      accountId,
      keyId,
      requestId: 'x',
      at: new Date(at),
      method: 'GET',
      route: 'usage',
      path: '/usage',
      params: {},
      status: 429,
      durationMs: 1,
      response: undefined,
    })
  const minute = 1_700_000_040_000
  // All at once, before the texts of the first ones are redacted.
  for (let n = 0; n < 300; n++) note('burst', minute)
  await log.flush()
  note('burst', minute)
  await log.flush()
  for (let n = 0; n < MOST_A_MINUTE + 300; n++) {
    note(id, minute)
    if (n % 200 === 0) await log.flush()
  }
  note(id, minute + 60_000)
  await log.flush()
  const { rows } = await app.context.db.execute<{ key: string; rows: number; skipped: number }>(
    sql`select key_id as key, count(*)::int as rows, sum(skipped)::int as skipped from service.request_log where account_id = ${accountId} group by 1 order by 2`,
  )
  expect(rows).toEqual([
    { key: 'burst', rows: 257, skipped: 44 },
    { key: id, rows: MOST_A_MINUTE + 1, skipped: 300 },
  ])
  expect(told.reduce((sum, count) => sum + count, 0)).toBe(344)
  expect(MOST_WAITING_ROWS).toBeLessThanOrEqual(2_000)
})

test('requests are removed after 7 days, and no earlier', async () => {
  const { key, id, accountId } = await createTestKey(app.context.db)
  await app.context.db.execute(sql`
    insert into service.request_log (account_id, key_id, request_id, at, method, path, endpoint, status, duration_ms, skipped)
    select ${accountId}, ${id}, 'r', now() - make_interval(hours => n), 'GET', '/usage', 'usage', 200, 1, 0 from generate_series(160, 170) n`)
  await sweep(app.context)
  expect((await read(key)).requests).toHaveLength(8)
})
