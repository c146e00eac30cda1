import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { at, succeed, textAt } from '#testing/api-client.ts'
import {
  expectLedger,
  readHoldings,
  readStatus,
  takersOf,
  type Baseline,
  type LedgerView,
} from '#testing/tenant-ledger.ts'
import { report, requestOrder, untilDecided, untilStatus } from '#testing/tenant-orders.ts'
import { openTenants, type Tenant, type Tenants } from '#testing/two-tenants.ts'

/**
 * A pays from a managed wallet. A thief who knows the usual payee and the usual amount plants a local order from that wallet and
 * reports the hash as soon as the network shows it. The payment stays the one that the service signed.
 */

type Scenario = {
  name: string
  /** Whether the monitor or the thief's report is first at a confirmed payment is a race: each scenario is run more than once. */
  round: number
  thief: 'B' | 'C' | 'A'
  /** Whether the planted order has expired before A pays. */
  expired: boolean
  /** The payee is a third party, or the merchant B. */
  payee: 'third party' | 'B'
}
type Played = { planted: string | undefined; paymentId: string; hash: string }

const PLANTED: readonly Omit<Scenario, 'round'>[] = [
  { name: 'an open order of another account', thief: 'B', expired: false, payee: 'third party' },
  { name: 'an expired order of another account', thief: 'B', expired: true, payee: 'third party' },
  { name: 'an open order of the payee', thief: 'B', expired: false, payee: 'B' },
  { name: 'an expired order of the payee', thief: 'B', expired: true, payee: 'B' },
  {
    name: 'an expired order of an account that owns nothing',
    thief: 'C',
    expired: true,
    payee: 'third party',
  },
  { name: 'an open order of the same account', thief: 'A', expired: false, payee: 'third party' },
  { name: 'an expired order of the same account', thief: 'A', expired: true, payee: 'third party' },
]
const ROUNDS = [1, 2, 3]
const SCENARIOS: readonly Scenario[] = ROUNDS.flatMap((round) =>
  PLANTED.map((each) => ({ ...each, round })),
)

let t: Tenants
let before: Baseline
let view: LedgerView
const played = new Map<Scenario, Played>()

beforeAll(async () => {
  t = await openTenants()
  before = await readHoldings(t, t.a)
  const payee = (await t.evm.wallet(0n)).address
  const recipients = new Map<Scenario, string>(
    SCENARIOS.map((each) => [each, each.payee === 'B' ? t.b.payout.evm.address : payee]),
  )
  const plant = async (scenario: Scenario) => {
    const reply = await requestOrder(thiefOf(scenario), {
      from: t.a.managed.evm,
      to: recipients.get(scenario) ?? '',
      amount: amountOf(scenario),
    })
    // To refuse to build from the wallet of another account is right as well.
    expect(['ALLOWED', 'FORBIDDEN'], reply.text).toContain(
      reply.status === 403 ? 'FORBIDDEN' : 'ALLOWED',
    )
    played.set(scenario, {
      planted: reply.status === 403 ? undefined : textAt(succeed(reply).body, 'paymentId'),
      paymentId: '',
      hash: '',
    })
  }
  const old = SCENARIOS.filter(({ expired }) => expired)
  await Promise.all(old.map(plant))
  await t.evm.mine(400)
  for (const scenario of old) {
    const { planted } = playOf(scenario)
    if (planted !== undefined)
      await untilStatus(t, { tenant: thiefOf(scenario), paymentId: planted }, ['expired'])
  }
  for (const round of ROUNDS) {
    const now = SCENARIOS.filter((scenario) => scenario.round === round)
    await Promise.all(now.filter(({ expired }) => !expired).map(plant))
    await Promise.all(now.map((scenario) => pay(scenario, recipients.get(scenario) ?? '')))
    await reportPlanted(now)
    // Enough blocks to confirm: from here on the monitor races the reports.
    await t.evm.mine(2)
    await reportPlanted(now)
  }
  view = await untilDecided(
    t,
    [...played.values()].map(({ hash }) => hash),
  )
})

afterAll(() => t?.[Symbol.asyncDispose]())

describe.each(SCENARIOS)('$name, paid to $payee, round $round', (scenario) => {
  test('does not capture the hosted payment, which comes to its end', async () => {
    const { hash, paymentId, planted } = playOf(scenario)
    // The payee has no order for it that its payer has shown to be meant.
    const payee = scenario.payee === 'B' ? ['B unmatched'] : []
    expect(takersOf(view, hash).toSorted()).toEqual([`A ${paymentId}`, ...payee].toSorted())
    if (planted !== undefined)
      expect(at((await readStatus(thiefOf(scenario), planted)).body, 'status')).not.toMatch(
        /confirmed|finalized/,
      )
    await untilStatus(t, { tenant: t.a, paymentId: paymentId }, ['finalized'])
  })
})

test('the books of the merchant are those of the chain', () => expectLedger(t, t.a, before))

async function pay(scenario: Scenario, recipientAddress: string): Promise<void> {
  const body = { walletAddress: t.a.managed.evm, recipientAddress, amount: amountOf(scenario) }
  const reply = succeed(
    await t.a.api.post('/payment/send', body, {
      Prefer: 'respond-async',
      'Idempotency-Key': crypto.randomUUID(),
    }),
  )
  Object.assign(playOf(scenario), {
    paymentId: textAt(reply.body, 'paymentId'),
    hash: textAt(reply.body, 'signature'),
  })
}

async function reportPlanted(scenarios: readonly Scenario[]): Promise<void> {
  await Promise.all(
    scenarios.map(async (scenario) => {
      const { planted, hash } = playOf(scenario)
      if (planted !== undefined) await report(thiefOf(scenario), { paymentId: planted }, hash)
    }),
  )
}

const amountOf = (scenario: Scenario) => 0.1 + SCENARIOS.indexOf(scenario) / 100
const thiefOf = ({ thief }: Scenario): Tenant => ({ A: t.a, B: t.b, C: t.c })[thief]

function playOf(scenario: Scenario): Played {
  const play = played.get(scenario)
  if (!play) throw new Error(`not played: ${scenario.name}`)
  return play
}
