import { inArray, sql, type AnyColumn, type SQL } from 'drizzle-orm'
import { alias } from 'drizzle-orm/pg-core'
import type { ListedStatus, PaymentStatus } from '#contract/payment.ts'
import type { Database } from '#postgres/open.ts'
import { payment } from './schema/payment.ts'

/** What went back of a payment, of that what is final, and what may still go: built or sent, and not decided. Atomic units. */
export type RefundSums = { refunded: bigint; final: bigint; pending: bigint }

export const REFUNDED = ['confirmed', 'finalized'] as const satisfies PaymentStatus[]
/** An order that is built counts until it has expired, on EVM until a person releases it. What a reorganisation undid may land again. */
export const PENDING_REFUND = [
  'created',
  'pending',
  'rolled_back',
] as const satisfies PaymentStatus[]

const sumOf = (statuses: readonly PaymentStatus[]) =>
  sql<string>`coalesce(sum(${payment.amount}) filter (where ${inArray(payment.status, [...statuses])}), 0)::text`

/** What went back of each of these payments; nothing for those that are not in the answer. One query. */
export async function readRefunds(
  db: Database,
  paymentIds: readonly string[],
): Promise<Map<string, RefundSums>> {
  if (paymentIds.length === 0) return new Map()
  const rows = await db
    .select({
      refundOf: payment.refundOf,
      refunded: sumOf(REFUNDED),
      final: sumOf(['finalized']),
      pending: sumOf(PENDING_REFUND),
    })
    .from(payment)
    .where(inArray(payment.refundOf, [...paymentIds]))
    .groupBy(payment.refundOf)
  const sums = new Map<string, RefundSums>()
  for (const { refundOf, refunded, final, pending } of rows)
    if (refundOf !== null)
      sums.set(refundOf, {
        refunded: BigInt(refunded),
        final: BigInt(final),
        pending: BigInt(pending),
      })
  return sums
}

/** Whether all of a payment went back, or may still go back. */
export async function isReturned(
  db: Database,
  { id, amount }: { id: string; amount: bigint },
): Promise<boolean> {
  const sums = (await readRefunds(db, [id])).get(id)
  return sums !== undefined && sums.refunded + sums.pending >= amount
}

const refund = alias(payment, 'refund')

/** What has gone back of a payment, as an expression of a query. Atomic units. */
export function refundedAmount(paymentId: AnyColumn): SQL {
  return sumOfRefunds(paymentId, REFUNDED)
}

/** By what of a payment went back. */
export const REFUND_STATES = ['refunded', 'partly_refunded'] as const satisfies ListedStatus[]

/**
 * Whether all of a payment of this account went back, or a part: as rows say it. Read from the
 * refunds of the account, whose index its conditions repeat word for word.
 */
export function isRefunded(
  accountId: string,
  states: readonly (typeof REFUND_STATES)[number][],
): SQL {
  const refunds = sql`select ${refund.refundOf} from ${payment} as ${sql.identifier('refund')} where ${refund.accountId} = ${accountId} and ${refund.refundOf} is not null and ${refund.status} in ('confirmed', 'finalized')`
  const found = sql`(${inArray(payment.status, [...REFUNDED])} and ${payment.id} in (${refunds}))`
  const [one, other] = states
  if (other !== undefined) return found
  const returned = refundedAmount(payment.id)
  return one === 'refunded'
    ? sql`(${found} and ${returned} >= ${payment.amount})`
    : sql`(${found} and ${returned} < ${payment.amount})`
}

/** The same with what is built or sent and may still go back. */
export function returnedAmount(paymentId: AnyColumn): SQL {
  return sumOfRefunds(paymentId, [...REFUNDED, ...PENDING_REFUND])
}

function sumOfRefunds(paymentId: AnyColumn, statuses: readonly PaymentStatus[]): SQL {
  return sql`(select coalesce(sum(${refund.amount}), 0) from ${payment} as ${sql.identifier('refund')} where ${refund.refundOf} = ${paymentId} and ${inArray(refund.status, [...statuses])})`
}
