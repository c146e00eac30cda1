import type { PaymentRow, PaymentStatusBody } from '#contract/payment-body.ts'
import type { Direction } from '#contract/payment.ts'
import {
  isIncomplete,
  rangeOf,
  statusesOf,
  type PaymentFilter,
  type Zone,
} from './payment-filter.ts'
import type { PaymentPage, Viewer } from './queries.ts'

/** What a live event means for what is already on screen. Pure, so that order and repetition can be tested. */

/** The reading that knows more. Events can overtake a slower read, and a read can overtake an event. */
export function newerPayment(
  known: PaymentStatusBody | undefined,
  incoming: PaymentStatusBody,
): PaymentStatusBody {
  if (!known || incoming.events.length > known.events.length) return incoming
  if (incoming.events.length < known.events.length) return known
  return incoming.confirmations >= known.confirmations ? incoming : known
}

/** Puts a payment's new status into its row. Rows never move and never appear: a reader may be pointing at one. */
export function updateRow(
  page: PaymentPage | undefined,
  payment: PaymentStatusBody,
): PaymentPage | undefined {
  if (!page?.payments.some((row) => row.paymentId === payment.paymentId)) return page
  return {
    ...page,
    payments: page.payments.map((row) =>
      row.paymentId === payment.paymentId
        ? {
            ...row,
            status: payment.status,
            signature: payment.signature,
            refund: payment.refund,
            confirmedAt: confirmedAt(payment),
            blockTime: payment.blockTime,
          }
        : row,
    ),
  }
}

/** When the service noted the confirmation that counts: none of before a reorganization. */
function confirmedAt({ events }: Pick<PaymentStatusBody, 'events'>): number | null {
  const dropped = events.findLastIndex(({ status }) => status === 'rolled_back')
  const since = events.slice(dropped + 1)
  return since.find(({ status }) => status === 'confirmed' || status === 'finalized')?.at ?? null
}

export type PaymentListView = { viewer: Viewer; filter: PaymentFilter; zone: Zone; now: number }

/** Whether a payment would be in a list. A text or an amount only the service can judge: such a list gets no arrivals. */
export function matchesFilter(
  payment: PaymentStatusBody,
  { viewer, filter, zone, now }: PaymentListView,
): boolean {
  // A draft is no payment: only its own filter lists it, and that list moves when it is read again.
  if (payment.draft || isIncomplete(filter)) return false
  if (filter.q || filter.min || filter.max) return false
  // Nothing is written beside what has just come.
  if (filter.label || filter.reconciled === 'yes') return false
  const statuses = statusesOf(filter)
  // What has just come was never refunded.
  if (statuses.length > 0 && !statuses.includes(payment.status)) return false
  if (filter.network && filter.network !== payment.network) return false
  if (
    filter.asset &&
    filter.asset.toLowerCase() !== payment.symbol.toLowerCase() &&
    filter.asset !== payment.asset
  )
    return false
  const { since, until } = rangeOf(filter, zone, now)
  if (
    (since !== undefined && payment.timestamp < since) ||
    (until !== undefined && payment.timestamp >= until)
  )
    return false
  const direction = directionFor(payment, viewer)
  if (filter.type) return filter.type === direction
  return viewer.wallets === 'all' || direction !== 'external'
}

/** As the service's list says it: for the account where all of it is read, otherwise by the wallets that are looked from. */
export function directionFor(
  payment: Pick<PaymentStatusBody, 'direction' | 'sender' | 'recipient'>,
  { wallets }: Viewer,
): Direction {
  if (wallets === 'all') return payment.direction
  const [sent, received] = [wallets.includes(payment.sender), wallets.includes(payment.recipient)]
  if (sent) return received ? 'internal' : 'sent'
  return received ? 'received' : 'external'
}

/** Arrivals a list does not show yet: newer than its first row, so that an old payment's new status is no new payment. */
export function newArrivals(
  arrivals: readonly PaymentStatusBody[],
  rows: readonly PaymentRow[],
  view: PaymentListView,
): PaymentStatusBody[] {
  const newest = rows[0]?.timestamp ?? 0
  const shown = new Set(rows.map((row) => row.paymentId))
  return arrivals.filter(
    (payment) =>
      payment.timestamp >= newest && !shown.has(payment.paymentId) && matchesFilter(payment, view),
  )
}
