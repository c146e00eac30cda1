import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { Fixture } from '#testing/fixture.ts'
import { evmWallet, type TestBrowser } from '#testing/test-browser.ts'

let fixture: Fixture
/** Where set, the proxy's clock stands still. */
let still: Date | undefined
beforeAll(async () => {
  fixture = await Fixture.open({
    plan: 'standard',
    bff: { trustedProxyHops: 1 },
    overrides: { now: () => still ?? new Date() },
  })
})
afterEach(() => {
  still = undefined
})
afterAll(() => fixture?.[Symbol.asyncDispose]())

const from = (address: string) => ({ 'X-Forwarded-For': `6.6.6.6, ${address}` })

async function signedIn(): Promise<TestBrowser> {
  const browser = fixture.browser()
  await browser.signIn(evmWallet())
  return browser
}

test('identical reads at the same time ask the service once', async () => {
  const browser = await signedIn()
  // Where the events begin, what was read before is asked again.
  await expect.poll(() => fixture.bff.context.hub.state).toBe('live')
  still = new Date()
  const before = fixture.bff.context.budgets.quota.remaining(Date.now())
  const answers = await Promise.all(
    Array.from({ length: 25 }, () => browser.get('/api/payments?limit=7', from('10.0.0.1'))),
  )
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
  expect(new Set(answers.map(({ headers }) => headers.get('x-ratelimit-remaining'))).size).toBe(1)
  expect(before - fixture.bff.context.budgets.quota.remaining(Date.now())).toBeLessThan(10)
})

test('one visitor who asks without end is told when to come back, and everybody else is served', async () => {
  const [greedy, other] = [await signedIn(), await signedIn()]
  let last
  for (let index = 1; index <= 40; index++)
    last = await greedy.get(`/api/payments?limit=${index}`, from('10.0.0.2'))
  expect(last).toMatchObject({
    status: 429,
    json: { error: { code: 'RATE_LIMIT', details: { budget: 'sync' } } },
  })
  expect(Number(last?.headers.get('retry-after'))).toBe(last?.json.error.retryAfter)
  expect((await other.get('/api/payments?limit=9', from('10.0.0.3'))).status).toBe(200)
})

test('a 429 of the service reaches the browser with its Retry-After, and the proxy then waits by itself', async () => {
  const browser = await signedIn()
  const direct = { headers: { Authorization: `Bearer ${fixture.key}` } }
  let response
  do response = await fetch(`${fixture.service.url}/payments?limit=1`, direct)
  while (response.status !== 429)
  const answer = await browser.get(
    '/api/token/info/11111111111111111111111111111111',
    from('10.0.0.4'),
  )
  expect(answer).toMatchObject({ status: 429, json: { error: { code: 'RATE_LIMIT' } } })
  expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
  expect(answer.headers.get('x-ratelimit-remaining')).toBe('0')
  const next = await browser.get('/api/payments', from('10.0.0.5'))
  expect(next).toMatchObject({ status: 429, json: { error: { details: { scope: 'merchant' } } } })
})

test('visitors from many addresses, each with a wallet, leave the merchant’s own servers a part of the plan', async () => {
  await using shop = await Fixture.open({ plan: 'standard', bff: { trustedProxyHops: 1 } })
  for (let address = 0; address < 12; address++) {
    const [browser, wallet] = [shop.browser(), evmWallet()]
    await browser.signIn(wallet)
    const body = { paymentPayload: {}, paymentRequirements: { payTo: wallet.address } }
    let status = 0
    for (let asked = 0; asked < 30 && status !== 429; asked++)
      ({ status } = await browser.post('/api/facilitator/verify', body, from(`10.0.1.${address}`)))
    expect(status).toBe(429)
  }
  const own = { headers: { Authorization: `Bearer ${shop.key}` } }
  expect((await fetch(`${shop.service.url}/payments?limit=1`, own)).status).toBe(200)
})
