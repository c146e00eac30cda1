/**
 * Work for one process at a time is held by a lease, in database time: a process that dies or
 * stalls is replaced when its lease ends, and a live one extends it with each heartbeat, however
 * long its work takes.
 */
export const LEASE_S = 4
export const LEASE_RENEWAL_MS = 1_000

/**
 * Works while a lease is extended. A failed heartbeat costs the lease at most: later writes under
 * that lease are refused.
 */
export async function whileBeating<T>(
  extend: () => Promise<unknown>,
  work: () => Promise<T>,
): Promise<T> {
  const beat = setInterval(() => void extend().catch(() => {}), LEASE_RENEWAL_MS)
  try {
    return await work()
  } finally {
    clearInterval(beat)
  }
}
