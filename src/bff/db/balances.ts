import { and, eq } from 'drizzle-orm'
import type { Database } from '#postgres/open.ts'
import { balanceAlert } from './schema.ts'

export type BalanceAlertRow = typeof balanceAlert.$inferSelect

export async function listAlerts(db: Database): Promise<BalanceAlertRow[]> {
  return db.select().from(balanceAlert).orderBy(balanceAlert.name, balanceAlert.network)
}

export async function setAlert(db: Database, row: BalanceAlertRow): Promise<void> {
  const { name, threshold, setBy, setAt } = row
  await db
    .insert(balanceAlert)
    .values(row)
    .onConflictDoUpdate({
      target: [balanceAlert.wallet, balanceAlert.network],
      set: { name, threshold, setBy, setAt },
    })
}

export async function removeAlert(
  db: Database,
  { wallet, network }: Pick<BalanceAlertRow, 'wallet' | 'network'>,
): Promise<void> {
  await db
    .delete(balanceAlert)
    .where(and(eq(balanceAlert.wallet, wallet), eq(balanceAlert.network, network)))
}
