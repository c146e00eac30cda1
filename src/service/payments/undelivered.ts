import { and, count, desc, eq, inArray, sql } from 'drizzle-orm'
import type * as v from 'valibot'
import { formatAmount } from '#contract/amount.ts'
import type { EndpointInput, EndpointReply } from '#contract/endpoints.ts'
import { LosslessNumber } from '#contract/json.ts'
import { isPaid } from '#contract/payment.ts'
import { ProblemError } from '#contract/problem.ts'
import type { UndeliveredPayment } from '#contract/unmatched-endpoints.ts'
import type { Actor, Context } from '../context/context.ts'
import { closeUndelivered, isUndelivered, reopenUndelivered } from '../db/claims.ts'
import { findPayment } from '../db/payments.ts'
import { readRefunds, refundedAmount } from '../db/refunds.ts'
import { payment } from '../db/schema/payment.ts'
import { claim } from '../db/schema/proof.ts'
import { describeRefund } from './describe-money.ts'

/**
 * Payments of the account that are paid, and whose success no caller was told: the caller had gone, and no later settlement asked. What was refunded in
 * full is not among them.
 */
export async function readUndelivered(
  { db }: Pick<Context, 'db'>,
  { accountId }: Actor,
  page: EndpointInput<'undeliveredList'>['query'],
): Promise<EndpointReply<'undeliveredList'>> {
  const open = and(
    // Both, because the index of each leads to few rows.
    eq(claim.accountId, accountId),
    eq(payment.accountId, accountId),
    inArray(payment.status, ['confirmed', 'finalized']),
    isUndelivered,
    sql`${claim.leaseUntil} < clock_timestamp()`,
    sql`${refundedAmount(payment.id)} < ${payment.amount}`,
  )
  const joined = eq(claim.paymentId, payment.id)
  const [rows, [counted]] = await Promise.all([
    db
      .select({ payment })
      .from(claim)
      .innerJoin(payment, joined)
      .where(open)
      .orderBy(desc(payment.createdAt), desc(payment.id))
      .limit(page.limit)
      .offset(page.offset),
    db.select({ total: count() }).from(claim).innerJoin(payment, joined).where(open),
  ])
  const refunds = await readRefunds(
    db,
    rows.map(({ payment: { id } }) => id),
  )
  return {
    success: true,
    total: counted?.total ?? 0,
    payments: rows.map(({ payment: row }): v.InferInput<typeof UndeliveredPayment> => ({
      paymentId: row.id,
      status: row.status,
      network: row.network,
      asset: row.asset,
      symbol: row.symbol,
      decimals: row.decimals,
      amount: new LosslessNumber(formatAmount(row.amount, row.decimals)),
      amountAtomic: row.amount.toString(),
      sender: row.sender,
      recipient: row.recipient,
      resource: row.resource,
      timestamp: row.createdAt.getTime(),
      refund: describeRefund(row.amount, refunds.get(row.id)),
    })),
  }
}

/**
 * Records that what was paid is delivered, so that no settlement of the proof is told success any more; or that it is not, no matter who was told.
 * @throws `NOT_FOUND` for a payment that is unknown, another account's, or not in that state
 */
export async function decideUndelivered(
  context: Context,
  { actor, paymentId, delivered }: { actor: Actor; paymentId: string; delivered: boolean },
  { by, note }: EndpointInput<'undeliveredClose'>['body'],
): Promise<{ success: true; paymentId: string; delivered: boolean }> {
  const row = await findPayment(context.db, paymentId)
  const decide = delivered ? closeUndelivered : reopenUndelivered
  const isOpen =
    row?.accountId === actor.accountId &&
    isPaid(row.status) &&
    (await decide(context.db, paymentId))
  if (!isOpen) {
    const kind = delivered
      ? 'paid payment that nobody was told of'
      : 'paid payment that a caller was told of or a person has closed'
    throw new ProblemError('NOT_FOUND', {
      message: `There is no ${kind} with the id ${paymentId}.`,
    })
  }
  context.log.info(
    { paymentId, delivered, keyId: actor.keyId, by, note },
    'a person decided about an undelivered payment',
  )
  return { success: true, paymentId, delivered }
}
