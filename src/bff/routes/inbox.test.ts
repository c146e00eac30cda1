import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createPaymentId, createId } from '#contract/payment.ts'
import { Fixture } from '#testing/fixture.ts'
import { evmWallet, type TestBrowser } from '#testing/test-browser.ts'

const wallets = { operator: evmWallet(), buyer: evmWallet() }
const transferId = createId('umt')
let fixture: Fixture
const people: Record<'nobody' | 'buyer' | 'operator', TestBrowser> = {} as never

beforeAll(async () => {
  fixture = await Fixture.open({ bff: { operatorWallets: [wallets.operator.address] } })
  for (const name of ['nobody', 'buyer', 'operator'] as const) people[name] = fixture.browser()
  await people.buyer.signIn(wallets.buyer)
  await people.operator.signIn(wallets.operator)
})
afterAll(() => fixture?.[Symbol.asyncDispose]())

const assign = (who: keyof typeof people, body: Record<string, unknown>) =>
  people[who].post(`/api/unmatched/${transferId}/assign`, body)
const unassign = (who: keyof typeof people, body: Record<string, unknown> = {}) =>
  people[who].post(`/api/unmatched/${transferId}/unassign`, body)

describe('unmatched money', () => {
  test.each([
    ['nobody', 401],
    ['buyer', 403],
  ] as const)('is neither listed nor assigned for %s', async (who, status) => {
    expect((await people[who].get('/api/unmatched')).status).toBe(status)
    expect((await assign(who, { paymentId: createPaymentId() })).status).toBe(status)
    expect((await unassign(who)).status).toBe(status)
  })

  test('is assigned in the name of the wallet that is signed in, whatever a browser says', async () => {
    const forged = { by: 'the owner' }
    for (const answer of [
      await assign('operator', { paymentId: createPaymentId(), ...forged }),
      await unassign('operator', forged),
    ]) {
      expect(answer).toMatchObject({
        status: 400,
        json: { error: { code: 'INVALID_PARAMETERS', details: { by: expect.any(String) } } },
      })
    }
  })

  test('reaches the service for the operator', async () => {
    // A transfer that is not there: the service says so, and not the proxy.
    expect(await assign('operator', { paymentId: createPaymentId() })).toMatchObject({
      status: 404,
      json: { error: { code: 'NOT_FOUND' } },
    })
    expect(await unassign('operator')).toMatchObject({
      status: 404,
      json: { error: { code: 'NOT_FOUND' } },
    })
  })
})

describe('undelivered payments', () => {
  const paymentId = createPaymentId()
  const decide = (
    who: keyof typeof people,
    verb: 'close' | 'reopen',
    body: Record<string, unknown> = {},
  ) => people[who].post(`/api/undelivered/${paymentId}/${verb}`, body)

  test.each([
    ['nobody', 401],
    ['buyer', 403],
  ] as const)('are neither listed nor decided about for %s', async (who, status) => {
    expect((await people[who].get('/api/undelivered')).status).toBe(status)
    for (const verb of ['close', 'reopen'] as const)
      expect((await decide(who, verb)).status).toBe(status)
  })

  test('are decided about in the name of the wallet that is signed in', async () => {
    for (const verb of ['close', 'reopen'] as const) {
      expect(await decide('operator', verb, { by: 'the owner' })).toMatchObject({
        status: 400,
        json: { error: { code: 'INVALID_PARAMETERS' } },
      })
      // A payment that is not there: the service says so, and not the proxy.
      expect(await decide('operator', verb)).toMatchObject({
        status: 404,
        json: { error: { code: 'NOT_FOUND' } },
      })
    }
    expect(await people.operator.get('/api/undelivered')).toMatchObject({
      status: 200,
      json: { total: 0, payments: [] },
    })
  })
})

describe('requests for a refund', () => {
  const requestId = createId('rfr')
  const decide = (who: keyof typeof people, verb: 'decline' | 'reopen', body: object = {}) =>
    people[who].post(`/api/refund-requests/${requestId}/${verb}`, body)

  test.each([
    ['nobody', 401],
    ['buyer', 403],
  ] as const)('are neither listed nor decided about for %s', async (who, status) => {
    expect((await people[who].get('/api/refund-requests')).status).toBe(status)
    for (const verb of ['decline', 'reopen'] as const)
      expect((await decide(who, verb)).status).toBe(status)
  })

  test('are decided about in the name of the wallet that is signed in', async () => {
    for (const verb of ['decline', 'reopen'] as const) {
      expect(await decide('operator', verb, { by: 'the owner' })).toMatchObject({
        status: 400,
        json: { error: { code: 'INVALID_PARAMETERS' } },
      })
      // A request that is not there: the service says so, and not the proxy.
      expect(await decide('operator', verb)).toMatchObject({
        status: 404,
        json: { error: { code: 'NOT_FOUND' } },
      })
    }
  })
})
