import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { EgressError, exchange, type ExternalResponse } from './exchange.ts'
import { isPublicAddress } from './public-address.ts'
import { refuseUrl } from './refuse-url.ts'

const LOCAL = { method: 'GET', url: new URL('https://localhost/'), headers: {} }
const LIMITS = { timeoutMs: 2_000, maxBytes: 1024, loopback: false }

test.each([
  '8.8.8.8',
  '1.1.1.1',
  '93.184.215.14',
  '172.32.0.1',
  '2606:4700:4700::1111',
  '2a00:1450:4001:830::200e',
])('%s is public', (address) => {
  expect(isPublicAddress(address)).toBe(true)
})

test.each([
  '0.0.0.0',
  '10.1.2.3',
  '100.64.0.1',
  '127.0.0.1',
  '127.255.255.254',
  '169.254.169.254',
  '172.16.0.1',
  '172.31.255.255',
  '192.0.0.1',
  '192.168.1.1',
  '198.18.0.1',
  '203.0.113.7',
  '224.0.0.1',
  '255.255.255.255',
  '::',
  '::1',
  '::ffff:127.0.0.1',
  '::ffff:8.8.8.8',
  '::ffff:7f00:1',
  '64:ff9b::7f00:1',
  'fc00::1',
  'fd12:3456::1',
  'fe80::1',
  'fe80::1%eth0',
  'fec0::1',
  'ff02::1',
  '2001::1',
  '2001:db8::1',
  '2002:7f00:1::',
  '3fff::1',
  '',
  'localhost',
])('%s is not public', (address) => {
  expect(isPublicAddress(address)).toBe(false)
})

test.each([
  'http://facilitator.example/',
  'https://facilitator.example:8443/',
  'https://user@facilitator.example/',
  'https://user:secret@facilitator.example/',
  'https://127.0.0.1/',
  'https://2130706433/',
  'https://0x7f.1/',
  'https://0177.0.0.1/',
  'https://[::1]/',
  'https://[::ffff:127.0.0.1]/',
  'https://169.254.169.254/latest/meta-data',
  'ftp://facilitator.example/',
  'file:///etc/passwd',
])('%s is never asked', (text) => {
  expect(refuseUrl(new URL(text), false)).toBeDefined()
})

test('a public name over https is asked', () => {
  expect(refuseUrl(new URL('https://x402.org/facilitator'), false)).toBeUndefined()
})

test('loopback is asked only where that is allowed, and only by its address', () => {
  expect(refuseUrl(new URL('http://127.0.0.1:4000/'), true)).toBeUndefined()
  expect(refuseUrl(new URL('http://127.0.0.1:4000/'), false)).toBeDefined()
  expect(refuseUrl(new URL('http://localhost:4000/'), true)).toBeDefined()
  expect(refuseUrl(new URL('http://127.0.0.2:4000/'), true)).toBeDefined()
})

test('a name that leads to this machine is not connected to', async () => {
  const failure: unknown = await exchange(LOCAL, LIMITS).catch((error: unknown) => error)
  expect(String((failure as EgressError).cause)).toContain('not public')
})

async function ask(listener: RequestListener): Promise<ExternalResponse> {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  try {
    const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
    return await exchange({ method: 'GET', url, headers: {} }, { ...LIMITS, loopback: true })
  } finally {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
}

test('an answer comes as it is: its status, its headers as often as they stand there, its bytes', async () => {
  const answer = await ask((_, response) =>
    response
      .writeHead(
        402,
        [
          ['X-Two', 'a'],
          ['X-Two', 'b'],
        ].flat(),
      )
      .end(Uint8Array.of(0, 255)),
  )
  expect(answer.status).toBe(402)
  expect(answer.headers.filter(([name]) => name === 'x-two')).toEqual([
    ['x-two', 'a'],
    ['x-two', 'b'],
  ])
  expect([...answer.body]).toEqual([0, 255])
})

test('a redirect is an answer, and nobody follows it', async () => {
  const answer = await ask((_, response) =>
    response.writeHead(302, { location: 'http://169.254.169.254/' }).end(),
  )
  expect(answer.status).toBe(302)
})

test.each<[string, RequestListener]>([
  ['more bytes than asked for', (_, response) => response.end('x'.repeat(1025))],
  [
    'headers without end',
    (_, response) => response.writeHead(200, { big: 'x'.repeat(20_000) }).end(),
  ],
])('%s is one and the same problem', async (_, listener) => {
  await expect(ask(listener)).rejects.toThrow(new EgressError(undefined))
})
