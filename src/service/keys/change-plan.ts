import { eq } from 'drizzle-orm'
import type { Plan, Scope } from '#contract/api-key.ts'
import { ProblemError } from '#contract/problem.ts'
import type { Database } from '#postgres/open.ts'
import { account } from '../db/schema/access.ts'

/**
 * Sets an account's plan and what it permits; null permits everything. From their next request on its keys have at most that, and what
 * they had above comes back with a later plan.
 * @throws `NOT_FOUND`
 */
export async function changePlan(
  db: Database,
  input: { accountId: string; plan: Plan; scopes: Scope[] | null },
): Promise<void> {
  const { accountId, ...changes } = input
  const rows = await db
    .update(account)
    .set(changes)
    .where(eq(account.id, accountId))
    .returning({ id: account.id })
  if (rows.length === 0)
    throw new ProblemError('NOT_FOUND', { message: `There is no account ${accountId}.` })
}
