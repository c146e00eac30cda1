import { eq } from 'drizzle-orm'
import { ProblemError } from '#contract/problem.ts'
import type { Database } from '#postgres/open.ts'
import { account } from './schema/access.ts'

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
