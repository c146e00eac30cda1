import { request } from 'node:http'
import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Fixture, ORIGIN } from '#testing/fixture.ts'

const ALLOWED = [ORIGIN, 'https://pay.example.com']

let fixture: Fixture
beforeAll(async () => {
  fixture = await Fixture.open({ bff: { allowedOrigins: ALLOWED } })
})
afterAll(() => fixture?.[Symbol.asyncDispose]())

type Sent = { status: number; headers: Record<string, string | string[] | undefined> }

/** Node's own client sends any header, which fetch does not. */
function send(
  method: string,
  path: string,
  headers: Record<string, string | string[]>,
  body?: string,
): Promise<Sent> {
  return new Promise((resolve, reject) => {
    const sent = request(fixture.bff.url + path, { method, headers, agent: false }, (response) => {
      response.resume()
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers }),
      )
    })
    sent.on('error', reject)
    sent.end(body)
  })
}

const FOREIGN = [
  'null',
  '',
  '*',
  'http://localhost',
  'http://localhost:4174',
  'https://localhost:4173',
  'http://LOCALHOST:4173',
  'http://localhost:4173/',
  'http://localhost:4173.evil.example',
  'http://evil.example?http://localhost:4173',
  'http://user@localhost:4173',
  'https://pay.example.com:443',
  'http://pay.example.com',
  'https://evil-pay.example.com',
  'https://sub.pay.example.com',
  'https://pay.example.com.evil.example',
  'https://pay.example.com, https://evil.example',
  'https://pay.example.comm',
  'file://',
  'chrome-extension://abcdefgh',
]

describe('an origin that is not in the list', () => {
  test.each(FOREIGN)(
    '%j reads nothing, changes nothing, and is told nothing that a page could read',
    async (origin) => {
      const write = { 'Content-Type': 'application/json', 'X-Requested-By': 'paydesk' }
      for (const answer of [
        await send('GET', '/api/config', { Origin: origin }),
        await send('OPTIONS', '/api/session', {
          Origin: origin,
          'Access-Control-Request-Method': 'POST',
        }),
        await send('DELETE', '/api/session', { Origin: origin, ...write }),
        await send('POST', '/api/session/challenge', { Origin: origin, ...write }, '{}'),
      ]) {
        expect(answer.status).toBe(403)
        expect(
          Object.keys(answer.headers).filter((name) => name.startsWith('access-control')),
        ).toEqual([])
        expect(answer.headers.vary).toBe('Origin')
      }
    },
  )
})

describe('an allowed origin', () => {
  test.each(ALLOWED)(
    '%s is answered by its own name, with credentials and the headers the page needs',
    async (origin) => {
      const answer = await send('GET', '/api/config', { Origin: origin })
      expect(answer).toMatchObject({
        status: 200,
        headers: {
          'access-control-allow-origin': origin,
          'access-control-allow-credentials': 'true',
          vary: 'Origin',
        },
      })
      for (const name of [
        'X-RateLimit-Limit',
        'X-RateLimit-Remaining',
        'X-RateLimit-Reset',
        'Retry-After',
        'X-Request-Id',
        'PAYMENT-RESPONSE',
      ]) {
        expect(String(answer.headers['access-control-expose-headers']).split(', ')).toContain(name)
      }
      const preflight = await send('OPTIONS', '/api/transaction/send', {
        Origin: origin,
        'Access-Control-Request-Method': 'POST',
      })
      expect(preflight).toMatchObject({
        status: 204,
        headers: {
          'access-control-allow-origin': origin,
          'access-control-allow-methods': 'GET, POST, DELETE',
        },
      })
      expect(String(preflight.headers['access-control-allow-headers'])).toContain('X-Requested-By')
    },
  )
})

