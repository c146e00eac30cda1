import type { PrivateKeyAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { at, classOf, listAt, succeed } from '#testing/api-client.ts'
import type { TestBrowser } from '#testing/test-browser.ts'
import {
  EVENTS,
  playScenarios,
  races,
  type Actors,
  type Played,
  type Scenario,
} from '#testing/planted-orders.ts'
import {
  expectLedger,
  expectNoDrafts,
  readHoldings,
  readRows,
  readStatus,
  takersOf,
  type Baseline,
  type LedgerView,
} from '#testing/tenant-ledger.ts'
import {
  payOrder,
  toOrder,
  untilDecided,
  untilPaid,
  untilStatus,
  WALLET_FEES,
  type TenantOrder,
  type OrderTerms,
} from '#testing/tenant-orders.ts'
import { atFacilitator, payPlain, proveSent, receive } from '#testing/tenant-proofs.ts'
import { asReply, openProxy, type TenantProxy } from '#testing/tenant-proxy.ts'
import { evmSigner, openTenants, type Tenants } from '#testing/two-tenants.ts'

/** A checkout with two visitors: a thief without wallet, key or money, and a buyer. Both orders are in the seller's account. */

const [KEEPS, REPLACES] = [
  { wallet: 'keeps the fees' } as const,
  { wallet: 'replaces the fees' } as const,
]
const ANONYMOUS: readonly Scenario[] = (['ETH', 'USDC'] as const).flatMap((asset) =>
  [...EVENTS, ...races(2)].map((events) => ({ ...events, ...KEEPS, asset })),
)
/** Signed in, a buyer's wallet may do to the fees what it likes. */
const SIGNED_IN: readonly Scenario[] = [...EVENTS.slice(0, 8), ...races(2)].map((events) => ({
  ...events,
  ...REPLACES,
  asset: 'ETH',
}))

let t: Tenants
let proxy: TenantProxy
let thief: TestBrowser
let operator: TestBrowser
let before: Baseline

beforeAll(async () => {
  t = await openTenants()
  proxy = await openProxy(t)
  before = await readHoldings(t, t.a)
  thief = proxy.browser()
  operator = await proxy.signedIn(proxy.operator)
})

afterAll(async () => {
  await proxy?.[Symbol.asyncDispose]()
  await t?.[Symbol.asyncDispose]()
})

const bodyOf = ({ from, to, amount, asset, reference }: OrderTerms) => ({
  walletAddress: from,
  recipientAddress: to,
  amount,
  ...(asset !== undefined && { asset }),
  ...(reference !== undefined && { metadata: { referenceId: reference } }),
})

async function order(browser: TestBrowser, terms: OrderTerms): Promise<TenantOrder> {
  return toOrder(succeed(asReply(await browser.post('/api/transaction/send', bodyOf(terms)))).body)
}

const report = (
  browser: TestBrowser,
  { paymentId }: Pick<TenantOrder, 'paymentId'>,
  signature: string,
  more: object = {},
) => browser.post('/api/transaction/submitted', { paymentId, signature, ...more }).then(asReply)

/** One browser for each buyer. */
function visitors(
  buyerOf: (payer: PrivateKeyAccount) => Promise<TestBrowser>,
  thief: TestBrowser,
): Actors {
  const buyers = new Map<PrivateKeyAccount, TestBrowser>()
  const browserOf = async (payer: PrivateKeyAccount) => {
    const browser = buyers.get(payer) ?? (await buyerOf(payer))
    buyers.set(payer, browser)
    return browser
  }
  return {
    order: async (who, terms, payer) =>
      order(who === 'thief' ? thief : await browserOf(payer), terms),
    report: async (who, made, { hash, payer }) =>
      report(who === 'thief' ? thief : await browserOf(payer), made, hash),
    untilExpired: ({ paymentId }) => untilStatus(t, { tenant: t.a, paymentId }, ['expired']),
  }
}

describe.each([
  [
    'an anonymous thief, anonymous buyers who keep the fees',
    ANONYMOUS,
    async () => visitors(async () => proxy.browser(), proxy.browser()),
  ],
  [
    'a thief signed in with another wallet, buyers signed in with theirs',
    SIGNED_IN,
    async () =>
      visitors(
        (payer) => proxy.signedIn(evmSigner(payer)),
        await proxy.signedIn(evmSigner(await t.payer())),
      ),
  ],
] as const)('%s', (_, scenarios, makeActors) => {
  let view: LedgerView
  let playOf: (scenario: Scenario) => Played

  beforeAll(async () => {
    proxy.passMinute()
    const played = await playScenarios(t, scenarios, await makeActors())
    view = played.view
    playOf = played.playOf
  })

  test.each(scenarios)(
    '$asset: $name: the buyer’s order is paid, and nothing else is',
    async (scenario) => {
      const { hash, orders, reports } = playOf(scenario)
      expect(takersOf(view, hash)).toEqual([`A ${orders.customer?.paymentId}`])
      expect(reports.get('customer')?.status ?? 200).toBe(200)
      expect(at((await readStatus(t.a, orders.thief?.paymentId ?? '')).body, 'status')).not.toMatch(
        /confirmed|finalized/,
      )
    },
  )

  test('the thief’s orders are in no list and no figure of the seller', () =>
    expectNoDrafts(
      t.a,
      scenarios.flatMap((scenario) => playOf(scenario).orders.thief?.paymentId ?? []),
    ))
})

test('a bare transfer does not confirm a planted order that the thief reports', async () => {
  const payer = await t.payer()
  const planted = await order(thief, {
    from: payer.address,
    to: t.a.payout.evm.address,
    amount: 0.03,
  })
  const hash = await payPlain(t, payer, { to: t.a.payout.evm.address, value: 3n * 10n ** 16n })
  await t.evm.mine()
  await report(thief, planted, hash)
  expect(takersOf(await untilDecided(t, [hash]), hash)).toEqual(['A unmatched'])
})

test('a browser does not say of itself that its sender is verified', async () => {
  const payer = await t.payer()
  const terms = bodyOf({ from: payer.address, to: t.a.payout.evm.address, amount: 0.03 })
  const planted = await order(thief, {
    from: payer.address,
    to: t.a.payout.evm.address,
    amount: 0.03,
  })
  const answers = [
    asReply(await thief.post('/api/transaction/send', { ...terms, senderVerified: true })),
    await report(thief, planted, `0x${'12'.repeat(32)}`, { senderVerified: true }),
  ]
  expect(answers.map(classOf)).toEqual(['INVALID_PARAMETERS', 'INVALID_PARAMETERS'])
})

test('25 requests of anonymous visitors are no payments: not in the list, the figures, or the events that the operator gets', async () => {
  proxy.passMinute()
  const stream = operator.events()
  await t.until(
    async () => stream.raw,
    (raw) => raw.length > 0,
  )
  const payer = await t.payer()
  const made = await Promise.all(
    Array.from(
      { length: 25 },
      async () =>
        (
          await order(proxy.browser(), {
            from: payer.address,
            to: t.a.payout.evm.address,
            amount: 5,
          })
        ).paymentId,
    ),
  )
  const listed = async (query = '') =>
    listAt(asReply(await operator.get(`/api/payments?limit=500${query}`)).body, 'payments').map(
      (row) => at(row, 'paymentId'),
    )
  expect((await listed()).filter((id) => made.includes(String(id)))).toEqual([])
  await expectNoDrafts(t.a, made)
  expect(await listed('&status=incomplete')).toEqual(expect.arrayContaining(made))
  // An honest payment's event comes after all that were told before it.
  const [buyer, wallet] = [proxy.browser(), await t.payer()]
  const honest = await order(buyer, {
    from: wallet.address,
    to: t.a.payout.evm.address,
    amount: 0.01,
  })
  await payOrder(t, wallet, honest)
  await untilPaid(t, t.a, honest)
  await t.until(
    async () => stream.payments.map(({ data }) => data.paymentId),
    (ids) => ids.includes(honest.paymentId),
  )
  expect(stream.payments.filter(({ data }) => made.includes(data.paymentId))).toEqual([])
  stream.close()
})

test('a link is not used up by a thief’s order: the buyer’s payment is the one that counts', async () => {
  proxy.passMinute()
  const wanted = {
    network: t.evm.network.network,
    recipient: t.a.payout.evm.address,
    amount: 0.04,
    // Both are at one network address, which never holds the last place beside another.
    maxPayments: 3,
  }
  const made = succeed(asReply(await operator.post('/api/links', wanted)))
  const link = at(made.body, 'link.link')
  const payer = await t.payer()
  const pay = async (browser: TestBrowser) =>
    toOrder(
      succeed(asReply(await browser.post('/api/link/pay', { link, walletAddress: payer.address })))
        .body,
    )
  const [planted, own] = [await pay(thief), await pay(proxy.browser())]
  const hash = await payOrder(t, payer, own)
  await t.evm.mine()
  await report(thief, planted, hash)
  expect(takersOf(await untilDecided(t, [hash]), hash)).toEqual([`A ${own.paymentId}`])
  expect(
    listAt(asReply(await operator.get('/api/links')).body, 'links').find(
      (each) => at(each, 'link') === link,
    ),
  ).toMatchObject({ paid: 1 })

  const proof = await proveSent(
    t,
    { method: 'evm txid', payTo: wanted.recipient, resource: 'https://shop.example/other' },
    { payer, hash, atomic: 4n * 10n ** 16n },
  )
  expect(classOf(await receive(t.a, proof))).toMatch(/already_used|resource_mismatch/)
  expect(classOf(await atFacilitator(t.a, 'settle', proof))).toMatch(
    /already_used|resource_mismatch/,
  )
})

test('what the operator pays from the seller’s own wallet is no income', async () => {
  const { evm } = t.a.payout
  const seller = await proxy.signedIn(evmSigner(evm))
  const sent = await order(seller, {
    from: evm.address,
    to: (await t.payer()).address,
    amount: 0.02,
  })
  await payOrder(t, evm, sent, WALLET_FEES)
  await untilPaid(t, t.a, sent)
  expect((await readRows(t.a)).find(({ paymentId }) => paymentId === sent.paymentId)).toMatchObject(
    { direction: 'sent' },
  )
})

test('the books of the seller are those of the chain', () => expectLedger(t, t.a, before))
