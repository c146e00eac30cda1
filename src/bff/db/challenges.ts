import { and, eq, lt } from 'drizzle-orm'
import type { Database } from '#postgres/open.ts'
import { challenge } from './schema.ts'

export type ChallengeRow = typeof challenge.$inferSelect

export async function insertChallenge(db: Database, row: ChallengeRow): Promise<void> {
  await db.insert(challenge).values(row)
}

/** Takes the challenge out of the table: of two who come at once, one gets it. A stranger's attempt leaves it where it is. */
export async function takeChallenge(
  db: Database,
  key: { id: string; origin: string; browserHash: string },
): Promise<ChallengeRow | undefined> {
  const rows = await db
    .delete(challenge)
    .where(
      and(
        eq(challenge.id, key.id),
        eq(challenge.origin, key.origin),
        eq(challenge.browserHash, key.browserHash),
      ),
    )
    .returning()
  return rows[0]
}

export async function deleteExpiredChallenges(db: Database, now: Date): Promise<void> {
  await db.delete(challenge).where(lt(challenge.expiresAt, now))
}
