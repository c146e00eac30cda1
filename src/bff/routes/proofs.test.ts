import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Fixture } from '#testing/fixture.ts'
import { evmWallet, type TestBrowser } from '#testing/test-browser.ts'

/** Who may have proofs checked, accepted, or settled by themselves. The proof itself is refused by the service; that it was asked is what counts. */

const wallets = {
  payee: evmWallet(),
  other: evmWallet(),
  stranger: evmWallet(),
  operator: evmWallet(),
}
const proof = {
  x402Version: 2,
  paymentPayload: {},
  paymentRequirements: { payTo: wallets.payee.address },
}
const people: Record<'nobody' | keyof typeof wallets, TestBrowser> = {} as never
let fixture: Fixture

beforeAll(async () => {
  fixture = await Fixture.open({
    scopes: ['transaction:build', 'payment:read', 'payment:receive', 'token:read'],
    bff: { sellerWallets: [wallets.payee.address], operatorWallets: [wallets.operator.address] },
  })
  for (const name of ['nobody', 'payee', 'other', 'stranger', 'operator'] as const)
    people[name] = fixture.browser()
  for (const name of ['payee', 'other', 'stranger', 'operator'] as const)
    await people[name].signIn(wallets[name])
})
afterAll(() => fixture?.[Symbol.asyncDispose]())

const receive = { walletAddress: wallets.payee.address, paymentProof: 'AAAA', expectedAmount: 1 }

describe.each([
  ['/api/facilitator/verify', proof, { nobody: 401, stranger: 403, payee: 200, operator: 200 }],
  ['/api/transaction/receive', receive, { nobody: 401, stranger: 403, payee: 400, operator: 400 }],
  ['/api/payment/receive', receive, { nobody: 401, stranger: 403, payee: 403, operator: 400 }],
] as const)('%s', (path, body, expected) => {
  test.each(Object.entries(expected))('is answered to %s with %i', async (who, status) => {
    expect((await people[who as keyof typeof people].post(path, body)).status).toBe(status)
  })
})

test('a payee that is no wallet of the merchant has nothing recorded in the merchant’s account', async () => {
  const walletAddress = wallets.other.address
  const settle = (who: keyof typeof people, spelled: string = walletAddress) =>
    people[who].post('/api/transaction/receive', { ...receive, walletAddress: spelled })
  expect(await settle('other')).toMatchObject({
    status: 403,
    json: { error: { code: 'FORBIDDEN', details: { walletAddress: expect.any(String) } } },
  })
  // The service refuses this proof, and was asked.
  expect((await settle('operator')).status).toBe(400)
  // It can still be checked, which records nothing.
  const requirements = { payTo: walletAddress }
  const checked = await people.other.post('/api/facilitator/verify', {
    ...proof,
    paymentRequirements: requirements,
  })
  expect(checked.status).toBe(200)
})

test('a proof of a payee in another spelling is still the payee’s', async () => {
  const lower = { ...proof, paymentRequirements: { payTo: wallets.payee.address.toLowerCase() } }
  expect((await people.payee.post('/api/facilitator/verify', lower)).status).toBe(200)
})

test('a proof does not get into the log', async () => {
  await people.operator.post('/api/payment/receive', {
    ...receive,
    paymentProof: 'c2VjcmV0cHJvb2Y=',
  })
  expect(fixture.log.join('\n')).not.toContain('c2VjcmV0cHJvb2Y=')
})
