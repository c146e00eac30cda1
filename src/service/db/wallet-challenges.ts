import { and, eq, lte } from 'drizzle-orm'
import type { Database } from '#postgres/open.ts'
import { walletChallenge } from './schema/wallet.ts'

export type WalletChallengeRecord = typeof walletChallenge.$inferSelect

export async function insertWalletChallenge(
  db: Database,
  row: WalletChallengeRecord,
): Promise<void> {
  await db.insert(walletChallenge).values(row)
}

/** Takes a challenge out of the table: of two requests at once, one gets it. A request of another account leaves it where it is. */
export async function takeWalletChallenge(
  db: Database,
  { id, accountId }: { id: string; accountId: string },
): Promise<WalletChallengeRecord | undefined> {
  const rows = await db
    .delete(walletChallenge)
    .where(and(eq(walletChallenge.id, id), eq(walletChallenge.accountId, accountId)))
    .returning()
  return rows[0]
}

export async function deleteExpiredWalletChallenges(db: Database, now: Date): Promise<void> {
  await db.delete(walletChallenge).where(lte(walletChallenge.expiresAt, now))
}
