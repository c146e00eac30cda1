import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { Fixture, ORIGIN } from '#testing/fixture.ts'
import { evmWallet, solanaWallet, type TestBrowser } from '#testing/test-browser.ts'
import { session } from '../db/schema.ts'

const HOUR = 3_600_000
const OTHER_ORIGIN = 'https://pay.example.com'
const SESSION = '__Host-paydesk'

let fixture: Fixture
let clock = Date.parse('2026-11-21T10:00:00Z')
const operator = evmWallet()

beforeAll(async () => {
  fixture = await Fixture.open({
    bff: { allowedOrigins: [ORIGIN, OTHER_ORIGIN], operatorWallets: [operator.address] },
    overrides: { now: () => new Date(clock) },
  })
})
afterAll(() => fixture?.[Symbol.asyncDispose]())

let browser: TestBrowser
beforeEach(() => {
  clock += HOUR
  browser = fixture.browser()
})

const refused = {
  status: 401,
  json: {
    error: { code: 'UNAUTHORIZED', details: { reason: { code: 'sign_in_refused', params: {} } } },
  },
}

describe.each([
  ['Ethereum', evmWallet],
  ['Solana', solanaWallet],
])('sign-in with %s', (family, createWallet) => {
  test('a wallet that signs the exact text has a session', async () => {
    const wallet = createWallet()
    const { message, expiresAt } = await browser.challenge(wallet)
    expect(message.split('\n').slice(0, 2)).toEqual([
      `localhost:4173 wants you to sign in with your ${family} account:`,
      wallet.address,
    ])
    expect(message).toContain(`\nURI: ${ORIGIN}\nVersion: 1\nChain ID: `)
    expect(message).toMatch(/\nNonce: [0-9a-f]{32}\n/)
    expect(expiresAt - clock).toBe(5 * 60_000)
    const answer = await browser.signIn(wallet)
    expect(answer).toMatchObject({
      status: 200,
      json: {
        session: { wallets: [wallet.address], role: null, expiresAt: clock + HOUR / 2 },
      },
    })
    expect((await browser.get('/api/session')).json.session.wallets).toEqual([wallet.address])
  })

  test("a signature of another key over the victim's text opens nothing", async () => {
    const victim = createWallet()
    const { id, message } = await browser.challenge(victim)
    expect(
      await browser.post('/api/session', { id, signature: await createWallet().sign(message) }),
    ).toMatchObject(refused)
    expect(browser.cookies.has(SESSION)).toBe(false)
  })

  test('a signed text counts once, also when two bring it at the same time', async () => {
    const wallet = createWallet()
    const { id, message } = await browser.challenge(wallet)
    const signature = await wallet.sign(message)
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => browser.post('/api/session', { id, signature })),
    )
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([
      200, 401, 401, 401, 401,
    ])
    expect(await browser.post('/api/session', { id, signature })).toMatchObject(refused)
  })

  test('a wrong signature uses the text up', async () => {
    const wallet = createWallet()
    const { id, message } = await browser.challenge(wallet)
    const right = await wallet.sign(message)
    expect(
      await browser.post('/api/session', { id, signature: await wallet.sign(`${message} `) }),
    ).toMatchObject(refused)
    expect(await browser.post('/api/session', { id, signature: right })).toMatchObject(refused)
  })

  test('a text is worth nothing after 5 minutes', async () => {
    const wallet = createWallet()
    const { id, message } = await browser.challenge(wallet)
    clock += 5 * 60_000
    expect(
      await browser.post('/api/session', { id, signature: await wallet.sign(message) }),
    ).toMatchObject(refused)
  })

  test('a text of one origin is worth nothing at another, and stays good where it belongs', async () => {
    const wallet = createWallet()
    const { id, message } = await browser.challenge(wallet)
    const signature = await wallet.sign(message)
    const elsewhere = fixture.browser(OTHER_ORIGIN)
    for (const [name, value] of browser.cookies) elsewhere.cookies.set(name, value)
    expect(await elsewhere.post('/api/session', { id, signature })).toMatchObject(refused)
    expect((await browser.post('/api/session', { id, signature })).status).toBe(200)
  })

  test('a text of one browser is worth nothing in another', async () => {
    const wallet = createWallet()
    const { id, message } = await browser.challenge(wallet)
    const signature = await wallet.sign(message)
    const thief = fixture.browser()
    expect(await thief.post('/api/session', { id, signature })).toMatchObject(refused)
    await thief.challenge(wallet)
    expect(await thief.post('/api/session', { id, signature })).toMatchObject(refused)
    expect((await browser.post('/api/session', { id, signature })).status).toBe(200)
  })

  test.each(['domain', 'nonce', 'address', 'time'])(
    'a text with another %s than the one issued opens nothing',
    async (part) => {
      const wallet = createWallet()
      const { id, message } = await browser.challenge(wallet)
      const tampered = {
        domain: message.replace('localhost:4173 wants', 'localhost:4174 wants'),
        nonce: message.replace(/Nonce: ./, 'Nonce: z'),
        address: message.replace(wallet.address, createWallet().address),
        time: message.replace(/Expiration Time: 2026/, 'Expiration Time: 2036'),
      }[part] as string
      expect(tampered).not.toBe(message)
      expect(
        await browser.post('/api/session', { id, signature: await wallet.sign(tampered) }),
      ).toMatchObject(refused)
    },
  )

  test.each([
    '',
    '0x',
    'null',
    '1'.repeat(88),
    `0x${'00'.repeat(65)}`,
    `0x${'ff'.repeat(65)}`,
    'x'.repeat(4096),
  ])('the signature %# opens nothing', async (signature) => {
    const { id } = await browser.challenge(createWallet())
    expect(await browser.post('/api/session', { id, signature })).toMatchObject(refused)
  })
})

