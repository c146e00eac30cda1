import type { NonceQueue } from '../db/nonce-queue.ts'
import type { Context } from '../context/context.ts'

const lines = new WeakMap<Context, Map<string, Promise<unknown>>>()

/**
 * Runs work on a nonce queue after all earlier work of this process on it. Between processes the nonce queue's lock decides; here a line costs no connection to the
 * database, of which a hundred payments waiting for one wallet would take all.
 */
export async function runInQueue<T>(
  context: Context,
  { network, sender }: NonceQueue,
  work: () => Promise<T>,
): Promise<T> {
  const name = `${network} ${sender}`
  const line = lines.get(context) ?? new Map<string, Promise<unknown>>()
  lines.set(context, line)
  const before = line.get(name)
  const turn = (async () => {
    await before?.catch(() => {})
    return work()
  })()
  line.set(name, turn)
  try {
    return await turn
  } finally {
    if (line.get(name) === turn) line.delete(name)
  }
}
