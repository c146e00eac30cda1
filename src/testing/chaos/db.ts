import { startServiceProcess } from '../service-process.ts'
import { pause, runCommand } from './command.ts'
import { CRASHES, crashDatabase, type Crash } from './database-crashes.ts'
import { openFaultHarness } from './fault-harness.ts'
import { trackEvents } from './track-events.ts'
import { runLoad } from './load.ts'
import { checkLoad, checkRunning } from './measure.ts'
import type { SeededRng } from './rng.ts'

/**
 * A durable Postgres server that crashes while two service processes send payments and grant proofs: an immediate
 * shutdown, one of its processes killed with -9 (the server then ends all connections and recovers), or
 * all connections of the service terminated. A round is one of each, in a random order, 5 to 10 s
 * apart in the long form. Clients may see 503 with Retry-After, and nothing worse. A reader of events has
 * each of them once, in order.
 */
/** 409: another request under the same key is still running. */
const ALLOWED = /^(503 \w+|409 IDEMPOTENCY_IN_PROGRESS.*)$/

await runCommand('chaos:db', { short: 1, long: 20 }, async ({ rounds, rng, measure }) => {
  await using harness = await openFaultHarness({ rng })
  await using first = await startServiceProcess(harness.env)
  await using second = await startServiceProcess(harness.env)
  const schedule = rng.fork('crashes')
  const places = rng.fork('reader')
  const tracker = trackEvents({
    key: harness.key,
    target: () => places.pick([first.url, second.url]),
  })
  const counts = new Map<Crash, number>(CRASHES.map((crash) => [crash, 0]))
  const [least, most] = rounds === 1 ? [1_500, 3_000] : [5_000, 10_000]
  const load = await runLoad(
    harness,
    {
      target: () => rng.pick([first.url, second.url]),
      rng,
      clients: { sends: 4, orders: 1, proofs: 2 },
    },
    async () => {
      for (let round = 0; round < rounds; round++) {
        for (const crash of shuffle(schedule)) {
          await pause(schedule.int(least, most))
          await crashDatabase(harness, crash, schedule)
          counts.set(crash, (counts.get(crash) ?? 0) + 1)
        }
      }
      await pause(least)
    },
  )
  const crashes = [...counts].map(([crash, times]) => `${times} × ${crash}`).join(', ')
  measure('database crashes', crashes, `${rounds} of each`, Math.min(...counts.values()) === rounds)
  const others = [...load.refused].filter(([name]) => !ALLOWED.test(name))
  const names = others.map(([name, times]) => `${times} × ${name}`).join(', ') || 'none'
  measure('refusals but 503 with Retry-After', names, 'none', others.length === 0)
  await checkRunning(measure, [first, second])
  await checkLoad(measure, harness, load)
  await tracker.compare(harness, measure)
})

function shuffle(rng: SeededRng): Crash[] {
  return CRASHES.map((crash) => ({ crash, at: rng.next() }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ crash }) => crash)
}
