import { lookup } from 'node:dns/promises'
import { createServer, type RequestListener } from 'node:http'
import net from 'node:net'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { startNameServer } from '#testing/name-server.ts'
import {
  EgressError,
  EgressRefusedError,
  exchange,
  type ExternalRequest,
  type ExternalResponse,
} from './exchange.ts'
import { isPublicAddress, refuseUrl } from './public-address.ts'

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
  '2606:4700:4700::1111%eth0',
  '2606:4700:4700::1.2.3.4',
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
  expect(refuseUrl(new URL('https://127.0.0.1/'), true)).toBeDefined()
  expect(refuseUrl(new URL('http://user@127.0.0.1:4000/'), true)).toBeDefined()
  expect(refuseUrl(new URL('http://:secret@127.0.0.1:4000/'), true)).toBeDefined()
})

test('a refused address is told apart from one that fails, and nothing is sent to it', async () => {
  const url = new URL('http://facilitator.example/')
  await expect(exchange({ ...LOCAL, url }, LIMITS)).rejects.toThrow(EgressRefusedError)
  const failure: unknown = await exchange(LOCAL, LIMITS).catch((error: unknown) => error)
  expect(failure).not.toBeInstanceOf(EgressRefusedError)
})

/** The cause of the failure when a name has these addresses. */
async function causeFor(
  addresses: string[],
  { loopback = false, host = 'shop.example' } = {},
): Promise<unknown> {
  await using _ = await startNameServer(async () => addresses)
  const url = new URL(`https://${host}/`)
  const failure: unknown = await exchange({ ...LOCAL, url }, { ...LIMITS, loopback }).catch(
    (error: unknown) => error,
  )
  return (failure as EgressError).cause
}

test('a name that leads to this machine is not connected to', async () => {
  for (const host of ['localhost', 'shop.example'])
    for (const addresses of [['127.0.0.1'], ['::1'], ['127.0.0.1', '::1']])
      expect(String(await causeFor(addresses, { host }))).toContain('not public')
})

test('a name is not connected to when one of its addresses is not public', async () => {
  for (const addresses of [
    ['10.0.0.1'],
    ['8.8.8.8', '10.0.0.1'],
    ['10.0.0.1', '8.8.8.8'],
    ['8.8.8.8', 'fd12:3456::1'],
    ['10.0.0.1', '2606:4700:4700::1111'],
  ])
    expect(String(await causeFor(addresses))).toContain('not public')
  expect(String(await causeFor(['10.0.0.1'], { loopback: true }))).toContain('not public')
})

test('a name without an address is not connected to', async () => {
  expect(String(await causeFor([]))).toContain('No address of the name')
})

test.each([true, false])(
  'a name of allowed addresses is connected to, several at once: %s',
  async (several) => {
    const original = net.getDefaultAutoSelectFamily()
    net.setDefaultAutoSelectFamily(several)
    try {
      // Nothing listens there, or a server whose certificate is not that of the shop.
      expect(await causeFor(['127.0.0.1'], { loopback: true })).toMatchObject({
        code: expect.stringMatching(/^(ECONNREFUSED|ECONNRESET|EPROTO|ERR_TLS|ERR_SSL|.*CERT)/),
      })
    } finally {
      net.setDefaultAutoSelectFamily(original)
    }
  },
)

test('foreign names whose name servers are silent delay no other lookup of the process', async () => {
  const silence = Promise.withResolvers<string[]>()
  await using nameServer = await startNameServer(() => silence.promise)
  const names = Array.from({ length: 40 }, (_, index) => `shop${index}.example`)
  let over = 0
  const asked = names.map((name) =>
    exchange({ ...LOCAL, url: new URL(`https://${name}/`) }, { ...LIMITS, timeoutMs: 60_000 })
      .catch((error: unknown) => error)
      .finally(() => over++),
  )
  await expect.poll(() => nameServer.asked.size).toBe(names.length)
  await expect(lookup('localhost')).resolves.toMatchObject({ family: expect.any(Number) })
  expect(over).toBe(0)
  silence.resolve(['10.0.0.1'])
  for (const failure of await Promise.all(asked)) expect(failure).toBeInstanceOf(EgressError)
})

test('a name whose name server is silent fails within the time limit', async () => {
  await using nameServer = await startNameServer(() => new Promise(() => undefined))
  const url = new URL('https://shop.example/')
  await expect(exchange({ ...LOCAL, url }, { ...LIMITS, timeoutMs: 200 })).rejects.toThrow(
    EgressError,
  )
  expect([...nameServer.asked]).toEqual(['shop.example'])
})

test('the connection of a refused answer is closed at once', async () => {
  const server = createServer((_, response) =>
    response.writeHead(200, { 'content-encoding': 'gzip' }).write('x'),
  )
  const closed = new Promise((resolve) =>
    server.once('connection', (socket) => socket.once('close', resolve)),
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
  const limits = { ...LIMITS, timeoutMs: 120_000, loopback: true }
  await expect(exchange({ ...LOCAL, url }, limits)).rejects.toThrow(EgressError)
  await closed
  server.close()
})

async function ask(
  listener: RequestListener,
  question: Partial<ExternalRequest> = {},
): Promise<ExternalResponse> {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  try {
    const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
    return await exchange(
      { method: 'GET', url, headers: {}, ...question },
      { ...LIMITS, loopback: true },
    )
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

test('what is sent has the headers and the bytes that were given, and asks for no compression', async () => {
  const answer = await ask(
    (request, response) => {
      const chunks: Buffer[] = []
      request.on('data', (chunk: Buffer) => chunks.push(chunk))
      request.on('end', () => {
        const { method, headers } = request
        const body = Buffer.concat(chunks).toString('hex')
        response.end(JSON.stringify({ method, headers, body }))
      })
    },
    {
      method: 'POST',
      headers: { 'x-one': '1', 'accept-encoding': 'gzip' },
      body: Uint8Array.of(0, 255),
    },
  )
  expect(JSON.parse(Buffer.from(answer.body).toString())).toMatchObject({
    method: 'POST',
    body: '00ff',
    headers: {
      'x-one': '1',
      'user-agent': 'paydesk',
      'accept-encoding': 'identity',
      'content-length': '2',
    },
  })
})

test('as many bytes as allowed are an answer', async () => {
  const answer = await ask((_, response) => response.end('x'.repeat(LIMITS.maxBytes)))
  expect(answer.body).toHaveLength(LIMITS.maxBytes)
})

test('headers come as they are, and nothing beside them', async () => {
  const answer = await ask((_, response) => {
    response.sendDate = false
    response.writeHead(200, { 'X-One': 'a', 'Content-Length': '0', Connection: 'close' }).end()
  })
  expect(answer.headers).toEqual([
    ['x-one', 'a'],
    ['content-length', '0'],
    ['connection', 'close'],
  ])
})

test('a redirect is an answer, and nobody follows it', async () => {
  const answer = await ask((_, response) =>
    response.writeHead(302, { location: 'http://169.254.169.254/' }).end(),
  )
  expect(answer.status).toBe(302)
})

test.each<[string, RequestListener]>([
  [
    'a compressed answer',
    (_, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end('x'),
  ],
  ['more bytes than asked for', (_, response) => response.end('x'.repeat(1025))],
  [
    'headers without end',
    (_, response) => response.writeHead(200, { big: 'x'.repeat(20_000) }).end(),
  ],
])('%s is one and the same problem', async (_, listener) => {
  await expect(ask(listener)).rejects.toThrow(new EgressError(undefined))
})
