import type { PrivateKeyAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { at, type ApiReply } from '#testing/api-client.ts'
import { expectLedger, readHoldings, readStatus, takersOf, type Baseline, type View } from '#testing/tenant-ledger.ts'
import { buildOrder, payOrder, report, untilDecided, untilPaid, untilStatus, WALLET_FEES, type Order } from '#testing/tenant-orders.ts'
import { openTenants, type Tenants } from '#testing/two-tenants.ts'

/**
 * A thief with an API key of another account plants orders that are equal to those of a merchant's customers. The customers pay; the thief
 * knows what is public: addresses, amounts, and the hash of every transaction.
 */

type Step = 'customer orders' | 'thief plants' | 'customer reports' | 'thief reports' | 'both report at once'
type Scenario = {
  name: string
  asset: 'ETH' | 'USDC'
  /** Whether the thief's order is an old one that has expired. */
  expired?: boolean
  before: readonly Step[]
  /** Between the block that holds the payment and those that confirm it. */
  after: readonly Step[]
}
type Played = { payer: PrivateKeyAccount; orders: { customer?: Order; thief?: Order }; hash: string; replies: Map<Step, ApiReply> }

const ORDERS: readonly Omit<Scenario, 'asset'>[] = [
  { name: 'the thief plants first, nobody reports', before: ['thief plants', 'customer orders'], after: [] },
  { name: 'the thief plants last, nobody reports', before: ['customer orders', 'thief plants'], after: [] },
  { name: 'the thief plants first and reports first', before: ['thief plants', 'customer orders'], after: ['thief reports', 'customer reports'] },
  { name: 'the thief plants last and reports first', before: ['customer orders', 'thief plants'], after: ['thief reports', 'customer reports'] },
  { name: 'the thief plants first and reports last', before: ['thief plants', 'customer orders'], after: ['customer reports', 'thief reports'] },
  { name: 'the thief plants last and reports last', before: ['customer orders', 'thief plants'], after: ['customer reports', 'thief reports'] },
  { name: 'only the thief reports', before: ['customer orders', 'thief plants'], after: ['thief reports'] },
  { name: 'the thief plants once the payment is in a block', before: ['customer orders'], after: ['thief plants', 'thief reports'] },
  { name: 'the planted order expired long ago', expired: true, before: ['customer orders'], after: [] },
  { name: 'the planted order expired long ago and is reported', expired: true, before: ['customer orders'], after: ['thief reports', 'customer reports'] },
]
const RACES = Array.from({ length: 8 }, (_, index): Omit<Scenario, 'asset'> => {
  const before = index % 2 === 0 ? (['thief plants', 'customer orders'] as const) : (['customer orders', 'thief plants'] as const)
  return { name: `both report at once, round ${index + 1}`, before, after: ['both report at once'] }
})
const SCENARIOS: readonly Scenario[] = [
  ...ORDERS.map((order) => ({ ...order, asset: 'ETH' as const })),
  ...ORDERS.map((order) => ({ ...order, asset: 'USDC' as const })),
  ...RACES.map((order, index) => ({ ...order, asset: index < 4 ? ('ETH' as const) : ('USDC' as const) })),
]

let t: Tenants
const before = new Map<string, Baseline>()
let view: View
const played = new Map<Scenario, Played>()

beforeAll(async () => {
  t = await openTenants()
  for (const tenant of [t.a, t.b]) before.set(tenant.name, await readHoldings(t, tenant))
  for (const scenario of SCENARIOS) played.set(scenario, { payer: await t.payer(), orders: {}, hash: '', replies: new Map() })
  await plantExpired()
  await everyScenario((scenario) => playSteps(scenario, scenario.before))
  await everyScenario(async (scenario) => {
    const { payer, orders } = playOf(scenario)
    playOf(scenario).hash = await payOrder(t, payer, orders.customer ?? fail('no order'))
  })
  await t.evm.mine()
  await everyScenario((scenario) => playSteps(scenario, scenario.after))
  view = await untilDecided(
    t,
    [...played.values()].map(({ hash }) => hash),
  )
})

afterAll(() => t?.[Symbol.asyncDispose]())

describe.each(SCENARIOS)('$asset: $name', (scenario) => {
  test('the customer’s order is paid, and nothing else is', () => {
    const { hash, orders } = playOf(scenario)
    expect(takersOf(view, hash)).toEqual([`A ${orders.customer?.paymentId}`])
  })

  test('the customer’s report is taken, and no report of the thief moves anything', async () => {
    const { orders, replies } = playOf(scenario)
    const own = replies.get('customer reports')
    if (own) expect(own.status, own.text).toBe(200)
    const thief = await readStatus(t.b, orders.thief?.paymentId ?? '')
    expect(['created', 'expired', 'failed', 'pending']).toContain(at(thief.body, 'status'))
    expect(at(thief.body, 'signature') === playOf(scenario).hash && at(thief.body, 'blockHeight') !== null, 'the thief’s order stands on this payment').toBe(
      false,
    )
  })
})

test('a bare transfer is nobody’s order: it waits for its payee, and confirms no planted one', async () => {
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
  expect(after.rows.get('B')?.find(({ paymentId }) => paymentId === order.paymentId)).toMatchObject({ direction: 'sent' })
})

test('a merchant’s payment between two own wallets is neither income nor spending', async () => {
  const order = await buildOrder(t.a, { from: t.a.payout.evm.address, to: t.a.managed.evm, amount: 0.04 })
  await payOrder(t, t.a.payout.evm, order)
  await untilPaid(t, t.a, order)
  expect(at((await readStatus(t.a, order.paymentId)).body, 'direction')).toBe('internal')
})

test.each(['A', 'B'] as const)('the books of %s are those of the chain', (name) => {
  const tenant = name === 'A' ? t.a : t.b
  return expectLedger(t, tenant, before.get(name) ?? fail(name))
})

/** The thief's old orders, and blocks until the service has given them up. */
async function plantExpired(): Promise<void> {
  const old = SCENARIOS.filter(({ expired }) => expired === true)
  await Promise.all(old.map((scenario) => playSteps(scenario, ['thief plants'])))
  await t.evm.mine(400)
  for (const scenario of old) await untilStatus(t, { tenant: t.b, paymentId: playOf(scenario).orders.thief?.paymentId ?? '' }, ['expired'])
}

async function everyScenario(work: (scenario: Scenario) => Promise<void>): Promise<void> {
  await Promise.all(SCENARIOS.map(work))
}

async function playSteps(scenario: Scenario, steps: readonly Step[]): Promise<void> {
  const play = playOf(scenario)
  const index = SCENARIOS.indexOf(scenario)
  const amount = scenario.asset === 'ETH' ? 0.01 + index / 10_000 : 10 + index / 100
  const terms = { from: play.payer.address, to: t.a.payout.evm.address, amount, asset: scenario.asset }
  for (const step of steps) {
    if (step === 'customer orders') play.orders.customer = await buildOrder(t.a, { ...terms, reference: 'the customer' })
    else if (step === 'thief plants') play.orders.thief = await buildOrder(t.b, { ...terms, reference: 'the thief' })
    else if (step === 'customer reports') play.replies.set(step, await report(t.a, play.orders.customer ?? fail(step), play.hash))
    else if (step === 'thief reports') play.replies.set(step, await report(t.b, play.orders.thief ?? fail(step), play.hash))
    else {
      const [thief, customer] = await Promise.all([
        report(t.b, play.orders.thief ?? fail(step), play.hash),
        report(t.a, play.orders.customer ?? fail(step), play.hash),
      ])
      play.replies.set('thief reports', thief).set('customer reports', customer)
    }
  }
}

function playOf(scenario: Scenario): Played {
  return played.get(scenario) ?? fail(scenario.name)
}

function fail(what: string): never {
  throw new Error(`not there: ${what}`)
}
