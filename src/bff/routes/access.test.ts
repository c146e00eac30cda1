import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { proxyCalls, serviceCalls } from '#contract/calls.ts'
import { createPaymentId } from '#contract/payment.ts'
import { AUDITED } from '#contract/people-endpoints.ts'
import { Fixture } from '#testing/fixture.ts'
import {
  evmWallet,
  solanaWallet,
  type BrowserResponse,
  type TestBrowser,
} from '#testing/test-browser.ts'
import { ACCESS } from '../session/access.ts'
import { startAnonymousSession } from '../session/open-session.ts'

const wallets = {
  buyer: evmWallet(),
  stranger: evmWallet(),
  seller: evmWallet(),
  solana: solanaWallet(),
  operator: solanaWallet(),
}

let fixture: Fixture
let payment: string
let foreign: string
const people: Record<
  'nobody' | 'anonymous' | 'buyer' | 'seller' | 'stranger' | 'operator',
  TestBrowser
> = {} as never

beforeAll(async () => {
  fixture = await Fixture.open({
    bff: { sellerWallets: [wallets.seller.address], operatorWallets: [wallets.operator.address] },
  })
  payment = await fixture.createPayment({
    sender: wallets.buyer.address,
    recipient: wallets.seller.address,
  })
  foreign = await fixture.createPayment({
    sender: wallets.stranger.address,
    recipient: evmWallet().address,
  })
  for (const name of ['nobody', 'anonymous', 'buyer', 'seller', 'stranger', 'operator'] as const)
    people[name] = fixture.browser()
  for (const name of ['buyer', 'seller', 'stranger', 'operator'] as const)
    await people[name].signIn(wallets[name])
  await people.buyer.signIn(wallets.solana)
  await becomeAnonymous(people.anonymous)
})
afterAll(() => fixture?.[Symbol.asyncDispose]())

/** The session that a first payment would open, without a chain to build one on. */
async function becomeAnonymous(browser: TestBrowser): Promise<void> {
  const started = await startAnonymousSession(fixture.bff.context, 'same-site')
  browser.cookies.set('__Host-paydesk', /=([^;]+)/.exec(started.setCookie)?.[1] ?? '')
}

/** What differs from one answer to the next by itself. */
function sameness({ status, json }: BrowserResponse): unknown {
  return { status, error: { ...json.error, requestId: '' } }
}

/** Calls of people of the account that change nothing of it, although they are no GET. */
const UNRECORDED = new Set([
  // They read; what they look for is in a body.
  'profileRead',
  'profileFind',
  'surplusList',
  'invoiceList',
  'invoiceRead',
  'auditRead',
  // It completes a change that is recorded.
  'mailConfirm',
  // They prepare or try out: what follows from it is recorded.
  'hostedIntent',
  'approval',
  'fileCheck',
])

test('whatever a role may change is recorded, and no call that only reads is', () => {
  const calls: Readonly<Record<string, { method: string }>> = { ...serviceCalls, ...proxyCalls }
  const isRead = (name: string) => calls[name]?.method === 'GET' || UNRECORDED.has(name)
  const changes = Object.entries(ACCESS).flatMap(([name, least]) =>
    least !== 'anybody' && !isRead(name) ? [name] : [],
  )
  const recorded: readonly string[] = AUDITED
  expect(changes.filter((name) => !recorded.includes(name))).toEqual([])
  // The export of personal data is recorded too, and what is for anybody where a member does it.
  expect(recorded.filter((name) => !Object.hasOwn(ACCESS, name) || isRead(name))).toEqual([])
})

describe('one payment', () => {
  test.each([
    ['nobody', 401],
    ['anonymous', 404],
    ['stranger', 404],
    ['buyer', 200],
    ['seller', 200],
    ['operator', 200],
  ] as const)('%s gets %i', async (who, status) => {
    expect((await people[who].get(`/api/payment/status/${payment}`)).status).toBe(status)
  })

  test('of someone else is answered exactly as one that does not exist', async () => {
    const absent = await people.stranger.get(`/api/payment/status/${createPaymentId()}`)
    expect(absent.status).toBe(404)
    const other = await people.stranger.get(`/api/payment/status/${payment}`)
    expect(sameness(other)).toEqual(sameness(absent))
    expect([...other.headers.keys()].filter((name) => !name.startsWith('x-ratelimit'))).toEqual(
      [...absent.headers.keys()].filter((name) => !name.startsWith('x-ratelimit')),
    )
  })

  test.each(['nobody', 'anonymous', 'stranger'] as const)(
    'is not reported on by %s',
    async (who) => {
      const answer = await people[who].post('/api/transaction/submitted', {
        paymentId: payment,
        signature: `0x${'1'.repeat(64)}`,
      })
      expect(answer.status).toBe(who === 'nobody' ? 401 : 404)
    },
  )

  test('reveals nothing through the shared answers: who asks after one who may is still refused', async () => {
    await people.buyer.get(`/api/payment/status/${payment}`)
    expect((await people.stranger.get(`/api/payment/status/${payment}`)).status).toBe(404)
  })
})

