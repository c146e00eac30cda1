import { and, eq, isNull } from 'drizzle-orm'
import { ProblemError } from '#contract/problem.ts'
import type { Database } from '#postgres/open.ts'
import { apiKey } from '../db/schema/access.ts'

/**
 * Ends a key: its next request is refused, its open connections close within seconds. Revoking twice is no error.
 * @throws `NOT_FOUND`
 */
export async function revokeKey(db: Database, id: string, now: Date): Promise<void> {
  await db
    .update(apiKey)
    .set({ revokedAt: now })
    .where(and(eq(apiKey.id, id), isNull(apiKey.revokedAt)))
  const [row] = await db.select({ id: apiKey.id }).from(apiKey).where(eq(apiKey.id, id))
  if (!row) throw new ProblemError('NOT_FOUND', { message: `There is no key ${id}.` })
}
