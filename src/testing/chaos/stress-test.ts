import { startServiceProcess, type ServiceProcess } from '../service-process.ts'
import {
  requestUntilDecided,
  newRequestedPayment,
  type Acknowledged,
  type RequestedPayment,
} from './client.ts'
import type { ChaosHarness } from './harness.ts'
import type { SeededRng } from './rng.ts'

type StormOptions = {
  kills: number
  processes: number
  clients: number
  pauseMs: readonly [least: number, most: number]
  /** When which process dies, and what is paid from where. */
  rng: SeededRng
  /** Told at the beginning how to find a process that listens. */
  onStart: (target: () => string | undefined) => void
}
type Storm = {
  kills: number
  acknowledged: Acknowledged[]
  wishes: RequestedPayment[]
  /** Payments that were acknowledged while processes were still dying. */
  underFire: number
  /** Requests that a kill cut off. */
  cutOff: number
}

const TELL_EVERY = 100

/**
 * Runs processes that take payments while one of those that listen is killed and restarted, over
 * and over. The next one dies a random pause after at most one is missing: if they were killed as
 * fast as they start, none would live long enough to be in the middle of anything.
 */
export async function runStressTest(
  stage: ChaosHarness,
  { kills, processes, clients, pauseMs, rng, onStart }: StormOptions,
): Promise<Storm> {
  const storm: Storm = { kills: 0, acknowledged: [], wishes: [], underFire: 0, cutOff: 0 }
  const alive: ServiceProcess[] = []
  const isOver = () => storm.kills >= kills
  // What asks how often depends on the machine: each use has a sequence that the others do not shift.
  const deaths = rng.fork('deaths')
  const payments = rng.fork('payments')
  const targets = rng.fork('targets')
  const target = () => alive[targets.int(0, Math.max(0, alive.length - 1))]?.url

  onStart(target)

  const starting: Promise<unknown>[] = []
  const broken = Promise.withResolvers<never>()
  const start = () =>
    void starting.push(
      startServiceProcess(stage.env).then((each) => alive.push(each), broken.reject),
    )
  async function strike(): Promise<void> {
    while (!isOver()) {
      if (alive.length < processes - 1) {
        await new Promise((resolve) => setTimeout(resolve, 10))
        continue
      }
      await new Promise((resolve) => setTimeout(resolve, deaths.int(...pauseMs)))
      const [victim] = alive.splice(deaths.int(0, alive.length - 1), 1)
      await victim?.kill()
      storm.kills++
      if (storm.kills % TELL_EVERY === 0)
        console.log(`… ${storm.kills} kills, ${storm.acknowledged.length} payments`)
      if (!isOver()) start()
    }
  }
  async function ask(): Promise<void> {
    while (!isOver()) {
      const wish = newRequestedPayment(stage.tills, payments.int)
      storm.wishes.push(wish)
      storm.acknowledged.push(
        await requestUntilDecided(stage, wish, {
          target,
          prefer: 'respond-async',
          onCutOff: () => storm.cutOff++,
        }),
      )
      if (!isOver()) storm.underFire++
    }
  }
  for (let count = 0; count < processes; count++) start()
  try {
    // Requests that are open when the stress test ends are still answered, by processes that nobody kills
    // any more.
    await Promise.race([
      broken.promise,
      Promise.all([strike(), ...Array.from({ length: clients }, ask)]),
    ])
  } finally {
    await Promise.allSettled(starting)
    for (const each of alive) await each.kill()
  }
  return storm
}
