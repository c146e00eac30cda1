import { and, eq, inArray, sql } from 'drizzle-orm'
import type { Database } from '#postgres/open.ts'
import { findClaim, GRANTED, type Claimant } from './claims.ts'
import { claim, settlementOrder } from './schema/proof.ts'

export type SettlementOrder = typeof settlementOrder.$inferSelect

/** One proof, asked about in one way, by one account. */
export type SettlementQuestion = Pick<
  SettlementOrder,
  'accountId' | 'network' | 'key' | 'fingerprint'
>

/** False when the same question was asked at the same moment: then the other order is kept. */
export async function insertOrder(
  tx: Database,
  row: typeof settlementOrder.$inferInsert,
): Promise<boolean> {
  const rows = await tx
    .insert(settlementOrder)
    .values(row)
    .onConflictDoNothing()
    .returning({ paymentId: settlementOrder.paymentId })
  return rows.length === 1
}

export async function findOrder(
  db: Database,
  { accountId, network, key, fingerprint }: SettlementQuestion,
): Promise<SettlementOrder | undefined> {
  const [row] = await db
    .select()
    .from(settlementOrder)
    .where(
      and(
        eq(settlementOrder.accountId, accountId),
        eq(settlementOrder.network, network),
        eq(settlementOrder.key, key),
        eq(settlementOrder.fingerprint, fingerprint),
      ),
    )
  return row
}

/** Nothing of it was seen in time: the next request gets another payment. */
export async function deleteOrder(tx: Database, paymentId: string): Promise<void> {
  await tx.delete(settlementOrder).where(eq(settlementOrder.paymentId, paymentId))
}

/** The orders among these payments. */
export async function readOrders(
  db: Database,
  paymentIds: readonly string[],
): Promise<ReadonlyMap<string, SettlementOrder>> {
  if (paymentIds.length === 0) return new Map()
  const rows = await db
    .select()
    .from(settlementOrder)
    .where(inArray(settlementOrder.paymentId, [...paymentIds]))
  return new Map(rows.map((row) => [row.paymentId, row]))
}

/**
 * Uses up a proof for the payment whose settlement has landed, even if another attempt holds it:
 * that attempt finds it used. False when it was used up for another payment before. The caller that
 * had the settlement built learns of it from the payment's status, so nobody is granted anything
 * for this proof any more.
 */
export async function consumeLanded(
  tx: Database,
  { network, key, fingerprint, paymentId, checks }: SettlementOrder,
  claimant: Claimant,
): Promise<boolean> {
  const { scope, accountId, exclusive } = claimant
  const used = {
    exclusive,
    accountId,
    fingerprint,
    attempt: GRANTED,
    paymentId,
    checks,
    consumedAt: sql`now()`,
    leaseUntil: sql`now()`,
  }
  const bound = await findClaim(tx, { network, key, scope })
  if (bound && bound.scope !== scope) return false
  await tx
    .insert(claim)
    .values({ scope, network, key, ...used })
    .onConflictDoUpdate({
      target: [claim.scope, claim.network, claim.key],
      set: used,
      setWhere: sql`${claim.consumedAt} is null`,
    })
  const [row] = await tx
    .select({ paymentId: claim.paymentId })
    .from(claim)
    .where(and(eq(claim.scope, scope), eq(claim.network, network), eq(claim.key, key)))
  return row?.paymentId === paymentId
}
