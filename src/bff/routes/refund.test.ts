import { afterAll, beforeAll, expect, test } from 'vitest'
import { NATIVE_ETH } from '#contract/network.ts'
import { createPaymentId, type PaymentStatus } from '#contract/payment.ts'
import { payment } from '#service/db/schema/payment.ts'
import { Fixture } from '#testing/fixture.ts'
import { evmWallet, type TestBrowser } from '#testing/test-browser.ts'

const wallets = { seller: evmWallet(), buyer: evmWallet(), operator: evmWallet() }
const people = {} as Record<keyof typeof wallets, TestBrowser>
const ETH = 10n ** 18n

let fixture: Fixture
let original: string

async function record(facts: {
  sender: string
  recipient: string
  amount: bigint
  status?: PaymentStatus
  refundOf?: string
}): Promise<string> {
  const { amount, status = 'finalized', refundOf, sender, recipient } = facts
  const id = createPaymentId()
  const { address: asset, symbol, decimals } = NATIVE_ETH
  const row = {
    id,
    accountId: fixture.accountId,
    mode: 'local',
    status,
    network: 'eip155:31337',
    asset,
    symbol,
    decimals,
    amount,
    sender,
    recipient,
    refundOf,
  } as const
  await fixture.service.context.db.insert(payment).values(row)
  return id
}

beforeAll(async () => {
  fixture = await Fixture.open({
    bff: { sellerWallets: [wallets.seller.address], operatorWallets: [wallets.operator.address] },
  })
  original = await record({
    sender: wallets.buyer.address,
    recipient: wallets.seller.address,
    amount: ETH,
  })
  for (const name of Object.keys(wallets) as (keyof typeof wallets)[]) {
    people[name] = fixture.browser()
    await people[name].signIn(wallets[name])
  }
})
afterAll(() => fixture?.[Symbol.asyncDispose]())

/** Its chain answers nobody, so what is let through ends there. */
const PASSED = 'CHAIN_UNAVAILABLE'

async function sendBack(who: TestBrowser, amount: number, change: Record<string, unknown> = {}) {
  const body = {
    walletAddress: wallets.seller.address,
    recipientAddress: wallets.buyer.address,
    amount,
    network: 'eip155:31337',
    metadata: { refundOf: original },
  }
  const answer = await who.post('/api/transaction/send', { ...body, ...change })
  return { code: answer.json.error.code, fields: Object.keys(answer.json.error.details ?? {}) }
}

test('a visitor who paid another wallet of their own cannot ask the merchant for it back', async () => {
  const [from, to] = [evmWallet(), evmWallet()]
  const visitor = fixture.browser()
  await visitor.signIn(from)
  await visitor.signIn(to)
  const planted = await record({ sender: from.address, recipient: to.address, amount: 5n * ETH })
  const real = await record({
    sender: from.address,
    recipient: wallets.seller.address,
    amount: ETH,
  })
  const ask = async (paymentId: string) => {
    const answer = await visitor.post('/api/refund-requests', {
      paymentId,
      number: 1,
      signature: 'nonsense',
    })
    return [answer.status, Object.keys(answer.json.error.details ?? {})]
  }
  const next = async (paymentId: string) =>
    JSON.parse((await visitor.get(`/api/refund-requests/${paymentId}`)).text).next as unknown
  expect([await ask(planted), await next(planted)]).toEqual([[400, ['paymentId']], null])
  expect([await ask(real), await next(real)]).toMatchObject([[400, ['signature']], { number: 1 }])
})

test('only the seller that was paid and an operator may pay an unlisted wallet, and only as a refund', async () => {
  expect((await sendBack(people.seller, 1)).code).toBe(PASSED)
  expect((await sendBack(people.seller, 1, { metadata: {} })).code).toBe('FORBIDDEN')
  expect((await sendBack(people.buyer, 1)).fields).toEqual(['walletAddress'])
  expect((await sendBack(fixture.browser(), 1)).code).toBe('UNAUTHORIZED')
  expect((await sendBack(people.operator, 1)).code).toBe(PASSED)
})

test('the audit log names the payment that a refund returns, and the recipient of another one', async () => {
  await sendBack(people.operator, 1)
  await sendBack(people.operator, 1, { metadata: {} })
  const log = await people.operator.post('/api/audit-log/read', {})
  expect(log.json).toMatchObject({
    entries: [
      { action: 'transactionSend', subject: wallets.buyer.address },
      { action: 'transactionSend', subject: original },
      ...Array.from({ length: (log.json as unknown as { entries: [] }).entries.length - 2 }, () =>
        expect.anything(),
      ),
    ],
  })
})

test('never more than was received, what went back before included', async () => {
  expect((await sendBack(people.seller, 1.0001)).fields).toEqual(['amount'])
  await record({
    sender: wallets.seller.address,
    recipient: wallets.buyer.address,
    amount: ETH / 4n,
    refundOf: original,
  })
  await record({
    sender: wallets.seller.address,
    recipient: wallets.buyer.address,
    amount: ETH / 4n,
    status: 'pending',
    refundOf: original,
  })
  await record({
    sender: wallets.seller.address,
    recipient: wallets.buyer.address,
    amount: ETH / 4n,
    status: 'expired',
    refundOf: original,
  })
  expect((await sendBack(people.seller, 0.5)).code).toBe(PASSED)
  expect((await sendBack(people.operator, 0.51)).fields).toEqual(['amount'])
})

test('only to the payer, from the payee, in the same asset, and of a payment that arrived', async () => {
  const failed = await record({
    sender: wallets.buyer.address,
    recipient: wallets.seller.address,
    amount: ETH,
    status: 'failed',
  })
  expect((await sendBack(people.seller, 0.1, { metadata: { refundOf: failed } })).fields).toEqual([
    'metadata.refundOf',
  ])
  expect((await sendBack(people.seller, 0.1, { metadata: { refundOf: 'x' } })).fields).toEqual([
    'metadata.refundOf',
  ])
  expect(
    (await sendBack(people.seller, 0.1, { metadata: { refundOf: createPaymentId() } })).code,
  ).toBe('NOT_FOUND')
  expect(
    (await sendBack(people.seller, 0.1, { recipientAddress: wallets.operator.address })).fields,
  ).toEqual(['recipientAddress'])
  expect((await sendBack(people.seller, 0.1, { network: 'eip155:1' })).fields).toEqual(['network'])
})
