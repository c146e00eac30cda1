import type { Context } from '../../context/context.ts'
import { foldTallies } from '../../db/fold-tallies.ts'

const EVERY_MS = 1_000

/** Keeps the tallies near the present. Late is not wrong, only slower to read: what is not folded is counted where it is noted. @returns stops it */
export function startFolding({ db, log }: Context): () => Promise<void> {
  let running = Promise.resolve()
  let stopped = false
  async function fold(): Promise<void> {
    try {
      while (!stopped && (await foldTallies(db)) > 0);
    } catch (error) {
      if (!stopped) log.warn({ err: error }, 'the tallies of payments could not be folded yet')
    }
  }
  const timer = setInterval(() => {
    running = running.then(fold)
  }, EVERY_MS)
  return async () => {
    stopped = true
    clearInterval(timer)
    await running
  }
}
