import { startServiceProcess, type ServiceProcess } from '../service-process.ts'
import { pause, runCommand } from './command.ts'
import { CRASHES, crashDatabase } from './database-crashes.ts'
import { openFaultHarness, untilDone } from './fault-harness.ts'
import { trackEvents } from './track-events.ts'
import { countFaults } from './fault-proxy.ts'
import { runLoad } from './load.ts'
import { checkLoad, countEnded } from './measure.ts'

/**
 * Everything at once: RPC endpoints that fail and lie in about 30 % of calls, service processes killed with -9, and
 * a durable Postgres server that crashes, while payments are sent and paid and proofs are granted on
 * both chains. A round lasts some seconds, with two kills and one crash of the database.
 */
const PROCESSES = 3
const FAULT_RATE = 0.3
const KILLS = 2

await runCommand('chaos:storm', { short: 1, long: 200 }, async ({ rounds, rng, measure }) => {
  await using harness = await openFaultHarness({ rng })
  await using stack = new AsyncDisposableStack()
  const alive: ServiceProcess[] = []
  let kills = 0
  let crashes = 0
  let ended = 0
  // A process cannot start while the database is away: its operator starts it again.
  const start = async () => {
    const service = stack.use(await untilDone(() => startServiceProcess(harness.env)))
    alive.push(service)
  }
  await Promise.all(Array.from({ length: PROCESSES }, start))
  const schedule = rng.fork('everything')
  const places = rng.fork('reader')
  const tracker = trackEvents({
    key: harness.key,
    target: () => (alive.length > 0 ? places.pick(alive).url : undefined),
  })
  const load = await runLoad(
    harness,
    {
      target: () => (alive.length > 0 ? rng.pick(alive).url : undefined),
      rng,
      clients: { sends: 4, orders: 1, proofs: 3 },
    },
    async () => {
      for (const proxy of harness.proxies) proxy.rate = FAULT_RATE
      const starting: Promise<void>[] = []
      for (let round = 1; round <= rounds; round++) {
        for (let kill = 0; kill < KILLS; kill++) {
          await pause(schedule.int(500, 2_500))
          const [victim] = alive.splice(schedule.int(0, Math.max(0, alive.length - 1)), 1)
          if (!victim) continue
          ended += await countEnded([victim])
          await victim.kill()
          kills++
          starting.push(start())
        }
        await pause(schedule.int(500, 1_500))
        await crashDatabase(harness, schedule.pick(CRASHES), schedule)
        crashes++
        await Promise.all(starting.splice(0))
        if (round % 10 === 0) console.log(`… ${round} rounds`)
      }
      for (const proxy of harness.proxies) proxy.rate = 0
    },
  )
  const { calls, faults, list } = countFaults(harness.proxies)
  measure('kills', kills, 'at least one a round', kills >= rounds)
  measure('database crashes', crashes, `${rounds}`, crashes === rounds)
  measure('faults', `${faults} of ${calls} calls`, 'at least one in ten', faults * 10 >= calls)
  console.log(`faults that happened: ${list}`)
  ended += await countEnded(alive)
  measure('service processes that ended by themselves', ended, '0', ended === 0)
  await checkLoad(measure, harness, load)
  await tracker.compare(harness, measure)
})
