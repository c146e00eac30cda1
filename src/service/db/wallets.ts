import { and, asc, eq } from 'drizzle-orm'
import type { Database } from '#postgres/open.ts'
import { wallet } from './schema/wallet.ts'

export type WalletRecord = typeof wallet.$inferSelect

/** False when the address is managed already. */
export async function insertWallet(
  db: Database,
  row: typeof wallet.$inferInsert,
): Promise<boolean> {
  const inserted = await db
    .insert(wallet)
    .values(row)
    .onConflictDoNothing({ target: wallet.address })
    .returning({ id: wallet.id })
  return inserted.length > 0
}

export async function findWallet(
  db: Database,
  query: { accountId: string; address: string },
): Promise<WalletRecord | undefined> {
  const [row] = await db
    .select()
    .from(wallet)
    .where(and(eq(wallet.accountId, query.accountId), eq(wallet.address, query.address)))
  return row
}

/** Of whichever account: an address is managed once. */
export async function findWalletByAddress(
  db: Database,
  address: string,
): Promise<WalletRecord | undefined> {
  const [row] = await db.select().from(wallet).where(eq(wallet.address, address))
  return row
}

/** Of one account or of all, the oldest first. */
export async function readWallets(
  db: Database,
  accountId: string | undefined,
): Promise<WalletRecord[]> {
  return db
    .select()
    .from(wallet)
    .where(accountId === undefined ? undefined : eq(wallet.accountId, accountId))
    .orderBy(asc(wallet.createdAt), asc(wallet.id))
}
