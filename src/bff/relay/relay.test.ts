import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { Fixture } from '#testing/fixture.ts'
import { evmWallet, type BrowserResponse, type TestBrowser } from '#testing/test-browser.ts'

const wallet = evmWallet()
let fixture: Fixture
let site: Server
let base: string
let listener: RequestListener
let seen: IncomingMessage[] = []

beforeAll(async () => {
  site = createServer((request, response) => {
    seen.push(request)
    listener(request, response)
  })
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve))
  base = `http://127.0.0.1:${(site.address() as AddressInfo).port}`
  fixture = await Fixture.open()
})

beforeEach(() => {
  seen = []
  listener = (request, response) => {
    response.writeHead(402, {
      'payment-required': 'abc',
      'set-cookie': 'a=b',
      'content-type': 'text/plain',
    })
    request.pipe(response)
  }
})

afterAll(async () => {
  await fixture?.[Symbol.asyncDispose]()
  await new Promise((resolve) => site.close(resolve))
})

type Relayed = { answered: boolean; status: number; headers: [string, string][]; body: string }

function relayed(answer: BrowserResponse): Relayed {
  return answer.json as unknown as Relayed
}

function ask(browser: TestBrowser, body: Record<string, unknown>): Promise<BrowserResponse> {
  return browser.post('/api/relay', { method: 'GET', headers: [], ...body })
}

test('an answer comes back as data: status, headers without cookies, bytes', async () => {
  const answer = await ask(fixture.browser(), {
    method: 'POST',
    url: `${base}/a?b=c`,
    headers: [['X-PAYMENT', 'proof']],
    body: 'hé',
  })
  expect(answer.status).toBe(200)
  const { status, headers, body } = relayed(answer)
  expect(status).toBe(402)
  expect(new Map(headers).get('payment-required')).toBe('abc')
  expect(headers.map(([name]) => name)).not.toContain('set-cookie')
  expect(Buffer.from(body, 'base64').toString()).toBe('hé')
  expect(seen[0]?.url).toBe('/a?b=c')
})

test('nothing of the visitor or of the proxy goes along', async () => {
  const browser = fixture.browser()
  await browser.signIn(wallet)
  await ask(browser, { url: base, headers: [['Accept', 'text/html']] })
  expect(Object.keys(seen[0]?.headers ?? {}).toSorted()).toEqual([
    'accept',
    'accept-encoding',
    'connection',
    'host',
    'user-agent',
  ])
  expect(seen[0]?.headers['user-agent']).toBe('paydesk')
  expect(JSON.stringify(seen[0]?.rawHeaders)).not.toContain(fixture.key)
})

test.each([
  'Cookie',
  'authorization',
  'Host',
  'Content-Length',
  'Sec-Fetch-Site',
  'X-Forwarded-For',
  'Proxy-Authorization',
  'Connection',
])('the header %s is refused, and named', async (name) => {
  const answer = await ask(fixture.browser(), { url: base, headers: [[name, '1']] })
  expect(answer.status).toBe(400)
  expect(answer.json.error.details?.['headers.0']).toContain(name)
  expect(seen).toEqual([])
})

test.each([
  ['a line break in a value', { headers: [['X-One', 'a\r\nX-Two: b']] }],
  [
    'a header twice',
    {
      headers: [
        ['X-One', 'a'],
        ['x-one', 'b'],
      ],
    },
  ],
  ['a body with GET', { body: 'x' }],
  ['a method nobody knows', { method: 'TRACE' }],
  ['no address', { url: 'nowhere' }],
  ['a field nobody knows', { cookies: true }],
])('%s is refused', async (_, change) => {
  const answer = await ask(fixture.browser(), { url: base, ...change })
  expect(answer.status).toBe(400)
  expect(seen).toEqual([])
})

test.each([
  'https://localhost/',
  'https://169.254.169.254/latest/meta-data',
  'https://[::1]/',
  'http://example.org/',
  'https://example.org:8443/',
  'file:///etc/passwd',
  'https://user:secret@example.org/',
])('%s is not asked, and the answer does not say why', async (url) => {
  const answer = await ask(fixture.browser(), { url })
  expect(answer.json).toEqual({ answered: false })
})

test('what answers too much is not passed on', async () => {
  listener = (_, response) => response.end('x'.repeat(512 * 1024 + 1))
  expect((await ask(fixture.browser(), { url: base })).json).toEqual({ answered: false })
})

test('a redirect is passed on, not followed', async () => {
  listener = (_, response) => response.writeHead(302, { location: 'http://169.254.169.254/' }).end()
  expect(relayed(await ask(fixture.browser(), { url: base })).status).toBe(302)
  expect(seen).toHaveLength(1)
})

