import { and, inArray, lt } from 'drizzle-orm'
import type { Database } from '#postgres/open.ts'
import { linkPayment, paymentContact } from './schema.ts'

/** An expired payment may still turn out to be paid for this long. */
const UNPAID_KEPT_MS = 24 * 3_600_000

/** Email addresses from before this time are erased where nothing was paid. */
export function unpaidBefore(now: Date): Date {
  return new Date(now.getTime() - UNPAID_KEPT_MS)
}

/** Keeps what the payer gave; a repeated request keeps the first. */
export async function insertContact(
  db: Database,
  row: typeof paymentContact.$inferInsert,
): Promise<void> {
  await db.insert(paymentContact).values(row).onConflictDoNothing()
}

/** The e-mail addresses by payment. */
export async function findEmails(
  db: Database,
  paymentIds: readonly string[],
): Promise<Map<string, { email: string; createdAt: Date }>> {
  const rows = await db
    .select()
    .from(paymentContact)
    .where(inArray(paymentContact.paymentId, [...paymentIds]))
  return new Map(rows.map(({ paymentId, email, createdAt }) => [paymentId, { email, createdAt }]))
}

/** Erases the addresses of payments that never came, by what was last known of them. */
export async function deleteUnpaidContacts(db: Database, now: Date): Promise<void> {
  const ended = db
    .select({ id: linkPayment.paymentId })
    .from(linkPayment)
    .where(inArray(linkPayment.status, ['expired', 'failed']))
  await db
    .delete(paymentContact)
    .where(
      and(
        lt(paymentContact.createdAt, unpaidBefore(now)),
        inArray(paymentContact.paymentId, ended),
      ),
    )
}
