import { randomInt } from 'node:crypto'
import { startServiceProcess, type ServiceProcess } from '../service-process.ts'
import { askUntilAnswered, newWish, type Acknowledged, type Wish } from './client.ts'
import type { Stage } from './stage.ts'

type StormOptions = { kills: number; processes: number; clients: number; lifeMs: readonly [least: number, most: number] }
type Storm = { kills: number; acknowledged: Acknowledged[]; wishes: Wish[]; startMs: number[] }

/** Processes that take payments and are killed, each a random moment after it has begun to listen, while clients go on asking whoever is there. */
export async function runStorm(stage: Stage, { kills, processes, clients, lifeMs }: StormOptions): Promise<Storm> {
  const alive = new Set<ServiceProcess>()
  const storm: Storm = { kills: 0, acknowledged: [], wishes: [], startMs: [] }
  const isOver = () => storm.kills >= kills
  const target = () => [...alive][randomInt(Math.max(1, alive.size))]?.url

  async function live(): Promise<void> {
    while (!isOver()) {
      const startedAt = performance.now()
      await using process = await startServiceProcess(stage.env)
      storm.startMs.push(performance.now() - startedAt)
      alive.add(process)
      await new Promise((resolve) => setTimeout(resolve, randomInt(lifeMs[0], lifeMs[1])))
      alive.delete(process)
      storm.kills++
    }
  }
  async function ask(): Promise<void> {
    while (!isOver()) {
      const wish = newWish(stage.tills)
      storm.wishes.push(wish)
      storm.acknowledged.push(await askUntilAnswered(stage, wish, () => target() ?? last?.url, 'respond-async'))
    }
  }
  let last: ServiceProcess | undefined
  const asking = Promise.all(Array.from({ length: clients }, ask))
  // Who asks when the storm ends is still answered: by one process more, that nobody kills before.
  const living = Promise.all(Array.from({ length: processes }, live)).then(async () => (last = await startServiceProcess(stage.env)))
  try {
    await Promise.all([asking, living])
  } finally {
    await last?.kill()
  }
  return storm
}
