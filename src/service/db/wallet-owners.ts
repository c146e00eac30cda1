import { and, eq, inArray, isNull, sql } from 'drizzle-orm'
import { familyOf, type NetworkId } from '#contract/network.ts'
import type { Database } from '#postgres/open.ts'
import { payment } from './schema/payment.ts'
import { walletOwner } from './schema/wallet.ts'

export type WalletOwnerRecord = typeof walletOwner.$inferSelect

/** The account that owns a wallet on a network now; undefined without one. */
export async function findOwner(db: Database, network: NetworkId, address: string): Promise<string | undefined> {
  const rows = await db
    .select({ accountId: walletOwner.accountId, scope: walletOwner.scope })
    .from(walletOwner)
    .where(and(eq(walletOwner.address, address), inArray(walletOwner.scope, [network, familyOf(network)]), isNull(walletOwner.releasedAt)))
  return (rows.find(({ scope }) => scope === network) ?? rows[0])?.accountId
}

/** Makes registrations of an account's wallets and its new payments follow each other, until the transaction ends. */
export async function lockDirections(tx: Database, accountId: string): Promise<void> {
  await tx.execute(sql`select pg_advisory_xact_lock(hashtextextended('payment_direction ' || ${accountId}, 0))`)
}

/** Decides the direction of an account's payments of a wallet again, which was registered after them. */
export async function updateDirections(tx: Database, accountId: string, address: string): Promise<void> {
  await tx
    .update(payment)
    .set({ direction: sql`service.payment_direction(account_id, network, sender, recipient)` })
    .where(and(eq(payment.accountId, accountId), sql`(${payment.sender} = ${address} or ${payment.recipient} = ${address})`))
}
