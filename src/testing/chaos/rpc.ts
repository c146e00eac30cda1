import type { Family } from '#contract/address.ts'
import { startServiceProcess } from '../service-process.ts'
import { pause, runCommand, waitUntil } from './command.ts'
import { openFaultHarness, type FaultHarness } from './fault-harness.ts'
import { countFaults, MANNERS, type Manner } from './fault-proxy.ts'
import { runLoad } from './load.ts'
import { checkLoad, checkRunning } from './measure.ts'
import type { SeededRng } from './rng.ts'

/**
 * Two service processes whose RPC endpoints fail and lie: fault proxies in front of each chain, two endpoints each, answer about 30 % of
 * calls wrongly, and change their lies every two seconds. Then the two endpoints of a chain lie differently, each in one manner that it
 * keeps to. Then endpoints know no transaction, payments land unseen, and every blockhash
 * expires: nothing may be signed again. Meanwhile managed wallets send with idempotency keys, payers pay orders, and merchants settle
 * proofs, on both chains. A round is fifteen seconds of lies, and as long as it takes until the service has asked for what it may not see.
 */
const LYING_MS = 7_000
const DIFFERING_MS = 8_000
/** How often two endpoints that lie differently must lie in a round, at least. */
const LIES = 5
const EXPIRY_SLOTS = 200
/** How often a service is told that it knows nothing of a transaction, after that has landed and expired. */
const DENIALS = 12
const WITHIN_MS = 60_000
const FAULT_RATE = 0.3

await runCommand('chaos:rpc', { short: 1, long: 60 }, async ({ rounds, rng, measure }) => {
  await using harness = await openFaultHarness({ rng, endpoints: 2 })
  await using first = await startServiceProcess(harness.env)
  await using second = await startServiceProcess(harness.env)
  let forgotten = 0
  const manners = rng.fork('manners')
  const targets = rng.fork('targets')
  const load = await runLoad(
    harness,
    {
      target: () => targets.pick([first.url, second.url]),
      rng,
      clients: { sends: 8, orders: 2, proofs: 4 },
    },
    async () => {
      for (let round = 0; round < rounds; round++) {
        for (const proxy of harness.proxies) proxy.rate = FAULT_RATE
        await pause(LYING_MS)
        for (const proxy of harness.proxies) proxy.rate = 0
        console.log(`endpoints that lie differently: ${lieDifferently(harness, manners)}`)
        await pause(DIFFERING_MS)
        for (const proxy of harness.proxies) proxy.lieAs(undefined)
        if (await forgetTransactions(harness)) forgotten++
      }
    },
  )
  const { calls, faults, list } = countFaults(harness.proxies)
  measure('RPC calls', calls, 'at least 20', calls >= 20)
  measure('faults', faults, 'at least one in ten calls', faults * 10 >= calls)
  measure('rounds with payments that landed unseen', forgotten, `${rounds}`, forgotten === rounds)
  console.log(`faults that happened: ${list}`)
  const lies = MANNERS.map((each) => ({
    each,
    times: harness.proxies.reduce((sum, proxy) => sum + proxy.lies[each], 0),
  }))
  measure(
    'lies of endpoints that lie differently',
    lies.map(({ each, times }) => `${each} ${times}`).join(', '),
    `${LIES} in a round`,
    lies.reduce((sum, { times }) => sum + times, 0) >= LIES * rounds,
  )
  await checkRunning(measure, [first, second])
  await checkLoad(measure, harness, load)
})

/** Gives the endpoints of each chain two different manners, and names them. */
function lieDifferently({ endpoints }: FaultHarness, rng: SeededRng): string {
  const both = ['evm', 'solana'] as const
  return both
    .map((family) => {
      const first = rng.pick(MANNERS)
      const second = rng.pick(MANNERS.filter((each) => each !== first && !lieAlike(each, first)))
      const chosen = [first, second]
      for (const [index, proxy] of endpoints[family].entries()) proxy.lieAs(chosen[index])
      return `${family} ${chosen.join(' and ')}`
    })
    .join(', ')
}

/** Both deny what landed: together they deceive, as one endpoint that nobody contradicts. */
function lieAlike(first: Manner, second: Manner): boolean {
  const denies: readonly Manner[] = ['behind', 'forgetful']
  return denies.includes(first) && denies.includes(second)
}

/** Endpoints know no transaction, until payments have landed on both chains and the service has asked for them often. False where that did not happen in time. */
async function forgetTransactions({
  forgetful,
  makers,
  tills,
  payments,
}: FaultHarness): Promise<boolean> {
  const both = ['evm', 'solana'] as const
  const landed = async (family: Family) => {
    const mine = tills.filter((till) => till.family === family)
    const counts = await Promise.all(mine.map(({ address }) => payments(address)))
    return counts.reduce((sum, each) => sum + each, 0)
  }
  const denied = async (family: Family) =>
    forgetful[family].reduce((sum, { counts }) => sum + counts['not found'], 0)
  for (const family of both) for (const proxy of forgetful[family]) proxy.forgets = true
  const happened = await untilGrown(both, landed, 1)
  await makers.solana.skipSlots(EXPIRY_SLOTS)
  const seen = await untilGrown(both, denied, DENIALS)
  for (const family of both) for (const proxy of forgetful[family]) proxy.forgets = false
  return happened && seen
}

/** Waits until a figure of each chain has grown by so much. */
async function untilGrown(
  families: readonly Family[],
  read: (family: Family) => Promise<number>,
  by: number,
): Promise<boolean> {
  const before = await Promise.all(families.map(read))
  return waitUntil(WITHIN_MS, async () => {
    const now = await Promise.all(families.map(read))
    return now.every((value, index) => value - (before[index] ?? 0) >= by)
  })
}
