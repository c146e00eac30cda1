import { and, asc, eq, gt, isNull, or } from 'drizzle-orm'
import type { Database } from '#postgres/open.ts'
import { account, apiKey } from '../db/schema/access.ts'

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
