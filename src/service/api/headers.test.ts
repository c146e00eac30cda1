import { request } from 'node:http'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { SCOPES } from '#contract/api-key-body.ts'
import { ProblemError } from '#contract/problem.ts'
import { createTestDatabase, type TestDatabase } from '#testing/postgres.ts'
import { createTestKey, startTestApp, type TestApp } from '#testing/service-app.ts'
import { createKey } from '../keys/create-key.ts'

const API_POLICY = "default-src 'none'; frame-ancestors 'none'"
const DOCS_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; frame-ancestors 'none'"

/** On every answer. In place of what differs between two answers stands a mark. */
const COMMON = {
  'cache-control': 'no-store',
  'content-security-policy': API_POLICY,
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'origin-agent-cluster': '?1',
  'referrer-policy': 'no-referrer',
  'strict-transport-security': 'max-age=63072000',
  'x-content-type-options': 'nosniff',
  'x-dns-prefetch-control': 'off',
  'x-download-options': 'noopen',
  'x-frame-options': 'DENY',
  'x-permitted-cross-domain-policies': 'none',
  'x-request-id': '*',
  'x-xss-protection': '0',
  connection: 'keep-alive',
  'keep-alive': 'timeout=5, max=1000',
  date: '*',
}
const LIMITS = { 'x-ratelimit-limit': '*', 'x-ratelimit-remaining': '*', 'x-ratelimit-reset': '*' }
const LENGTH = { 'content-length': '*' }
const JSON_TYPE = { 'content-type': 'application/json' }
const API = { ...COMMON, ...LIMITS, ...LENGTH, ...JSON_TYPE }
const HTML = {
  ...API,
  'content-security-policy': DOCS_POLICY,
  'content-type': 'text/html; charset=utf-8',
}
const MARKED = new Set(['date', 'x-request-id', ...Object.keys({ ...LIMITS, ...LENGTH })])

type Sent = { path: string; method?: string; headers?: Record<string, string>; body?: string }
type Answer = { status: number | undefined; headers: object }

let database: TestDatabase
let app: TestApp
let bearer: Record<string, string>
let slow: Record<string, string>

beforeAll(async () => {
  database = await createTestDatabase('postgres', 'service')
  app = await startTestApp({
    target: database.target,
    routes: {
      tokenInfo: async () => {
        throw new Error('no problem of the caller')
      },
      transactionSubmitted: async () => {
        throw new ProblemError('CHAIN_UNAVAILABLE', { retryAfter: 7 })
      },
    },
  })
  const { db } = app.context
  const { key, accountId } = await createTestKey(db)
  const limited = await createKey(db, {
    accountId,
    name: 'one request a minute',
    scopes: SCOPES,
    plan: 'premium',
    environment: 'test',
    requestsPerMinute: 1,
  })
  bearer = { authorization: `Bearer ${key}` }
  slow = { authorization: `Bearer ${limited.key}` }
})
afterAll(async () => {
  await app?.[Symbol.asyncDispose]()
  await database?.[Symbol.asyncDispose]()
})

/** All headers as they were written, a repeated one as a list. */
function send({ path, method = 'GET', headers = {}, body }: Sent): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request(app.url + path, { method, headers }, (answer) => {
      const found: Record<string, string> = {}
      for (const [name, values = []] of Object.entries(answer.headersDistinct))
        found[name] = MARKED.has(name) && values.length === 1 ? '*' : values.join(' and ')
      answer.resume().on('end', () => resolve({ status: answer.statusCode, headers: found }))
    })
    sent.on('error', reject)
    sent.end(body)
  })
}

const post = (body: string, headers: Record<string, string> = {}): Sent => ({
  path: '/transaction/send',
  method: 'POST',
  headers: { 'content-type': 'application/json', ...bearer, ...headers },
  body,
})
const BODY = JSON.stringify({
  walletAddress: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
  recipientAddress: '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC',
  amount: 0.01,
})

test.each<[string, () => Sent, number, object]>([
  ['200', () => ({ path: '/payments', headers: bearer }), 200, API],
  ['200 to a POST', () => post(BODY), 200, API],
  [
    '200 of an operation',
    () => ({ path: '/health/live' }),
    200,
    { ...COMMON, ...LENGTH, ...JSON_TYPE },
  ],
  ['400', () => post('{"walletAddress":1}'), 400, API],
  ['401', () => ({ path: '/payments' }), 401, { ...API, 'www-authenticate': 'Bearer' }],
  ['404', () => ({ path: '/nothing', headers: bearer }), 404, API],
  ['405', () => ({ path: '/payments', method: 'POST' }), 405, { ...API, allow: 'GET, HEAD' }],
  [
    '405 to OPTIONS',
    () => ({ path: '/transaction/send', method: 'OPTIONS' }),
    405,
    { ...API, allow: 'POST' },
  ],
  [
    '413',
    () => post(JSON.stringify('x'.repeat(70_000))),
    413,
    { ...API, connection: 'close', 'keep-alive': undefined },
  ],
  ['415', () => post(BODY, { 'content-type': 'text/plain' }), 415, API],
  ['500', () => ({ path: `/token/info/0x${'1'.repeat(40)}`, headers: bearer }), 500, API],
  [
    '503',
    () => ({
      ...post(JSON.stringify({ paymentId: `pay_${'1'.repeat(22)}`, signature: '0xabc' })),
      path: '/transaction/submitted',
    }),
    503,
    { ...API, 'retry-after': '7' },
  ],
  // Without a body there is no length.
  [
    'HEAD',
    () => ({ path: '/payments', method: 'HEAD', headers: bearer }),
    200,
    { ...COMMON, ...LIMITS, ...JSON_TYPE },
  ],
  ['the description', () => ({ path: '/openapi.json' }), 200, API],
  ['the guides', () => ({ path: '/docs/' }), 200, HTML],
  [
    'a file of the reference',
    () => ({ path: '/docs/swagger-ui.css' }),
    200,
    { ...HTML, 'content-type': 'text/css; charset=utf-8' },
  ],
  [
    'a redirect',
    () => ({ path: '/docs' }),
    308,
    {
      ...COMMON,
      ...LIMITS,
      'content-security-policy': DOCS_POLICY,
      'transfer-encoding': 'chunked',
      location: '/docs/',
    },
  ],
])('%s has these headers and no others', async (_, sent, status, headers) => {
  expect(await send(sent())).toEqual({ status, headers })
})

test('an answer that is replayed has these headers and no others', async () => {
  const headers = { 'idempotency-key': crypto.randomUUID() }
  expect(await send(post(BODY, headers))).toEqual({ status: 200, headers: API })
  expect(await send(post(BODY, headers))).toEqual({
    status: 200,
    headers: { ...API, 'idempotent-replayed': 'true' },
  })
})

test('429 has these headers and no others', async () => {
  const sent = { path: '/payments', headers: slow }
  expect((await send(sent)).status).toBe(200)
  const { status, headers } = await send(sent)
  expect({ status, headers }).toEqual({
    status: 429,
    headers: { ...API, 'retry-after': expect.stringMatching(/^\d{1,2}$/) },
  })
})