describe('a state change', () => {
  const page = {
    Origin: ORIGIN,
    'Content-Type': 'application/json',
    'X-Requested-By': 'paydesk',
    'Sec-Fetch-Site': 'same-site',
    'Sec-Fetch-Mode': 'cors',
    'Sec-Fetch-Dest': 'empty',
  }
  const body = JSON.stringify({
    walletAddress: '11111111111111111111111111111111',
    network: 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1',
  })
  const change = (changes: Record<string, string | undefined>) => {
    const headers = Object.fromEntries(
      Object.entries({ ...page, ...changes }).filter(
        (entry): entry is [string, string] => entry[1] !== undefined,
      ),
    )
    return send('POST', '/api/session/challenge', headers, body)
  }

  test.each<[string, Record<string, string | undefined>]>([
    ['from a page on the same site', {}],
    ['from a page of another site that is allowed', { 'Sec-Fetch-Site': 'cross-site' }],
    [
      'from a page of the same origin',
      { 'Sec-Fetch-Site': 'same-origin', 'Sec-Fetch-Mode': 'same-origin' },
    ],
    [
      'from a browser without Sec-Fetch headers',
      { 'Sec-Fetch-Site': undefined, 'Sec-Fetch-Mode': undefined, 'Sec-Fetch-Dest': undefined },
    ],
    ['with the charset spelled out', { 'Content-Type': 'application/json; charset=utf-8' }],
  ])('%s is taken', async (_, changes) => expect((await change(changes)).status).toBe(200))

  test.each<[string, Record<string, string | undefined>, number]>([
    ['without Origin', { Origin: undefined }, 403],
    ['without X-Requested-By', { 'X-Requested-By': undefined }, 403],
    ['with another X-Requested-By', { 'X-Requested-By': 'XMLHttpRequest' }, 403],
    ['that the address bar made', { 'Sec-Fetch-Site': 'none' }, 403],
    ['with a made-up Sec-Fetch-Site', { 'Sec-Fetch-Site': 'friendly' }, 403],
    ['by a form', { 'Sec-Fetch-Mode': 'navigate', 'Sec-Fetch-Dest': 'document' }, 403],
    ['by a form in a frame', { 'Sec-Fetch-Mode': 'navigate', 'Sec-Fetch-Dest': 'iframe' }, 403],
    ['without CORS', { 'Sec-Fetch-Mode': 'no-cors' }, 403],
    ['by a socket', { 'Sec-Fetch-Mode': 'websocket' }, 403],
    ['as text', { 'Content-Type': 'text/plain' }, 415],
    ['as a form', { 'Content-Type': 'application/x-www-form-urlencoded' }, 415],
    ['without a type', { 'Content-Type': undefined }, 415],
    ['as text that mentions JSON', { 'Content-Type': 'text/plain; application/json' }, 415],
    ['in another charset', { 'Content-Type': 'application/json; charset=utf-16' }, 415],
    ['as a kind of JSON', { 'Content-Type': 'application/problem+json' }, 415],
  ])('%s is refused', async (_, changes, status) =>
    expect((await change(changes)).status).toBe(status),
  )
})

describe('a read without Origin', () => {
  test.each<[string, number]>([
    ['same-origin', 200],
    ['none', 200],
    ['same-site', 403],
    ['cross-site', 403],
  ])('and Sec-Fetch-Site %s is answered with %i', async (site, status) => {
    expect((await send('GET', '/api/config', { 'Sec-Fetch-Site': site })).status).toBe(status)
  })
})

test('every answer, an error too, is not kept, not framed, not sniffed and names no server', async () => {
  for (const path of ['/api/config', '/api/nothing', '/api/payments', '/health/live', '/']) {
    const { headers } = await send('GET', path, {})
    expect(headers).toMatchObject({
      'cache-control': 'no-store',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
      'cross-origin-resource-policy': 'same-origin',
      'referrer-policy': 'no-referrer',
      'strict-transport-security': 'max-age=31536000',
      'x-content-type-options': 'nosniff',
    })
    expect(headers).not.toHaveProperty('server')
    expect(headers).not.toHaveProperty('x-powered-by')
  }
})

