/**
 * What one process may do at a time it holds by a lease, in the database's time: a process that dies, or stands still, is replaced when it ends, and one that
 * lives extends it with each beat, however long its work takes.
 */
export const LEASE_S = 4
export const BEAT_MS = 1_000

/** Works while a lease is extended. A beat that fails costs the lease at most: whoever writes in its name is refused then. */
export async function whileBeating<T>(
  extend: () => Promise<unknown>,
  work: () => Promise<T>,
): Promise<T> {
  const beat = setInterval(() => void extend().catch(() => {}), BEAT_MS)
  try {
    return await work()
  } finally {
    clearInterval(beat)
  }
}
