import { and, eq, inArray, lt, sql } from 'drizzle-orm'
import type { Database } from '#postgres/open.ts'
import { deleteInBatches } from './delete-in-batches.ts'
import { payment } from './schema/payment.ts'
import { claim, paymentIdentifier } from './schema/proof.ts'

export type IdentifiedPayment = typeof paymentIdentifier.$inferSelect

/** How long an id is remembered after it was first presented, in days. */
const RETENTION_DAYS = 30

/** The payment that an id stands for: this one, where it is the first. */
export async function bindIdentifier(
  db: Database,
  row: typeof paymentIdentifier.$inferInsert,
): Promise<IdentifiedPayment> {
  await db.insert(paymentIdentifier).values(row).onConflictDoNothing()
  const [bound] = await db.select().from(paymentIdentifier).where(named(row))
  // Housekeeping has removed an old one at this moment.
  return bound ?? bindIdentifier(db, row)
}

/** Gives an id to another payment, once its first can no longer land. False when another call was faster. */
export async function rebindIdentifier(
  db: Database,
  first: IdentifiedPayment,
  row: typeof paymentIdentifier.$inferInsert,
): Promise<boolean> {
  const rows = await db
    .update(paymentIdentifier)
    .set(row)
    .where(and(named(first), eq(paymentIdentifier.key, first.key)))
    .returning({ key: paymentIdentifier.key })
  return rows.length === 1
}

/** What became of the payments of a transfer, in any account. */
export async function readSettlements(
  db: Database,
  { network, key }: Pick<IdentifiedPayment, 'network' | 'key'>,
) {
  const used = db
    .select({ id: claim.paymentId })
    .from(claim)
    .where(and(eq(claim.network, network), eq(claim.key, key)))
  return db.select({ status: payment.status }).from(payment).where(inArray(payment.id, used))
}

export async function removeOldIdentifiers(db: Database): Promise<void> {
  await deleteInBatches(db, paymentIdentifier, {
    where: lt(paymentIdentifier.createdAt, sql`now() - make_interval(days => ${RETENTION_DAYS})`),
    order: paymentIdentifier.createdAt,
  })
}

function named({
  payee,
  payer,
  identifier,
}: Pick<IdentifiedPayment, 'payee' | 'payer' | 'identifier'>) {
  return and(
    eq(paymentIdentifier.payee, payee),
    eq(paymentIdentifier.payer, payer),
    eq(paymentIdentifier.identifier, identifier),
  )
}
