import pg from 'pg'
import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  expect,
  test,
  vi,
  type MockInstance,
} from 'vitest'
import { startEvm, type EvmFixture } from '#testing/local-chains.ts'
import { eventually } from '#testing/service-context.ts'
import { openTokenFixture, type TokenFixture } from '#testing/token-fixture.ts'
import { payInvoice } from '#testing/token-payers.ts'
import { isMonitoredHere, noteLook, notifyMonitor } from '../chains/chain.ts'
import { startWatchers, type Watchers } from '../monitor/start.ts'
import { readPaymentBody } from '../payments/status.ts'

/** What it costs the database while settlements wait for their confirmations. */

let evm: EvmFixture
let fixture: TokenFixture
let watchers: Watchers | undefined
let queries: MockInstance

beforeAll(async () => {
  evm = await startEvm({ slotsInEpoch: 2 })
  fixture = await openTokenFixture(evm)
})

afterAll(async () => {
  await fixture?.[Symbol.asyncDispose]()
  await evm?.[Symbol.asyncDispose]()
})

beforeEach(() => {
  queries = vi.spyOn(pg.Client.prototype, 'query')
})

afterEach(async () => {
  await watchers?.stop()
  watchers = undefined
  vi.restoreAllMocks()
})

const count = (part: string) =>
  queries.mock.calls.filter(([query]) =>
    JSON.stringify(query).includes(JSON.stringify(part).slice(1, -1)),
  ).length
const ofOne = () => count('from "service"."attempt" where "service"."attempt"."payment_id" = $1')
const ofMany = () => count('"service"."attempt"."payment_id" in (')
const rounds = () => count('select "height" from "service"."chain_cursor"')

/** How often a call may look itself since then, although a watcher looks each block. */
const looksWithin = (from: number) => Math.floor((performance.now() - from) / 4_000)

/** Presented and broadcast; the call waits for as long as `timeout` says, in seconds. */
async function present(timeout: number) {
  const all = await fixture.parties({ validSeconds: 600 })
  const header = await payInvoice(all.client, all.requirements)
  const call = fixture.receive(all, header, { timeout })
  return { call }
}

const untilSigned = (signed: number) =>
  eventually(
    async () => count('insert into "service"."attempt"'),
    (made) => made >= signed,
  )

test('a round reads once what was signed for all payments, and writes nothing where nothing changed', async () => {
  watchers = startWatchers(fixture.context)
  await eventually(async () => count('chain_cursor'), Boolean)
  const from = performance.now()
  const calls = [await present(30), await present(30), await present(30)]
  await untilSigned(3)
  const before = rounds()
  await eventually(
    async () => rounds(),
    (now) => now > before + 1,
  )
  queries.mockClear()
  await eventually(
    async () => rounds(),
    (now) => now > 3,
  )
  const counted = { rounds: rounds(), ofOne: ofOne(), ofMany: ofMany(), writes: count('begin') }
  expect(counted.writes).toBe(0)
  expect(counted.ofOne).toBeLessThanOrEqual(calls.length * looksWithin(from))
  expect(Math.abs(counted.ofMany - counted.rounds)).toBeLessThanOrEqual(1)
  await evm.mine(4)
  for (const { call } of calls) expect(await call).toMatchObject({ verified: true })
})

test('a settlement that waits leaves the looks to the watcher that follows the chain', async () => {
  watchers = startWatchers(fixture.context)
  await eventually(async () => count('chain_cursor'), Boolean)
  const from = performance.now()
  const { call } = await present(30)
  await untilSigned(1)
  const before = rounds()
  await eventually(
    async () => rounds(),
    (now) => now > before + 3,
  )
  expect(ofOne()).toBeLessThanOrEqual(looksWithin(from))
  await evm.mine(4)
  const { paymentId, verified } = await call
  expect(verified).toBe(true)
  expect(ofOne()).toBeLessThanOrEqual(looksWithin(from))
  expect((await readPaymentBody(fixture.context, paymentId ?? '')).status).toMatch(
    /confirmed|finalized/,
  )
})

test('a settlement that waits looks itself once the watcher has stopped', async () => {
  watchers = startWatchers(fixture.context)
  await eventually(async () => count('chain_cursor'), Boolean)
  const { call } = await present(30)
  await untilSigned(1)
  await watchers.stop()
  const before = ofOne()
  await eventually(
    async () => ofOne(),
    (now) => now > before,
  )
  await evm.mine(4)
  expect(await call).toMatchObject({ verified: true })
})

test('a settlement that a look of the watcher has missed, or whose watcher is late, is looked at by its waiter', () => {
  const { chain } = fixture
  const look = (ms: number, ...unseen: string[]) =>
    noteLook(chain, { startedAt: performance.now() - ms, unseen: new Set(unseen) })
  look(0)
  expect(isMonitoredHere(chain, 'pay_1')).toBe(true)
  look(0, 'pay_1')
  expect([isMonitoredHere(chain, 'pay_1'), isMonitoredHere(chain, 'pay_2')]).toEqual([false, true])
  look(2 * chain.network.blockTimeMs + 1_001)
  expect(isMonitoredHere(chain, 'pay_1')).toBe(false)
})

test('what wakes the watcher within a moment is looked at together', async () => {
  watchers = startWatchers(fixture.context)
  const { call } = await present(30)
  await untilSigned(1)
  const from = performance.now()
  const before = rounds()
  while (performance.now() - from < 1_000) {
    notifyMonitor(fixture.chain)
    await new Promise((resolve) => setImmediate(resolve))
  }
  const most =
    2 + Math.ceil((performance.now() - from) / Math.min(250, fixture.chain.network.blockTimeMs))
  expect(rounds() - before).toBeLessThanOrEqual(most)
  await evm.mine(4)
  await call
})
