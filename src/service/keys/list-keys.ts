import { asc, eq } from 'drizzle-orm'
import type { Database } from '#postgres/open.ts'
import { account, apiKey } from '../db/schema/access.ts'

/** The keys of an account, or of all, oldest first; of the key itself only the hint. */
export async function listKeys(db: Database, accountId?: string) {
  return await db
    .select({
      id: apiKey.id,
      accountId: apiKey.accountId,
      accountName: account.name,
      name: apiKey.name,
      hint: apiKey.hint,
      scopes: apiKey.scopes,
      plan: apiKey.plan,
      createdAt: apiKey.createdAt,
      lastUsedAt: apiKey.lastUsedAt,
      expiresAt: apiKey.expiresAt,
      revokedAt: apiKey.revokedAt,
      replacedBy: apiKey.replacedBy,
      requestsPerMinute: apiKey.requestsPerMinute,
    })
    .from(apiKey)
    .innerJoin(account, eq(account.id, apiKey.accountId))
    .where(accountId === undefined ? undefined : eq(apiKey.accountId, accountId))
    .orderBy(asc(apiKey.createdAt), asc(apiKey.id))
}

export type KeyRow = Awaited<ReturnType<typeof listKeys>>[number]
