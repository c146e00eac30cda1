import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { at } from '#testing/api-client.ts'
import {
  EVENTS,
  playScenarios,
  races,
  type Played,
  type Scenario,
  type Who,
} from '#testing/planted-orders.ts'
import {
  expectLedger,
  readHoldings,
  readStatus,
  takersOf,
  type Baseline,
  type LedgerView,
} from '#testing/tenant-ledger.ts'
import {
  buildOrder,
  payOrder,
  report,
  untilDecided,
  untilPaid,
  untilStatus,
  WALLET_FEES,
} from '#testing/tenant-orders.ts'
import { openTenants, type Tenants } from '#testing/two-tenants.ts'

/**
 * A thief with an API key of another account plants orders that are equal to those of a merchant's customers. The customers pay; the thief
 * knows what is public: addresses, amounts, and the hash of every transaction.
 */

const KEEPS = { wallet: 'keeps the fees' } as const
const SCENARIOS: readonly Scenario[] = (['ETH', 'USDC'] as const).flatMap((asset) =>
  [...EVENTS, ...races(4)].map((events) => ({ ...events, ...KEEPS, asset })),
)

let t: Tenants
const before = new Map<string, Baseline>()
let view: LedgerView
let playOf: (scenario: Scenario) => Played

beforeAll(async () => {
  t = await openTenants()
  for (const tenant of [t.a, t.b]) before.set(tenant.name, await readHoldings(t, tenant))
  const tenantOf = (who: Who) => (who === 'thief' ? t.b : t.a)
  const played = await playScenarios(t, SCENARIOS, {
    order: (who, terms) => buildOrder(tenantOf(who), terms),
    report: (who, order, { hash }) => report(tenantOf(who), order, hash),
    untilExpired: ({ paymentId }) => untilStatus(t, { tenant: t.b, paymentId }, ['expired']),
  })
  view = played.view
  playOf = played.playOf
})

afterAll(() => t?.[Symbol.asyncDispose]())

describe.each(SCENARIOS)('$asset: $name', (scenario) => {
  test('the customer’s order is paid, and nothing else is', () => {
    const { hash, orders } = playOf(scenario)
    expect(takersOf(view, hash)).toEqual([`A ${orders.customer?.paymentId}`])
  })

  test('the customer’s report is taken, and the thief’s order stays unpaid', async () => {
    const { orders, reports } = playOf(scenario)
    const own = reports.get('customer')
    if (own) expect(own.status, own.text).toBe(200)
    const { body } = await readStatus(t.b, orders.thief?.paymentId ?? '')
    expect(['created', 'expired', 'failed', 'pending']).toContain(at(body, 'status'))
    expect(at(body, 'blockHeight')).toBeNull()
  })
})

test('a bare transfer confirms no planted order: it waits for its payee', async () => {
  const payer = await t.payer()
  const terms = { from: payer.address, to: t.a.payout.evm.address, amount: 0.02 }
  const [planted, own] = [await buildOrder(t.b, terms), await buildOrder(t.c, terms)]
  const hash = await payOrder(t, payer, planted, WALLET_FEES)
  await t.evm.mine()
  await Promise.all([report(t.b, planted, hash), report(t.c, own, hash)])
  expect(takersOf(await untilDecided(t, [hash]), hash)).toEqual(['A unmatched'])
})

test('what one merchant pays another is sent in the books of the one, and waits for an order in those of the other', async () => {
  const [payer, payee] = [t.b.payout.evm, t.a.payout.evm]
  const order = await buildOrder(t.b, { from: payer.address, to: payee.address, amount: 0.03 })
  const hash = await payOrder(t, payer, order)
  await t.evm.mine()
  const after = await untilDecided(t, [hash])
  expect(takersOf(after, hash).toSorted()).toEqual(['A unmatched', `B ${order.paymentId}`])
  expect(after.rows.get('B')?.find(({ paymentId }) => paymentId === order.paymentId)).toMatchObject(
    { direction: 'sent' },
  )
})

test('a merchant’s payment between two own wallets is neither income nor spending', async () => {
  const order = await buildOrder(t.a, {
    from: t.a.payout.evm.address,
    to: t.a.managed.evm,
    amount: 0.04,
  })
  await payOrder(t, t.a.payout.evm, order)
  await untilPaid(t, t.a, order)
  expect(at((await readStatus(t.a, order.paymentId)).body, 'direction')).toBe('internal')
})

test.each(['A', 'B'] as const)('the books of %s are those of the chain', (name) => {
  const tenant = name === 'A' ? t.a : t.b
  return expectLedger(t, tenant, before.get(name) ?? new Map())
})
