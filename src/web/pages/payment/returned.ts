import { familyOf } from '#contract/network.ts'
import type { PaymentRow, PaymentStatusBody } from '#contract/payment-body.ts'
import { isPaid, type PaymentStatus } from '#contract/payment.ts'
import { call } from '../../api/client.ts'

const UNDER_WAY: ReadonlySet<PaymentStatus> = new Set<PaymentStatus>(['pending', 'rolled_back'])
const MOST_ROWS = '500'

/**
 * The refunds of a payment that were sent, from whichever wallet of the account, newest first. Somebody
 * who sees only their own wallets reads those of the wallet that was paid. @throws ApiError
 */
export async function readReturned(
  payment: PaymentStatusBody,
  { all, signal }: { all: boolean; signal: AbortSignal },
): Promise<PaymentRow[]> {
  const { sender, recipient, timestamp } = payment
  const whose = all ? { q: `to:${sender}` } : { q: sender, wallets: recipient }
  const rows: PaymentRow[] = []
  let cursor: string | undefined
  do {
    const query = {
      ...whose,
      type: 'sent',
      since: String(timestamp),
      limit: MOST_ROWS,
      cursor,
    } as const
    const page = await call('paymentList', { query }, { signal })
    rows.push(...page.payments)
    cursor = page.nextCursor ?? undefined
  } while (cursor)
  return refundsAmong(payment, rows)
}

type Original = Pick<PaymentStatusBody, 'paymentId' | 'sender' | 'network' | 'asset'>

/** Those that return it to its payer, in its own asset: that left or may have left, and on EVM those that wait for a signature. */
export function refundsAmong(payment: Original, rows: readonly PaymentRow[]): PaymentRow[] {
  return rows.filter(
    (row) =>
      row.refundOf === payment.paymentId &&
      row.recipient === payment.sender &&
      row.network === payment.network &&
      row.asset === payment.asset &&
      (isPaid(row.status) || UNDER_WAY.has(row.status) || isUnsigned(row)),
  )
}

/** It holds its amount until it is sent, or released: on Solana it expires by itself. */
export function isUnsigned({ status, mode, network }: PaymentRow): boolean {
  return status === 'created' && mode === 'local' && familyOf(network) === 'evm'
}
