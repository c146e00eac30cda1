import type { PrivateKeyAccount } from 'viem/accounts'
import type { ApiReply } from './api-client.ts'
import type { LedgerView } from './tenant-ledger.ts'
import {
  payOrder,
  untilDecided,
  WALLET_FEES,
  type TenantOrder,
  type OrderTerms,
} from './tenant-orders.ts'
import type { Tenants } from './two-tenants.ts'

/**
 * Equal orders of a customer and of a thief for one payment of the customer's, in every order of events. The thief knows what is public: the
 * parties, the amount, and the hash of every transaction.
 */
export type Who = 'customer' | 'thief'
type Step = `${Who} orders` | `${Who} reports` | 'both report at once'

export type Scenario = {
  name: string
  asset: 'ETH' | 'USDC'
  /** Whether the thief's order is an old one that has expired. */
  expired?: true
  wallet: 'keeps the fees' | 'replaces the fees'
  before: readonly Step[]
  /** Between the block that holds the payment and those that confirm it. */
  after: readonly Step[]
}

export type Played = {
  payer: PrivateKeyAccount
  orders: Partial<Record<Who, TenantOrder>>
  hash: string
  reports: Map<Who, ApiReply>
}

/** How the two reach the service: with keys of two accounts, or as two visitors of one checkout. */
export type Actors = {
  order: (who: Who, terms: OrderTerms, payer: PrivateKeyAccount) => Promise<TenantOrder>
  report: (
    who: Who,
    order: TenantOrder,
    at: { hash: string; payer: PrivateKeyAccount },
  ) => Promise<ApiReply>
  /** Makes blocks until the service has given up a thief's order. */
  untilExpired: (order: TenantOrder) => Promise<unknown>
}

type Events = Pick<Scenario, 'name' | 'expired' | 'before' | 'after'>

export const EVENTS: readonly Events[] = [
  {
    name: 'the thief orders first, nobody reports',
    before: ['thief orders', 'customer orders'],
    after: [],
  },
  {
    name: 'the thief orders last, nobody reports',
    before: ['customer orders', 'thief orders'],
    after: [],
  },
  {
    name: 'the thief orders first and reports first',
    before: ['thief orders', 'customer orders'],
    after: ['thief reports', 'customer reports'],
  },
  {
    name: 'the thief orders last and reports first',
    before: ['customer orders', 'thief orders'],
    after: ['thief reports', 'customer reports'],
  },
  {
    name: 'the thief orders first and reports last',
    before: ['thief orders', 'customer orders'],
    after: ['customer reports', 'thief reports'],
  },
  {
    name: 'the thief orders last and reports last',
    before: ['customer orders', 'thief orders'],
    after: ['customer reports', 'thief reports'],
  },
  {
    name: 'only the thief reports',
    before: ['customer orders', 'thief orders'],
    after: ['thief reports'],
  },
  {
    name: 'the thief orders once the payment is in a block',
    before: ['customer orders'],
    after: ['thief orders', 'thief reports'],
  },
  {
    name: 'the thief’s order expired long ago',
    expired: true,
    before: ['customer orders'],
    after: [],
  },
  {
    name: 'the thief’s order expired long ago and is reported',
    expired: true,
    before: ['customer orders'],
    after: ['thief reports', 'customer reports'],
  },
]

export function races(rounds: number): Events[] {
  return Array.from({ length: rounds }, (_, index) => ({
    name: `both report at once, round ${index + 1}`,
    before:
      index % 2 === 0
        ? (['thief orders', 'customer orders'] as const)
        : (['customer orders', 'thief orders'] as const),
    after: ['both report at once'],
  }))
}

/** Plays all of them at once, to wallets of A; each has its own payer and its own amount. */
export async function playScenarios(
  t: Tenants,
  scenarios: readonly Scenario[],
  actors: Actors,
): Promise<{ view: LedgerView; playOf: (scenario: Scenario) => Played }> {
  const played = new Map<Scenario, Played>()
  for (const scenario of scenarios)
    played.set(scenario, { payer: await t.payer(), orders: {}, hash: '', reports: new Map() })
  const playOf = (scenario: Scenario) => played.get(scenario) ?? missing(scenario.name)
  const everyone = (work: (scenario: Scenario) => Promise<void>) =>
    Promise.all(scenarios.map((scenario) => work(scenario)))
  const steps = (scenario: Scenario, list: readonly Step[]) =>
    playSteps(
      {
        actors,
        play: playOf(scenario),
        terms: termsOf(t, playOf(scenario), {
          asset: scenario.asset,
          index: scenarios.indexOf(scenario),
        }),
      },
      list,
    )

  const old = scenarios.filter(({ expired }) => expired)
  await Promise.all(old.map((scenario) => steps(scenario, ['thief orders'])))
  if (old.length > 0) await t.evm.mine(400)
  for (const scenario of old)
    await actors.untilExpired(playOf(scenario).orders.thief ?? missing('order'))

  await everyone((scenario) => steps(scenario, scenario.before))
  await everyone(async (scenario) => {
    const play = playOf(scenario)
    const fees = scenario.wallet === 'replaces the fees' ? WALLET_FEES : {}
    play.hash = await payOrder(t, play.payer, play.orders.customer ?? missing('order'), fees)
  })
  await t.evm.mine()
  await everyone((scenario) => steps(scenario, scenario.after))
  const hashes = [...played.values()].map(({ hash }) => hash)
  return { view: await untilDecided(t, hashes), playOf }
}

function termsOf(
  t: Tenants,
  { payer }: Played,
  { asset, index }: { asset: 'ETH' | 'USDC'; index: number },
): OrderTerms {
  const amount = asset === 'ETH' ? 0.01 + index / 10_000 : 10 + index / 100
  return { from: payer.address, to: t.a.payout.evm.address, amount, asset }
}

type Play = { actors: Actors; play: Played; terms: OrderTerms }

async function playSteps({ actors, play, terms }: Play, steps: readonly Step[]): Promise<void> {
  const { payer, hash, orders, reports } = play
  const order = async (who: Who) =>
    void (orders[who] = await actors.order(who, { ...terms, reference: `of the ${who}` }, payer))
  const report = async (who: Who) =>
    void reports.set(
      who,
      await actors.report(who, orders[who] ?? missing('order'), { hash, payer }),
    )
  for (const step of steps) {
    if (step === 'customer orders') await order('customer')
    else if (step === 'thief orders') await order('thief')
    else if (step === 'customer reports') await report('customer')
    else if (step === 'thief reports') await report('thief')
    else await Promise.all([report('thief'), report('customer')])
  }
}

function missing(what: string): never {
  throw new Error(`not there: ${what}`)
}
