import { eq } from 'drizzle-orm'
import { ProblemError } from '#contract/problem.ts'
import type { Database } from '#postgres/open.ts'
import { account } from '../db/schema/access.ts'

/**
 * Sets by which facilitators an account may have payments verified; null for those of the operator's configuration.
 * @throws `NOT_FOUND`
 */
export async function chooseFacilitators(
  db: Database,
  { accountId, facilitators }: { accountId: string; facilitators: string[] | null },
): Promise<void> {
  const rows = await db
    .update(account)
    .set({ facilitators })
    .where(eq(account.id, accountId))
    .returning({ id: account.id })
  if (rows.length === 0)
    throw new ProblemError('NOT_FOUND', { message: `There is no account ${accountId}.` })
}
