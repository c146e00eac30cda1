import type { Context } from '../context/context.ts'

const EVERY_MS = 5_000

/** Brings the counts, and the requests of the log, to the database now and then. @returns stops it, with a last flush: a process that is asked to stop loses none. */
export function startFlushing({ usage, requests, log }: Context): () => Promise<void> {
  const flush = async () => {
    await usage
      .flush()
      .catch((error: unknown) => log.warn({ err: error }, 'usage could not be counted yet'))
    await requests
      .flush()
      .catch((error: unknown) => log.warn({ err: error }, 'requests could not be recorded yet'))
  }
  const timer = setInterval(() => void flush(), EVERY_MS)
  return async () => {
    clearInterval(timer)
    await flush()
  }
}