test('only paths of the table exist: no spelling of another reaches the service', async () => {
  const paths = [
    '/api/api-keys',
    '/api/usage',
    '/api/wallets',
    '/api/payment/send',
    '/api/facilitator/settle',
    '/api/facilitator/supported',
    '/api/metrics',
    '/api/ws',
    '/api/openapi.json',
    '/api/health/ready',
  ]
  const tricks = [
    '/api/..%2fmetrics',
    '/api/payment/status/..%2f..%2fmetrics',
    '/api/payment/status/%2e%2e',
    '/api//payments',
    '/api/payments/',
    '/api/http://127.0.0.1/',
    '/payments',
    '/api/token/info/..%2f..%2fmetrics',
  ]
  for (const path of [...paths, ...tricks]) {
    const { status } = await send('GET', path, { Origin: ORIGIN })
    expect([400, 401, 404], path).toContain(status)
  }
  expect(
    (await send('PUT', '/api/session', { Origin: ORIGIN, 'X-Requested-By': 'paydesk' })).headers
      .allow,
  ).toBe('GET, POST, DELETE')
})

test.each([
  ['HTTP/1.0', 'GET /api/config HTTP/1.0\r\nHost: a\r\n\r\n'],
  ['two Host headers', 'GET /api/config HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n'],
  ['an absolute target', 'GET http://127.0.0.1/api/config HTTP/1.1\r\nHost: a\r\n\r\n'],
  [
    'both lengths',
    'POST /api/session HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
  ],
])('a request with %s is refused', async (_, text) => {
  const answer = await new Promise<string>((resolve, reject) => {
    const socket = connect(fixture.bff.port, '127.0.0.1', () => socket.end(text))
    let received = ''
    socket.on('data', (chunk) => (received += String(chunk)))
    socket.on('close', () => resolve(received))
    socket.on('error', reject)
  })
  expect(answer).toMatch(/^HTTP\/1\.1 400 /)
})

test('a body of more than 64 KiB, nested too deep, or not UTF-8 is refused', async () => {
  const headers = {
    Origin: ORIGIN,
    'Content-Type': 'application/json',
    'X-Requested-By': 'paydesk',
  }
  expect((await send('POST', '/api/session', headers, `"${'x'.repeat(70_000)}"`)).status).toBe(413)
  expect(
    (
      await send(
        'POST',
        '/api/session',
        { ...headers, 'Transfer-Encoding': 'chunked' },
        `"${'x'.repeat(70_000)}"`,
      )
    ).status,
  ).toBe(413)
  for (const body of [
    '',
    '{',
    '['.repeat(100_0),
    '{"id":"a","id":"b","signature":""}',
    '{"__proto__":{}}',
  ])
    expect((await send('POST', '/api/session', headers, body)).status).toBe(400)
})

test.each([
  ['a length', 'Content-Length: 500\r\n\r\n{"walletAddress":'],
  ['chunks', 'Transfer-Encoding: chunked\r\n\r\n5\r\n{"a":\r\n'],
])(
  'a client that leaves in the middle of a body with %s is no error of ours in the log',
  async (_, rest) => {
    fixture.log.length = 0
    const socket = connect(fixture.bff.port, '127.0.0.1')
    const head = `POST /api/session HTTP/1.1\r\nHost: a\r\nOrigin: ${ORIGIN}\r\nX-Requested-By: paydesk\r\nContent-Type: application/json\r\n`
    socket.write(head + rest, () => void socket.destroy())
    await expect.poll(() => fixture.log.length).toBe(1)
    expect(JSON.parse(fixture.log[0] ?? '')).toMatchObject({
      msg: 'request',
      route: 'sessionCreate',
      level: 'info',
      status: 400,
    })
  },
)

test('a field or a parameter with the name of something every object has is as unknown as any other', async () => {
  const headers = {
    Origin: ORIGIN,
    'Content-Type': 'application/json',
    'X-Requested-By': 'paydesk',
  }
  for (const name of ['toString', 'valueOf', 'hasOwnProperty', '__proto__', 'constructor']) {
    const body = JSON.stringify({
      walletAddress: '11111111111111111111111111111111',
      network: 'eip155:1',
    }).replace('{', `{"${name}":1,`)
    expect((await send('POST', '/api/session/challenge', headers, body)).status, name).toBe(400)
    expect((await send('GET', `/api/payments?${name}=1`, { Origin: ORIGIN })).status, name).toBe(
      400,
    )
  }
})
