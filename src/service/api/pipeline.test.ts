import { request as httpRequest } from 'node:http'
import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { endpoints } from '#contract/endpoints.ts'
import { ProblemError } from '#contract/problem.ts'
import { apiKey } from '../db/schema/access.ts'
import { checkResponse } from '#testing/described-responses.ts'
import { createTestDatabase, type TestDatabase } from '#testing/postgres.ts'
import { createTestKey, startTestApp, type TestApp } from '#testing/service-app.ts'
import { eq } from 'drizzle-orm'

const BUYER = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
const SELLER = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC'
const BODY = { walletAddress: BUYER, recipientAddress: SELLER, amount: 0.01 }

describe('the pipeline', () => {
  let database: TestDatabase
  let app: TestApp
  let key: string
  const lines: string[] = []

  beforeAll(async () => {
    database = await createTestDatabase('postgres', 'service')
    app = await startTestApp({
      target: database.target,
      log: { write: (line) => void lines.push(line) },
      routes: {
        tokenInfo: async () => {
          throw new Error(`secret ${key} Bearer ${key} postgres://user:hunter2@host/db`)
        },
        paymentSummary: async () => ({ success: true }) as never,
        transactionSubmitted: async () => {
          throw new ProblemError('CHAIN_UNAVAILABLE', {
            retryAfter: 7,
            details: { network: 'eip155:1' },
          })
        },
      },
    })
    ;({ key } = await createTestKey(app.context.db))
  })
  afterAll(async () => {
    await app?.[Symbol.asyncDispose]()
    await database?.[Symbol.asyncDispose]()
  })

  function get(path: string, headers: Record<string, string> = { authorization: `Bearer ${key}` }) {
    return fetch(app.url + path, { headers })
  }
  function post(path: string, body: BodyInit, headers: Record<string, string> = {}) {
    return fetch(app.url + path, {
      method: 'POST',
      body,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
    })
  }
  const send = (body: unknown, headers?: Record<string, string>) =>
    post('/transaction/send', JSON.stringify(body), headers)

  test('a missing, malformed, unknown, revoked and expired key get one and the same 401', async () => {
    const revoked = await createTestKey(app.context.db)
    await app.context.db
      .update(apiKey)
      .set({ revokedAt: new Date() })
      .where(eq(apiKey.id, revoked.id))
    const expired = await createTestKey(app.context.db, { expiresAt: new Date(Date.now() - 1_000) })
    const unknown = 'pk_test_' + key.slice(8)
    const tries = [
      undefined,
      'Bearer',
      'Bearer nonsense',
      `Basic ${key}`,
      `Bearer ${key.slice(0, -1)}0`,
      `Bearer ${unknown.toLowerCase()}`,
      `Bearer ${revoked.key}`,
      `Bearer ${expired.key}`,
    ]
    const answers = await Promise.all(
      tries.map(async (authorization) => {
        const response = await get('/payments', authorization ? { authorization } : {})
        const { error, success } = await response.json()
        return JSON.stringify({
          status: response.status,
          auth: response.headers.get('www-authenticate'),
          success,
          error: { ...error, requestId: '' },
        })
      }),
    )
    expect(new Set(answers)).toEqual(
      new Set([
        JSON.stringify({
          status: 401,
          auth: 'Bearer',
          success: false,
          error: {
            code: 'UNAUTHORIZED',
            message: 'The API key is missing or not valid.',
            requestId: '',
          },
        }),
      ]),
    )
  })

  test('a valid key without the scope gets a 403 that names the scope', async () => {
    const weak = await createTestKey(app.context.db, { scopes: ['token:read'] })
    const response = await get('/payments', { authorization: `Bearer ${weak.key}` })
    expect(response.status).toBe(403)
    expect((await response.json()).error).toMatchObject({
      code: 'FORBIDDEN',
      details: { scope: 'payment:read' },
      message: expect.stringContaining('payment:read'),
    })
  })

  test('every answer carries the request id, the limits, no-store and the security headers', async () => {
    const answers = await Promise.all([
      get(`/payment/status/pay_${'1'.repeat(22)}`),
      get('/payments', {}),
      get('/nothing'),
      post('/payments', '{}'),
      send({ nonsense: 1 }),
      post('/transaction/send', 'x', { 'content-type': 'text/plain' }),
      get('/token/info/' + SELLER),
      get('/openapi.json', {}),
    ])
    expect(answers.map((answer) => answer.status)).toEqual([200, 401, 404, 405, 400, 415, 500, 200])
    for (const { headers } of answers) {
      expect(headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
      expect(headers.get('x-ratelimit-limit')).toMatch(/^(100|1000)$/)
      expect(headers.get('x-ratelimit-remaining')).toMatch(/^\d+$/)
      expect(Math.abs(Number(headers.get('x-ratelimit-reset')) - Date.now() / 1000)).toBeLessThan(
        64,
      )
      expect(headers.get('cache-control')).toBe('no-store')
      expect(headers.get('x-content-type-options')).toBe('nosniff')
      expect(headers.get('content-security-policy')).toContain("default-src 'none'")
      expect(headers.get('content-type')).toBe('application/json')
    }
  })

  test('a known path with another method says which ones it takes', async () => {
    const response = await post('/payments', '{}')
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
    const other = await fetch(`${app.url}/transaction/send`, { method: 'DELETE' })
    expect([other.status, other.headers.get('allow')]).toEqual([405, 'POST'])
    expect((await post('/docs', '{}')).headers.get('allow')).toBe('GET, HEAD')
    expect((await fetch(`${app.url}/ws`)).status).toBe(400)
  })

  test('all problems of a request are told at once, by field, and a misspelt field with the name it likely means', async () => {
    const response = await send({
      walletAddress: 'nope',
      amount: '0.1',
      expectedAmmount: 1,
      recipientAdress: SELLER,
      zzz: true,
    })
    expect(response.status).toBe(400)
    const { error } = await response.json()
    expect(error.code).toBe('INVALID_PARAMETERS')
    expect(error.details).toEqual({
      walletAddress: 'Expected 0x and 40 hex digits, or base58 of 32 bytes, received "nope".',
      recipientAddress: 'Expected a string, received nothing.',
      amount: 'Expected a number, received "0.1".',
      expectedAmmount: expect.stringMatching(/^Unknown field\. Known are walletAddress, /),
      recipientAdress: 'Unknown field. Did you mean recipientAddress?',
      zzz: expect.stringMatching(/^Unknown field/),
    })
    expect(error.message).toMatch(/^6 fields are not valid: walletAddress, /)
  })

  test.each([
    ['[]', 'Expected a JSON object, received an array.'],
    ['"text"', 'Expected a JSON object, received "text".'],
    ['1.5', 'Expected a JSON object, received 1.5.'],
    ['null', 'Expected a JSON object, received null.'],
    ['', 'Expected a JSON object, received nothing.'],
    ['{"amount":1,"amount":2}', 'The key "amount" stands twice in one object.'],
    ['{"__proto__":{"a":1}}', 'The key "__proto__" is not allowed.'],
    ['{"amount":', 'Expected well-formed JSON.'],
    [`{"metadata":${'['.repeat(20_000)}`, 'Expected at most 16 levels of nesting.'],
    [new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x7d]), 'Expected valid UTF-8.'],
  ])('the body %j is refused with a sentence', async (body, sentence) => {
    const response = await post('/transaction/send', body)
    expect(response.status).toBe(400)
    expect((await response.json()).error.details).toEqual({ body: sentence })
  })

  test.each([
    ['text/plain'],
    ['application/x-www-form-urlencoded'],
    ['application/json; charset=latin1'],
    ['application/json-patch+json'],
    [''],
  ])('the media type %j is refused', async (type) => {
    const response = await post('/transaction/send', JSON.stringify(BODY), { 'content-type': type })
    expect([response.status, (await response.json()).error.code]).toEqual([
      415,
      'UNSUPPORTED_MEDIA_TYPE',
    ])
  })

  test('the media type may name its charset', async () => {
    expect((await send(BODY, { 'content-type': 'Application/JSON; charset=UTF-8' })).status).toBe(
      200,
    )
  })

  test('a body above 64 KiB is refused, whether its length was announced or not', async () => {
    const big = JSON.stringify({ ...BODY, resource: 'x'.repeat(65_536) })
    const announced = await post('/transaction/send', big)
    expect([announced.status, (await announced.json()).error.code]).toEqual([
      413,
      'PAYLOAD_TOO_LARGE',
    ])
    const streamed = await new Promise<number>((resolve, reject) => {
      const request = httpRequest(
        `${app.url}/transaction/send`,
        {
          method: 'POST',
          headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        },
        (response) => {
          response.resume()
          resolve(response.statusCode ?? 0)
        },
      )
      request.on('error', reject)
      request.write(big.slice(0, 40_000))
      request.end(big.slice(40_000))
    })
    expect(streamed).toBe(413)
  })

  test('a query parameter that stands twice, is unknown or out of bounds is refused', async () => {
    const twice = await get('/payments?limit=1&limit=2')
    expect((await twice.json()).error.message).toBe('limit: Expected one value, received several.')
    for (const name of ['__proto__', 'constructor', 'prototype']) {
      const hostile = await get(`/payments?${name}=1`)
      expect([hostile.status, (await hostile.json()).error.details]).toEqual([
        400,
        { query: `The name "${name}" is not allowed.` },
      ])
    }
    const inherited = await get('/payments?toString=1')
    expect((await inherited.json()).error.details).toEqual({
      toString: expect.stringMatching(/^Unknown field/),
    })
    const wrong = await get('/payments?limit=501&ofset=1&type=both')
    expect((await wrong.json()).error.details).toEqual({
      limit: 'Expected a whole number from 1 to 500, received "501".',
      type: 'Expected one of "received", "sent", "internal", "external", "all", received "both".',
      ofset: 'Unknown field. Did you mean offset?',
    })
    const none = await get('/api-keys?limit=1')
    expect([none.status, (await none.json()).error.details]).toEqual([
      400,
      { limit: 'Unknown field. There are none here.' },
    ])
    const words = await get('/payments?q=&status=paid')
    expect((await words.json()).error.details).toEqual({
      q: 'Expected some text.',
      status: expect.stringMatching(/^Expected one of "created", .* received "paid"\.$/),
    })
  })

  test('an unexpected error says nothing but the request id, and is logged without secrets', async () => {
    lines.length = 0
    const response = await get(`/token/info/${SELLER}`, {
      authorization: `Bearer ${key}`,
      'x-request-id': 'from-the-proxy-1',
    })
    const text = await response.text()
    expect(response.status).toBe(500)
    expect(JSON.parse(text)).toEqual({
      success: false,
      error: {
        code: 'INTERNAL',
        message: 'Something failed on our side.',
        requestId: 'from-the-proxy-1',
      },
      timestamp: expect.any(Number),
    })
    const log = lines.join('')
    expect(log).toContain('from-the-proxy-1')
    expect(log).toContain('request failed')
    expect(log).not.toContain(key)
    expect(log).not.toContain(key.slice(8, 40))
    expect(log).not.toContain('hunter2')
  })

  test('a request writes one log line with route, status, time and account', async () => {
    lines.length = 0
    await send(BODY)
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      expect.objectContaining({
        msg: 'request',
        route: 'transactionSend',
        method: 'POST',
        status: 200,
        ms: expect.any(Number),
        requestId: expect.any(String),
        accountId: expect.stringMatching(/^acc_/),
      }),
    ])
  })

  test('an answer that does not match its schema is an error of ours, not an answer', async () => {
    expect((await get('/payments/summary')).status).toBe(500)
  })

  test('a problem of a handler keeps its status, details and Retry-After', async () => {
    const response = await post(
      '/transaction/submitted',
      JSON.stringify({ paymentId: `pay_${'1'.repeat(22)}`, signature: '0xabc' }),
    )
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '7'])
    expect((await response.json()).error).toMatchObject({
      code: 'CHAIN_UNAVAILABLE',
      retryAfter: 7,
      details: { network: 'eip155:1' },
    })
  })

  test('health and the reference answer without a key; metrics and what is broken do not', async () => {
    expect(await (await get('/health/live', {})).json()).toEqual({ status: 'ok' })
    expect(await (await get('/health/ready', {})).json()).toEqual({ status: 'ok' })
    expect((await get('/metrics')).status).toBe(404)
    const page = await get('/docs', {})
    expect([page.status, await page.text()]).toEqual([
      200,
      expect.stringContaining('<h2 id="a-server-that-is-paid">'),
    ])
    const reference = await get('/docs/reference', {})
    expect(await reference.text()).toContain('/docs/swagger-ui-bundle.js')
    const files = await Promise.all(
      ['swagger-ui.css', 'swagger-ui-bundle.js', 'favicon-32x32.png', 'start.js', 'docs.css'].map(
        (name) => get(`/docs/${name}`, {}),
      ),
    )
    expect(files.map((file) => file.status)).toEqual(Array.from({ length: 5 }, () => 200))
    expect(page.headers.get('content-security-policy')).toContain("script-src 'self'")
  })

  test.each(['/health/live', '/payments', '/nothing', '/ws', '/docs/', '/docs/start.js'])(
    '%s is answered with every security header',
    async (path) => {
      const { headers } = await get(path, {})
      const policy = headers.get('content-security-policy') ?? ''
      expect(policy.split('; ')).toEqual(
        expect.arrayContaining(["default-src 'none'", "frame-ancestors 'none'"]),
      )
      expect(policy.includes("script-src 'self'")).toBe(path.startsWith('/docs/'))
      expect(Object.fromEntries(headers)).toMatchObject({
        'cache-control': 'no-store',
        'cross-origin-resource-policy': 'same-origin',
        'referrer-policy': 'no-referrer',
        'strict-transport-security': 'max-age=63072000',
        'x-content-type-options': 'nosniff',
        'x-frame-options': 'DENY',
      })
    },
  )

  test.each([
    ['HTTP/1.0', 'GET /health/live HTTP/1.0\r\nHost: a\r\n\r\n', 400],
    ['two Host headers', 'GET /health/live HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n', 400],
    ['the absolute form', 'GET http://evil/health/live HTTP/1.1\r\nHost: a\r\n\r\n', 400],
    ['no HTTP at all', 'hello\r\n\r\n', 400],
    [
      '17 KiB of headers',
      `GET /health/live HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(17_000)}\r\n\r\n`,
      431,
    ],
    [
      'two lengths',
      'POST /transaction/send HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n',
      400,
    ],
  ])('%s is refused in the same envelope', async (_, bytes, status) => {
    const answer = await new Promise<string>((resolve, reject) => {
      let text = ''
      const socket = connect(app.port, '127.0.0.1', () => socket.write(bytes))
      socket.on('data', (chunk) => (text += String(chunk)))
      socket.on('error', reject)
      socket.on('close', () => resolve(text))
    })
    expect(answer.split('\r\n')[0]).toContain(String(status))
    expect(JSON.parse(answer.split('\r\n\r\n')[1] ?? '')).toMatchObject({
      success: false,
      error: { code: 'INVALID_PARAMETERS', requestId: expect.any(String) },
    })
  })

  test('a query longer than a request may be is refused as the description of its endpoint says', async () => {
    const response = await fetch(`${app.url}/payments?type=${'x'.repeat(17_000)}`)
    expect(response.status).toBe(431)
    const { status, headers } = response
    const body: unknown = await response.json()
    expect(checkResponse({ method: 'GET', path: '/payments', status, headers, body })).toEqual([])
  })

  test.each([
    ['a length', 'Content-Length: 500\r\n\r\n{"walletAddress":'],
    ['chunks', 'Transfer-Encoding: chunked\r\n\r\n5\r\n{"a":\r\n'],
  ])(
    'a client that leaves in the middle of a body with %s is no error of ours, in the log and in the metrics',
    async (_, rest) => {
      lines.length = 0
      const socket = connect(app.port, '127.0.0.1')
      const head = `POST /transaction/send HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\n`
      socket.write(head + rest, () => void socket.destroy())
      await expect.poll(() => lines.length).toBe(1)
      expect(JSON.parse(lines[0] ?? '')).toMatchObject({
        msg: 'request',
        route: 'transactionSend',
        level: 30,
        status: 400,
      })
      expect(await (await fetch(`${app.internalUrl}/metrics`)).text()).not.toMatch(
        /route="transactionSend",method="POST",status="5/,
      )
    },
  )

  test('every endpoint of the table is mounted', async () => {
    for (const { method, path } of Object.values(endpoints)) {
      const response = await fetch(app.url + path.replace(/:\w+/, 'x'), { method })
      expect([path, response.status]).toEqual([path, 401])
    }
  })
})
