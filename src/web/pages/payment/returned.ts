import type { PaymentRow, PaymentStatusBody } from '#contract/payment-body.ts'
import { isPaid, type PaymentStatus } from '#contract/payment.ts'
import { call } from '../../api/client.ts'

/** What was refunded of a payment, and what can still be refunded. Atomic units. */
export type ReturnedAmount = {
  /** Newest first. */
  returns: readonly PaymentRow[]
  paidAtomic: bigint
  /** Sent, but not decided yet: counts as refunded until the network says otherwise. */
  underWayAtomic: bigint
  leftAtomic: bigint
}

const UNDER_WAY: ReadonlySet<PaymentStatus> = new Set<PaymentStatus>(['pending', 'rolled_back'])
const MOST_ROWS = '500'

/**
 * Reads every payment from the payee to the payer since, and keeps those marked as refunds of this
 * one. @throws ApiError
 */
export async function readReturned(
  payment: PaymentStatusBody,
  signal: AbortSignal,
): Promise<ReturnedAmount> {
  const rows: PaymentRow[] = []
  let cursor: string | undefined
  do {
    const query = {
      wallets: payment.recipient,
      type: 'sent',
      q: payment.sender,
      since: String(payment.timestamp),
      limit: MOST_ROWS,
      cursor,
    } as const
    const page = await call('paymentList', { query }, { signal })
    rows.push(...page.payments)
    cursor = page.nextCursor ?? undefined
  } while (cursor)
  return countReturned(payment, rows)
}

type Original = Pick<
  PaymentStatusBody,
  'paymentId' | 'sender' | 'recipient' | 'network' | 'asset' | 'amountAtomic'
>

/**
 * Counts only the same asset between the same two parties, no matter what a payment says about
 * itself.
 */
export function countReturned(payment: Original, rows: readonly PaymentRow[]): ReturnedAmount {
  const returns = rows.filter(
    (row) =>
      row.refundOf === payment.paymentId &&
      row.sender === payment.recipient &&
      row.recipient === payment.sender &&
      row.network === payment.network &&
      row.asset === payment.asset &&
      (isPaid(row.status) || UNDER_WAY.has(row.status)),
  )
  const sum = (some: readonly PaymentRow[]) =>
    some.reduce((total, { amountAtomic }) => total + BigInt(amountAtomic), 0n)
  const paidAtomic = sum(returns.filter(({ status }) => isPaid(status)))
  const underWayAtomic = sum(returns.filter(({ status }) => !isPaid(status)))
  const left = BigInt(payment.amountAtomic) - paidAtomic - underWayAtomic
  return { returns, paidAtomic, underWayAtomic, leftAtomic: left > 0n ? left : 0n }
}