test('neither a payment nor an address gets into the log', async () => {
  await ask(fixture.browser(), {
    url: `${base}/secret-path`,
    headers: [['X-PAYMENT', 'secret-proof']],
    method: 'POST',
    body: 'secret-body',
  })
  expect(fixture.log.join('\n')).not.toMatch(/secret-/)
})

/** Answers nothing until `end`; `count` is how many requests wait. */
function holdAnswers() {
  const open: (() => void)[] = []
  listener = (_, response) => open.push(() => response.end('late'))
  return { count: () => open.length, end: () => open.forEach((answer) => answer()) }
}

const relayFrom = (proxy: Fixture, address: string, url = base) =>
  proxy
    .browser()
    .post('/api/relay', { method: 'GET', headers: [], url }, { 'X-Forwarded-For': address })
const refusedBy = (scope: string) => ({
  status: 429,
  json: { error: { details: { budget: 'relay', scope } } },
})

test('one host has eight requests at a time', async () => {
  await using shared = await Fixture.open({ bff: { trustedProxyHops: 1 } })
  const held = holdAnswers()
  const eight = [1, 2, 3, 4].flatMap((buyer) =>
    [0, 1].map(() => relayFrom(shared, `10.0.0.${buyer}`)),
  )
  await expect.poll(held.count).toBe(8)
  expect(await relayFrom(shared, '10.0.0.5')).toMatchObject(refusedBy('host'))
  held.end()
  for (const answer of await Promise.all(eight)) expect(relayed(answer).answered).toBe(true)
})

test('one address at its limit on a host leaves the host to others', async () => {
  await using shared = await Fixture.open({ bff: { trustedProxyHops: 1 } })
  const held = holdAnswers()
  const stranger = Array.from({ length: 6 }, () => relayFrom(shared, '10.0.0.1'))
  await expect.poll(held.count).toBe(2)
  const buyer = relayFrom(shared, '10.0.0.2')
  await expect.poll(held.count).toBe(3)
  expect(await relayFrom(shared, '10.0.0.1')).toMatchObject(refusedBy('address on host'))
  held.end()
  expect(relayed(await buyer).answered).toBe(true)
  const statuses = (await Promise.all(stranger)).map(({ status }) => status)
  expect(statuses.toSorted((a, b) => a - b)).toEqual([200, 200, 429, 429, 429, 429])
})

test('one address has four requests at a time, to whatever hosts, while others are served', async () => {
  await using shared = await Fixture.open({ bff: { trustedProxyHops: 1 } })
  const hosts = await Promise.all(
    Array.from({ length: 3 }, async () => {
      const host = createServer((request, response) => {
        seen.push(request)
        listener(request, response)
      })
      await new Promise<void>((resolve) => host.listen(0, '127.0.0.1', resolve))
      return host
    }),
  )
  const urls = hosts.map((host) => `http://127.0.0.1:${(host.address() as AddressInfo).port}`)
  const held = holdAnswers()
  const four = [0, 0, 1, 1].map((host) => relayFrom(shared, '10.0.0.1', urls[host]))
  await expect.poll(held.count).toBe(4)
  expect(await relayFrom(shared, '10.0.0.1', urls[2])).toMatchObject(refusedBy('address'))
  const other = relayFrom(shared, '10.0.0.2', urls[2])
  await expect.poll(held.count).toBe(5)
  held.end()
  for (const answer of await Promise.all([...four, other])) expect(answer.status).toBe(200)
  await Promise.all(hosts.map((host) => new Promise((resolve) => host.close(resolve))))
})

test('the addresses of one IPv6 line share its requests to a host', async () => {
  await using shared = await Fixture.open({ bff: { trustedProxyHops: 1 } })
  const held = holdAnswers()
  const two = ['2001:db8:1:ab00::1', '2001:db8:1:ab01::1'].map((from) => relayFrom(shared, from))
  await expect.poll(held.count).toBe(2)
  expect(await relayFrom(shared, '2001:db8:1:abff::1')).toMatchObject(refusedBy('address on host'))
  const other = relayFrom(shared, '2001:db8:1:ac00::1')
  await expect.poll(held.count).toBe(3)
  held.end()
  for (const answer of await Promise.all([...two, other])) expect(answer.status).toBe(200)
})

test('who may have requests relayed is the operator’s choice', async () => {
  await using strict = await Fixture.open({
    bff: { relay: { audience: 'wallets', loopback: true } },
  })
  const browser = strict.browser()
  expect((await ask(browser, { url: base })).status).toBe(401)
  await browser.signIn(evmWallet())
  expect((await ask(browser, { url: base })).status).toBe(200)
  strict.bff.context.config.relay.audience = 'off'
  expect((await ask(browser, { url: base })).json.error.details).toEqual({
    reason: { code: 'relay_off', params: {} },
  })
})