describe('the history of a wallet', () => {
  test.each([
    ['nobody', 401],
    ['anonymous', 401],
    ['stranger', 404],
    ['seller', 404],
    ['buyer', 200],
    ['operator', 200],
  ] as const)('that belongs to the buyer: %s gets %i', async (who, status) => {
    expect((await people[who].get(`/api/payment/history/${wallets.buyer.address}`)).status).toBe(
      status,
    )
  })

  test('is found in whatever case the address is spelled', async () => {
    expect(
      (
        await people.buyer.get(`/api/payment/history/${wallets.buyer.address.toLowerCase()}`)
      ).json.payments.map(({ paymentId }) => paymentId),
    ).toEqual([payment])
    expect(
      (await people.stranger.get(`/api/payment/history/${wallets.buyer.address.toLowerCase()}`))
        .status,
    ).toBe(404)
  })
})

describe.each(['/api/payments', '/api/payments/summary'])('%s', (path) => {
  test.each([
    ['nobody', '', 401],
    ['anonymous', '', 401],
    ['buyer', '', 200],
    ['operator', '', 200],
    ['stranger', `?wallets=${wallets.buyer.address}`, 404],
    ['buyer', `?wallets=${wallets.buyer.address},${wallets.solana.address}`, 200],
    ['buyer', `?wallets=${wallets.buyer.address},${wallets.stranger.address}`, 404],
    ['operator', `?wallets=${wallets.buyer.address},${wallets.stranger.address}`, 200],
    ['buyer', '?wallets=', 400],
    ['buyer', '?account=other', 400],
    ['buyer', `?wallets=${wallets.buyer.address}&wallets=${wallets.stranger.address}`, 400],
  ] as const)('%s with %j gets %s', async (who, query, status) => {
    expect((await people[who].get(path + query)).status).toBe(status)
  })
})

test('without naming wallets, a session lists its own payments and the operator the whole account', async () => {
  const list = async (who: keyof typeof people) =>
    (await people[who].get('/api/payments')).json.payments
      .map(({ paymentId }) => paymentId)
      .toSorted()
  expect(await list('buyer')).toEqual([payment])
  expect(await list('seller')).toEqual([payment])
  expect(await list('stranger')).toEqual([foreign])
  expect(await list('operator')).toEqual([payment, foreign].toSorted())
})

describe('a payment to anyone but the seller', () => {
  const order = (recipientAddress: string) => ({
    walletAddress: wallets.buyer.address,
    recipientAddress,
    amount: 0.01,
  })
  test.each(['nobody', 'anonymous', 'buyer', 'seller', 'stranger'] as const)(
    'is not built for %s',
    async (who) => {
      expect(
        await people[who].post('/api/transaction/send', order(wallets.stranger.address)),
      ).toMatchObject({
        status: 403,
        json: { error: { code: 'FORBIDDEN' } },
      })
      expect(await people[who].post('/api/transaction/send', order('0x12'))).toMatchObject({
        status: 400,
        json: {
          error: {
            code: 'INVALID_RECIPIENT',
            details: { reason: { code: 'not_an_address', params: { expected: 'evm' } } },
          },
        },
      })
    },
  )
  test('is built for the operator, as far as the chain allows', async () => {
    expect(
      await people.operator.post('/api/transaction/send', order(wallets.stranger.address)),
    ).toMatchObject({
      status: 503,
      json: { error: { code: 'CHAIN_UNAVAILABLE' } },
    })
  })
  test('to the seller, anybody gets as far', async () => {
    expect(
      await people.nobody.post(
        '/api/transaction/send',
        order(wallets.seller.address.toLowerCase()),
      ),
    ).toMatchObject({
      status: 503,
      json: { error: { code: 'CHAIN_UNAVAILABLE' } },
    })
    expect(people.nobody.cookies.size).toBe(0)
  })
})

test("the service's words on a wrong request come through, and its limits with them", async () => {
  const answer = await people.buyer.get('/api/payments?limit=501')
  expect(answer).toMatchObject({
    status: 400,
    json: {
      error: {
        code: 'INVALID_PARAMETERS',
        details: { limit: expect.stringContaining('1 to 500') },
      },
    },
  })
  const { headers } = await people.buyer.get('/api/payments?limit=3')
  expect(Number(headers.get('x-ratelimit-limit'))).toBe(1000)
  expect(Number(headers.get('x-ratelimit-remaining'))).toBeGreaterThan(0)
  expect(Number(headers.get('x-ratelimit-reset'))).toBeGreaterThan(1_700_000_000)
})

test('a short idempotency key is refused: another visitor could guess it', async () => {
  const answer = await people.nobody.post(
    '/api/transaction/send',
    { walletAddress: wallets.buyer.address, recipientAddress: wallets.seller.address, amount: 1 },
    { 'Idempotency-Key': '1' },
  )
  expect(answer).toMatchObject({
    status: 400,
    json: { error: { details: { 'Idempotency-Key': expect.any(String) } } },
  })
})
