import { connect } from 'node:net'
import { once } from 'node:events'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Fixture, ORIGIN } from '#testing/fixture.ts'
import { sendRaw } from '#testing/raw-request.ts'

let fixture: Fixture
beforeAll(async () => {
  fixture = await Fixture.open()
})
afterAll(() => fixture?.[Symbol.asyncDispose]())

const PROGRAMS = ['service', 'proxy'] as const
const portOf = (program: (typeof PROGRAMS)[number]) =>
  program === 'service' ? fixture.service.port : fixture.bff.port

const INVALID = 'INVALID_PARAMETERS'
const HOST = 'Host: a\r\n'
const UPGRADE =
  'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n'

const CASES: [string, string | Buffer, number, string][] = [
  ['no HTTP', 'hello\r\n\r\n', 400, INVALID],
  ['a TLS greeting', Buffer.from([0x16, 3, 1, 0, 5, 1, 0, 0, 1, 0]), 400, INVALID],
  ['zero bytes', Buffer.alloc(64), 400, INVALID],
  ['HTTP/0.9', 'GET /health/live\r\n\r\n', 400, INVALID],
  ['HTTP/1.0', `GET /health/live HTTP/1.0\r\n${HOST}\r\n`, 400, INVALID],
  ['HTTP/2.0', `GET /health/live HTTP/2.0\r\n${HOST}\r\n`, 400, INVALID],
  ['the absolute form', `GET http://evil/health/live HTTP/1.1\r\n${HOST}\r\n`, 400, INVALID],
  ['the asterisk form', `OPTIONS * HTTP/1.1\r\n${HOST}\r\n`, 400, INVALID],
  ['no Host', 'GET /health/live HTTP/1.1\r\n\r\n', 400, INVALID],
  ['an empty Host', 'GET /health/live HTTP/1.1\r\nHost: \r\n\r\n', 400, INVALID],
  ['two Host headers', `GET /health/live HTTP/1.1\r\n${HOST}Host: b\r\n\r\n`, 400, INVALID],
  [
    'a second Host after 2,500 headers',
    `GET /health/live HTTP/1.1\r\n${HOST}${'a:\r\n'.repeat(2_500)}Host: b\r\n\r\n`,
    400,
    INVALID,
  ],
  ['a Host that is no host', 'GET /health/live HTTP/1.1\r\nHost: a/b@c\r\n\r\n', 400, INVALID],
  ['a space in the Host', 'GET /health/live HTTP/1.1\r\nHost: a b\r\n\r\n', 400, INVALID],
  ['a backslash in the path', `GET /health\\..\\live HTTP/1.1\r\nHost: A\r\n\r\n`, 400, INVALID],
  [
    'CONNECT',
    `CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n`,
    405,
    'METHOD_NOT_ALLOWED',
  ],
  ['an unknown method', `FETCH /health/live HTTP/1.1\r\n${HOST}\r\n`, 400, INVALID],
  [
    'an unknown expectation',
    `POST /health/live HTTP/1.1\r\n${HOST}Expect: money\r\nContent-Length: 2\r\n\r\n{}`,
    417,
    INVALID,
  ],
  [
    'an upgrade of another path',
    `GET /nothing HTTP/1.1\r\n${HOST}${UPGRADE}\r\n`,
    404,
    'NOT_FOUND',
  ],
  [
    'two lengths',
    `POST /health/live HTTP/1.1\r\n${HOST}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n`,
    400,
    INVALID,
  ],
  [
    'two Content-Lengths',
    `POST /health/live HTTP/1.1\r\n${HOST}Content-Length: 5\r\nContent-Length: 6\r\n\r\n`,
    400,
    INVALID,
  ],
  [
    'a length that is none',
    `POST /health/live HTTP/1.1\r\n${HOST}Content-Length: -1\r\n\r\n`,
    400,
    INVALID,
  ],
  ['a header name with a space', `GET /health/live HTTP/1.1\r\n${HOST}X : 1\r\n\r\n`, 400, INVALID],
  ['a zero byte in a header', `GET /health/live HTTP/1.1\r\n${HOST}X: a\0b\r\n\r\n`, 400, INVALID],
  [
    '17 KiB of headers',
    `GET /health/live HTTP/1.1\r\n${HOST}X: ${'x'.repeat(17_000)}\r\n\r\n`,
    431,
    INVALID,
  ],
  ['17 KiB of path', `GET /${'x'.repeat(17_000)} HTTP/1.1\r\n${HOST}\r\n`, 431, INVALID],
]

describe.each(PROGRAMS)('the %s', (program) => {
  test.each(CASES)('answers %s in the error envelope', async (_, bytes, status, code) => {
    const reply = await sendRaw(portOf(program), bytes)
    expect(reply).toMatchObject({
      status,
      headers: {
        'content-type': 'application/json',
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
      },
    })
    const { success, error } = JSON.parse(reply?.body ?? '')
    expect([success, error.code]).toEqual([false, code])
    expect(error.requestId).toBe(reply?.headers['x-request-id'])
  })

  test('answers a chunk that is none in the error envelope', async () => {
    const [path, facts] =
      program === 'service'
        ? ['/transaction/send', `Authorization: Bearer ${fixture.key}`]
        : ['/api/session', `Origin: ${ORIGIN}`]
    const head = `POST ${path} HTTP/1.1\r\n${HOST}${facts}\r\nX-Requested-By: paydesk\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`
    const reply = await sendRaw(portOf(program), `${head}zz\r\n{}\r\n0\r\n\r\n`)
    expect([reply?.status, JSON.parse(reply?.body ?? '').error.code]).toEqual([400, INVALID])
  })

  test('answers whole requests before one that is broken, each with its own answer', async () => {
    const socket = connect(portOf(program), '127.0.0.1')
    let text = ''
    socket.on('data', (chunk) => (text += String(chunk)))
    socket.write(`GET /health/ready HTTP/1.1\r\n${HOST}\r\nhello\r\n\r\n`)
    await once(socket, 'end')
    expect(text.match(/HTTP\/1\.1 \d+/g)).toHaveLength(1)
    expect(text).toContain('"status"')
    socket.destroy()
  })
})

test('the service answers a WebSocket handshake that is not valid in the error envelope', async () => {
  const reply = await sendRaw(
    fixture.service.port,
    `GET /ws HTTP/1.1\r\n${HOST}${UPGRADE.replace('13', '12')}\r\n`,
  )
  expect(reply).toMatchObject({ status: 400, headers: { 'content-type': 'application/json' } })
  expect(JSON.parse(reply?.body ?? '').error.code).toBe(INVALID)
})
