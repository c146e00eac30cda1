import { eq } from 'drizzle-orm'
import { apiKeyHint, createApiKey, type Plan, type Scope } from '#contract/api-key.ts'
import { createId } from '#contract/id.ts'
import { ProblemError } from '#contract/problem.ts'
import type { Database } from '#postgres/open.ts'
import { account, apiKey } from '../db/schema/access.ts'
import { hashKey } from './hash-key.ts'
import { isAbove } from './plan-order.ts'

export type NewKey = {
  accountId: string
  name: string
  scopes: readonly Scope[]
  plan: Plan
  environment: 'live' | 'test'
  expiresAt?: Date
  /** In place of the plan's quota. */
  requestsPerMinute?: number
}

/**
 * Makes an API key. The key itself is returned here and nowhere else: only its hash is kept.
 * @throws `NOT_FOUND` for an unknown account, `FORBIDDEN` for a plan above the account's
 */
export async function createKey(db: Database, input: NewKey): Promise<{ id: string; key: string }> {
  const [owner] = await db.select({ plan: account.plan }).from(account).where(eq(account.id, input.accountId))
  if (!owner) throw new ProblemError('NOT_FOUND', { message: `There is no account ${input.accountId}.` })
  if (isAbove(input.plan, owner.plan)) {
    throw new ProblemError('FORBIDDEN', {
      message: `The plan of this account is ${owner.plan}; its keys cannot have ${input.plan}.`,
      details: { plan: owner.plan },
    })
  }
  const id = createId('key')
  const key = createApiKey(input.environment)
  await db.insert(apiKey).values({
    id,
    accountId: input.accountId,
    name: input.name,
    hash: hashKey(key),
    hint: apiKeyHint(key),
    scopes: [...new Set(input.scopes)],
    plan: input.plan,
    expiresAt: input.expiresAt,
    requestsPerMinute: input.requestsPerMinute,
  })
  return { id, key }
}
