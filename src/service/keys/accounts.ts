import { and, asc, eq, gt, isNull, or, sql } from 'drizzle-orm'
import { type Plan, type Scope, PLANS } from '#contract/api-key-body.ts'
import { createId } from '#contract/payment.ts'
import { ProblemError } from '#contract/problem.ts'
import type { Database } from '#postgres/open.ts'
import { account, apiKey } from '../db/schema/access.ts'

/** NOTIFY on this channel means: the keys or the plan of this account changed. What they are now is in the rows. */
export const KEY_CHANNEL = 'service_key'

/** Has every process read the keys of an account again. Call it after the change is committed. */
export async function announceKeyChange(db: Database, accountId: string): Promise<void> {
  await db.execute(sql`select pg_notify(${KEY_CHANNEL}, ${accountId})`)
}

/** Opens an account. Its plan is the most that one of its keys may have, and so are `scopes` where they are given. */
export async function createAccount(
  db: Database,
  input: { name: string; plan: Plan; scopes?: Scope[] | null },
): Promise<{ id: string }> {
  const id = createId('acc')
  await db.insert(account).values({ id, name: input.name, plan: input.plan, scopes: input.scopes })
  return { id }
}

/** All accounts, oldest first, each with the number of its keys that are valid now. `scopes` is null where the plan permits everything. */
export async function listAccounts(db: Database, now: Date) {
  const valid = and(
    eq(apiKey.accountId, account.id),
    isNull(apiKey.revokedAt),
    or(isNull(apiKey.expiresAt), gt(apiKey.expiresAt, now)),
  )
  return await db
    .select({
      id: account.id,
      name: account.name,
      plan: account.plan,
      scopes: account.scopes,
      createdAt: account.createdAt,
      validKeys: db.$count(apiKey, valid),
    })
    .from(account)
    .orderBy(asc(account.createdAt), asc(account.id))
}

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
  await announceKeyChange(db, accountId)
}

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

/** Whether one plan gives more than the other. */
export function isAbove(plan: Plan, other: Plan): boolean {
  return PLANS[plan].requestsPerMinute > PLANS[other].requestsPerMinute
}

export function lowerPlan(plan: Plan, other: Plan): Plan {
  return isAbove(plan, other) ? other : plan
}
