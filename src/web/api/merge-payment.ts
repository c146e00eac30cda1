import type { InfiniteData } from '@tanstack/react-query'
import type { PaymentRow, PaymentStatusBody } from '#contract/payment-body.ts'
import type { PaymentFilter, PaymentPage, Viewer } from './queries.ts'

/** What a live event means for what is already on screen. Pure, so that order and repetition can be tested. */

/** The reading that knows more. Events can overtake a slower read, and a read can overtake an event. */
export function newerPayment(known: PaymentStatusBody | undefined, incoming: PaymentStatusBody): PaymentStatusBody {
  if (!known || incoming.events.length > known.events.length) return incoming
  if (incoming.events.length < known.events.length) return known
  return incoming.confirmations >= known.confirmations ? incoming : known
}

type Pages = InfiniteData<PaymentPage, string | undefined>

/** Puts a payment's new status into its row. Rows never move and never appear: a reader may be pointing at one. */
export function updateRow(data: Pages | undefined, payment: PaymentStatusBody): Pages | undefined {
  const has = data?.pages.some((page) => page.payments.some((row) => row.paymentId === payment.paymentId))
  if (!data || !has) return data
  return {
    ...data,
    pages: data.pages.map((page) => ({
      ...page,
      payments: page.payments.map((row) => (row.paymentId === payment.paymentId ? { ...row, status: payment.status, signature: payment.signature } : row)),
    })),
  }
}

/** Whether a payment would stand in a list. A text search only the service can answer: such a list gets no arrivals. */
export function matchesFilter(payment: PaymentStatusBody, viewer: Viewer, filter: PaymentFilter): boolean {
  if (filter.q) return false
  if (filter.status && filter.status !== payment.status) return false
  if (filter.network && filter.network !== payment.network) return false
  if (viewer.wallets === 'all') return !filter.type || filter.type === (payment.mode === 'hosted' ? 'sent' : 'received')
  if (filter.type === 'sent') return viewer.wallets.includes(payment.sender)
  if (filter.type === 'received') return viewer.wallets.includes(payment.recipient)
  return viewer.wallets.includes(payment.sender) || viewer.wallets.includes(payment.recipient)
}

/** Arrivals a list does not show yet: newer than its first row, so that an old payment's new status is no new payment. */
export function newArrivals(
  arrivals: readonly PaymentStatusBody[],
  rows: readonly PaymentRow[],
  { viewer, filter }: { viewer: Viewer; filter: PaymentFilter },
): PaymentStatusBody[] {
  const newest = rows[0]?.timestamp ?? 0
  const shown = new Set(rows.map((row) => row.paymentId))
  return arrivals.filter((payment) => payment.timestamp >= newest && !shown.has(payment.paymentId) && matchesFilter(payment, viewer, filter))
}
