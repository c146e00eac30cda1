import { eq } from 'drizzle-orm'
import { ProblemError } from '#contract/problem.ts'
import type { Database } from '#postgres/open.ts'
import { account } from './schema/access.ts'

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
  const heartbeat = setInterval(() => void extend().catch(() => {}), LEASE_RENEWAL_MS)
  try {
    return await work()
  } finally {
    clearInterval(heartbeat)
  }
}

/**
 * Locks an account until the end of the caller's transaction, so that what is counted and then added is exact. Rows that refer to the account
 * can still be written meanwhile.
 * @throws `NOT_FOUND`
 */
export async function lockAccount(
  tx: Database,
  accountId: string,
): Promise<typeof account.$inferSelect> {
  const [row] = await tx
    .select()
    .from(account)
    .where(eq(account.id, accountId))
    .for('no key update')
  if (!row) throw new ProblemError('NOT_FOUND', { message: `There is no account ${accountId}.` })
  return row
}