test('a sign-in gives a new cookie, and the one before it opens nothing', async () => {
  await browser.signIn(evmWallet())
  const planted = browser.cookies.get(SESSION) as string
  const victim = evmWallet()
  await browser.signIn(victim)
  expect(browser.cookies.get(SESSION)).not.toBe(planted)
  const attacker = fixture.browser()
  attacker.cookies.set(SESSION, planted)
  expect((await attacker.get('/api/session')).json).toEqual({ session: null })
})

test('a made-up cookie opens nothing, and a sign-in does not take it over', async () => {
  const planted = 'A'.repeat(43)
  browser.cookies.set(SESSION, planted)
  await browser.signIn(evmWallet())
  expect(browser.cookies.get(SESSION)).not.toBe(planted)
})

test.each<[string, boolean, (cookie: string) => string]>([
  ['the cookie alone', true, (cookie) => `${SESSION}=${cookie}`],
  ['the cookie among others', true, (cookie) => `a=b; ${SESSION}=${cookie};c`],
  ['the cookie twice', false, (cookie) => `${SESSION}=${cookie}; ${SESSION}=${cookie}`],
  [
    'another value of the same name after it',
    false,
    (cookie) => `${SESSION}=${cookie}; ${SESSION}=${'A'.repeat(43)}`,
  ],
  [
    'an empty value of the same name before it',
    false,
    (cookie) => `${SESSION}=; ${SESSION}=${cookie}`,
  ],
  ['its value in quotes', false, (cookie) => `${SESSION}="${cookie}"`],
  [
    'its value percent-encoded',
    false,
    (cookie) => `${SESSION}=%${cookie.charCodeAt(0).toString(16)}${cookie.slice(1)}`,
  ],
  ['its name in lower case', false, (cookie) => `${SESSION.toLowerCase()}=${cookie}`],
  ['a longer name that ends in its name', false, (cookie) => `x${SESSION}=${cookie}`],
  // A browser does not protect these names with the rules of `__Host-`.
  ['a space after its name', false, (cookie) => `a=b; ${SESSION} =${cookie}`],
  ['a no-break space before its name', false, (cookie) => `a=b; \xa0${SESSION}=${cookie}`],
])('a Cookie header with %s opens the session: %s', async (_, opens, header) => {
  await browser.signIn(evmWallet())
  const cookie = browser.cookies.get(SESSION) ?? ''
  const answer = await fixture.browser().get('/api/session', { Cookie: header(cookie) })
  expect(answer.json).toEqual({ session: opens ? expect.anything() : null })
})

