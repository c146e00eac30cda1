import type { Context } from '../context/context.ts'

const EVERY_MS = 5_000

/** Brings the counts to the database now and then. @returns stops it, with a last flush: a process that is asked to stop loses none. */
export function startFlushing({ usage, log }: Context): () => Promise<void> {
  const flush = () =>
    usage
      .flush()
      .catch((error: unknown) => log.warn({ err: error }, 'usage could not be counted yet'))
  const timer = setInterval(() => void flush(), EVERY_MS)
  return async () => {
    clearInterval(timer)
    await flush()
  }
}
