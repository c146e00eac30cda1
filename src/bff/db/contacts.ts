import { and, eq, inArray, lt, not, sql } from 'drizzle-orm'
import type { Database } from '#postgres/open.ts'
import { mayChange, recordChecked, type LinkPaymentRow } from './links.ts'
import { linkPayment, paymentContact } from './schema.ts'

/** An expired payment may still turn out to be paid for this long. */
const UNPAID_RETENTION_MS = 24 * 3_600_000
const MOST_AT_ONCE = 10_000

/** Email addresses from before this time are erased where nothing was paid. */
export function unpaidBefore(now: Date): Date {
  return new Date(now.getTime() - UNPAID_RETENTION_MS)
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

/**
 * Erases the addresses of payments that never came, by what was last known of them. Those of final
 * payments are not looked at again. So many of each at once that a large database answers in time.
 */
export async function deleteUnpaidContacts(db: Database, now: Date): Promise<void> {
  const old = (statuses: readonly string[]) =>
    db
      .select({ id: paymentContact.paymentId })
      .from(paymentContact)
      .innerJoin(linkPayment, eq(linkPayment.paymentId, paymentContact.paymentId))
      .where(
        and(
          lt(paymentContact.createdAt, unpaidBefore(now)),
          not(paymentContact.kept),
          inArray(linkPayment.status, [...statuses]),
        ),
      )
      .limit(MOST_AT_ONCE)
  await db
    .delete(paymentContact)
    .where(inArray(paymentContact.paymentId, old(['expired', 'failed'])))
  await db
    .update(paymentContact)
    .set({ kept: true })
    .where(inArray(paymentContact.paymentId, old(['finalized'])))
}

/** Payments of links whose status may still change, for the service to be asked, where the payer left an email address before `before`. */
export async function takeUnsettledContacts(
  db: Database,
  before: Date,
  limits: { now: Date; most: number },
): Promise<LinkPaymentRow[]> {
  const old = db
    .select({ id: paymentContact.paymentId })
    .from(paymentContact)
    .where(and(lt(paymentContact.createdAt, before), not(paymentContact.kept)))
  // Those that were asked for longest ago come first: however many there are, each has its turn.
  const rows = await db
    .select({ id: linkPayment.id })
    .from(linkPayment)
    .where(and(inArray(linkPayment.paymentId, old), mayChange(limits.now)))
    .orderBy(sql`${linkPayment.checkedAt} asc nulls first`, linkPayment.createdAt)
    .limit(limits.most)
  return recordChecked(
    db,
    rows.map(({ id }) => id),
    limits.now,
  )
}