test('a further wallet joins, of whichever family', async () => {
  const [first, second] = [evmWallet(), solanaWallet()]
  await browser.signIn(first)
  expect((await browser.signIn(second)).json.session.wallets).toEqual([
    first.address,
    second.address,
  ])
})

test("a further wallet's proof does not lengthen the life of the first", async () => {
  await browser.signIn(evmWallet())
  const end = clock + 12 * HOUR
  for (; clock + 20 * 60_000 < end; clock += 20 * 60_000) await browser.get('/api/session')
  expect((await browser.signIn(solanaWallet())).json.session).toMatchObject({
    wallets: { length: 2 },
    expiresAt: end,
  })
})

test('only a proven operator wallet makes an operator', async () => {
  expect((await browser.signIn(evmWallet())).json.session.role).toBeNull()
  expect((await browser.signIn(operator)).json.session.role).toBe('owner')
})

test('a session ends after 30 idle minutes, and after 12 hours whatever happens', async () => {
  await browser.signIn(evmWallet())
  const end = clock + 12 * HOUR
  clock += 29 * 60_000
  expect((await browser.get('/api/session')).json.session.expiresAt).toBe(clock + HOUR / 2)
  for (; clock + 20 * 60_000 < end; clock += 20 * 60_000)
    expect((await browser.get('/api/session')).json.session).not.toBeNull()
  clock = end
  expect((await browser.get('/api/session')).json.session).toBeNull()

  const idle = fixture.browser()
  await idle.signIn(evmWallet())
  clock += 30 * 60_000
  expect((await idle.get('/api/session')).json.session).toBeNull()
})

test('signing out ends the session at the proxy, not only in the browser', async () => {
  await browser.signIn(evmWallet())
  const kept = fixture.browser()
  for (const [name, value] of browser.cookies) kept.cookies.set(name, value)
  expect(await browser.delete('/api/session')).toMatchObject({
    status: 200,
    json: { session: null },
  })
  expect(browser.cookies.size).toBe(0)
  expect((await kept.get('/api/session')).json.session).toBeNull()
  expect((await kept.get('/api/payments')).status).toBe(401)
})

test.each([
  ['same-site', { 'Sec-Fetch-Site': 'same-site' }, 'SameSite=Strict'],
  ['cross-site', { 'Sec-Fetch-Site': 'cross-site' }, 'SameSite=None; Partitioned'],
])('the cookies of a %s page carry every attribute they need', async (_, headers, scope) => {
  const wallet = evmWallet()
  const issued = await browser.post(
    '/api/session/challenge',
    { walletAddress: wallet.address, network: wallet.network },
    headers,
  )
  await browser.post(
    '/api/session',
    { id: issued.json.id, signature: await wallet.sign(issued.json.message) },
    headers,
  )
  expect(browser.setCookies.map((line) => line.replace(/=[A-Za-z0-9_-]{43};/, '=…;'))).toEqual([
    `__Host-paydesk-browser=…; Max-Age=300; Path=/; HttpOnly; Secure; ${scope}`,
    `__Host-paydesk=…; Max-Age=43200; Path=/; HttpOnly; Secure; ${scope}`,
    `__Host-paydesk-browser=; Max-Age=0; Path=/; HttpOnly; Secure; ${scope}`,
  ])
})

test.each([
  ['a network that is not configured', { network: 'eip155:1' }],
  ['a network of another family', { network: 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1' }],
  ['no address', { walletAddress: '0x12' }],
  ['a wrong checksum', { walletAddress: '0x70997970C51812dc3A010C7d01b50e0d17dc79c8' }],
  ['a field too many', { statement: 'Pay me' }],
])('there is no text for %s', async (_, change) => {
  const answer = await browser.post('/api/session/challenge', {
    walletAddress: evmWallet().address,
    network: 'eip155:31337',
    ...change,
  })
  expect(answer).toMatchObject({
    status: 400,
    json: { error: { code: 'INVALID_PARAMETERS', details: expect.anything() } },
  })
})

test('nothing that would open a session is kept in the store or logged', async () => {
  await browser.signIn(evmWallet())
  const cookie = browser.cookies.get(SESSION) as string
  expect(JSON.stringify(await fixture.bff.context.db.select().from(session))).not.toContain(cookie)
  expect(fixture.log.join('')).not.toContain(cookie)
})
