import { and, count, desc, eq, inArray, isNull, not, sql, type SQL } from 'drizzle-orm'
import type { PaymentStatus } from '#contract/payment.ts'
import type { Database } from '#postgres/open.ts'
import { PENDING_REFUND, REFUNDED } from './refunds.ts'
import { payment, refundRequest } from './schema/payment.ts'
import { ownsWallets } from './wallet-owners.ts'

export type RefundRequestRecord = typeof refundRequest.$inferSelect
export type NewRefundRequest = typeof refundRequest.$inferInsert

/** A request, and whether refunds cover it: those that are confirmed, and with those that may still be. */
export type RefundRequestState = {
  request: RefundRequestRecord
  refunded: boolean
  covered: boolean
  /** The payer made another one after it. */
  superseded: boolean
}

/**
 * Whether refunds of these statuses return what was asked for, or all of the payment. Columns are
 * spelled out: the query builder drops the table's name where it selects from one table.
 */
function coveredBy(statuses: readonly PaymentStatus[]): SQL<boolean> {
  return sql<boolean>`(
    select coalesce(sum(refund.amount) filter (where not refund.id = any(refund_request.earlier_refunds)), 0) >= refund_request.amount
      or coalesce(sum(refund.amount), 0) >= (select paid.amount from ${payment} as paid where paid.id = refund_request.payment_id)
    from ${payment} as refund
    where refund.refund_of = refund_request.payment_id and ${inArray(sql`refund.status`, [...statuses])}
  )`
}

const isRefunded = coveredBy(REFUNDED)
const state = {
  request: refundRequest,
  refunded: isRefunded,
  covered: coveredBy([...REFUNDED, ...PENDING_REFUND]),
  superseded: sql<boolean>`exists (
    select from ${refundRequest} as later
    where later.payment_id = refund_request.payment_id and later.number > refund_request.number
  )`,
}

/** The requests of a payment, newest first; with the payment locked nothing changes about them. */
export function readRefundRequests(db: Database, paymentId: string): Promise<RefundRequestState[]> {
  return db
    .select(state)
    .from(refundRequest)
    .where(eq(refundRequest.paymentId, paymentId))
    .orderBy(desc(refundRequest.number))
}

/** The newest request of each of these payments, with its payment. */
export async function readNewestOf(db: Database, paymentIds: readonly string[]) {
  if (paymentIds.length === 0) return []
  return await db
    .selectDistinctOn([refundRequest.paymentId], { ...state, payment })
    .from(refundRequest)
    .innerJoin(payment, eq(payment.id, refundRequest.paymentId))
    .where(inArray(refundRequest.paymentId, [...paymentIds]))
    .orderBy(refundRequest.paymentId, desc(refundRequest.number))
}

export async function findRefundRequest(
  db: Database,
  id: string,
): Promise<RefundRequestRecord | undefined> {
  const [row] = await db.select().from(refundRequest).where(eq(refundRequest.id, id))
  return row
}

/** Whether the payer of a payment may ask an account for it: one that owns wallets is asked only for what these received. */
const isAskable = (accountId: string) =>
  sql<boolean>`(${payment.direction} = 'received' or not ${ownsWallets(accountId)})`

/** The same of one payment. */
export async function isAskableOf(
  db: Database,
  accountId: string,
  paymentId: string,
): Promise<boolean> {
  const [row] = await db
    .select({ askable: isAskable(accountId) })
    .from(payment)
    .where(eq(payment.id, paymentId))
  return row?.askable === true
}

/** Requests of an account that wait for a decision, newest first, with their payments. */
export async function readOpenRefundRequests(
  db: Database,
  accountId: string,
  { limit, offset }: { limit: number; offset: number },
) {
  const open = and(
    eq(refundRequest.accountId, accountId),
    isNull(refundRequest.declinedAt),
    isNull(refundRequest.settledAt),
    inArray(payment.status, [...REFUNDED]),
    not(isRefunded),
    isAskable(accountId),
  )
  const joined = eq(payment.id, refundRequest.paymentId)
  const [rows, [counted]] = await Promise.all([
    db
      .select({ ...state, payment })
      .from(refundRequest)
      .innerJoin(payment, joined)
      .where(open)
      .orderBy(desc(refundRequest.createdAt), desc(refundRequest.id))
      .limit(limit)
      .offset(offset),
    db.select({ total: count() }).from(refundRequest).innerJoin(payment, joined).where(open),
  ])
  return { rows, total: counted?.total ?? 0 }
}

export async function insertRefundRequest(tx: Database, row: NewRefundRequest): Promise<void> {
  await tx.insert(refundRequest).values(row)
}

/** The ids of every refund of a payment, whatever became of it. */
export async function readRefundIds(tx: Database, paymentId: string): Promise<string[]> {
  const rows = await tx
    .select({ id: payment.id })
    .from(payment)
    .where(eq(payment.refundOf, paymentId))
  return rows.map(({ id }) => id)
}

/** Declines a request, or with null opens it again. */
export async function writeDecision(
  tx: Database,
  id: string,
  declined: { at: Date; by: string | null; note: string | null } | null,
): Promise<void> {
  await tx
    .update(refundRequest)
    .set({
      declinedAt: declined?.at ?? null,
      declinedBy: declined?.by ?? null,
      declineNote: declined?.note ?? null,
    })
    .where(eq(refundRequest.id, id))
}

/** In the commit that makes a refund final: requests that final refunds cover need not be looked at again. */
export async function settleRefundRequests(
  tx: Database,
  paymentId: string,
  now: Date,
): Promise<void> {
  await tx
    .update(refundRequest)
    .set({ settledAt: now })
    .where(
      and(
        eq(refundRequest.paymentId, paymentId),
        isNull(refundRequest.settledAt),
        coveredBy(['finalized']),
      ),
    )
}
