import * as v from 'valibot'
import type { Call } from './endpoint.ts'
import { atomic, publicText, timestamp } from './fields.ts'
import { PaymentRow, PaymentStatusBody } from './payment-body.ts'
import { PAYMENT_STATUSES } from './payment.ts'

const page = {
  success: v.literal(true),
  total: v.number(),
  limit: v.number(),
  offset: v.number(),
  nextCursor: v.nullable(publicText),
  payments: v.array(PaymentRow),
}

const flows = {
  /** From others; refunds of what was sent are not in it. */
  receivedAtomic: atomic,
  refundsReceivedAtomic: atomic,
  /** To others; refunds are not in it. */
  sentAtomic: atomic,
  refundedAtomic: atomic,
  /** Network fees that the wallets paid, also for payments that failed. Only of native assets. */
  feesAtomic: atomic,
}
const AssetFlows = v.object(flows)
/** What came and went of one asset in a period. Net is received and refunds received, less sent, refunded and fees. */
export type AssetFlows = v.InferOutput<typeof AssetFlows>

/** Per network and asset: amounts of different assets are never added up. */
export const AssetSummary = v.object({
  network: publicText,
  asset: publicText,
  symbol: publicText,
  decimals: v.number(),
  ...flows,
  receivedCount: v.number(),
  refundsReceivedCount: v.number(),
  sentCount: v.number(),
  refundedCount: v.number(),
  /** Sent and received payments that came to an end, one way or the other: paid, failed, expired, rolled back. */
  endedCount: v.number(),
  paidCount: v.number(),
  /**
   * Median milliseconds from the broadcast, as far as it was told before the payment landed, to
   * `confirmed`; null without a payment that has both.
   */
  medianConfirmMs: v.nullable(v.number()),
  /** The sums of as many days before these. */
  previous: AssetFlows,
  /** One entry a day, oldest first; days are UTC. Only confirmed and finalized payments count. */
  days: v.array(v.object({ day: v.string(), ...flows })),
})
export type AssetSummary = v.InferOutput<typeof AssetSummary>

/** Hosted sends, and reading payments (specification section 4). */
export const paymentEndpoints = {
  paymentSend: { method: 'POST', path: '/payment/send' },
  paymentStatus: {
    method: 'GET',
    path: '/payment/status/:paymentId',
    response: PaymentStatusBody,
  },
  /** Addition: of several payments in one request. */
  paymentStatuses: { method: 'GET', path: '/payments/statuses' },
  paymentHistory: {
    method: 'GET',
    path: '/payment/history/:walletAddress',
    response: v.object({ walletAddress: publicText, ...page }),
  },
  /** Addition: the account's payments over several wallets, or all of them. */
  paymentList: {
    method: 'GET',
    path: '/payments',
    response: v.object({
      ...page,
      /** When the database was last restored from a backup: payments of before may be missing. Null for never. */
      restoredAt: v.nullable(timestamp),
    }),
  },
  /** Addition: figures for an overview. */
  paymentSummary: {
    method: 'GET',
    path: '/payments/summary',
    response: v.object({
      success: v.literal(true),
      since: timestamp,
      until: timestamp,
      statuses: v.array(v.object({ status: v.picklist(PAYMENT_STATUSES), count: v.number() })),
      assets: v.array(AssetSummary),
      /** How many of the newest payments of the period the medians and rankings are made of: all, up to 5,000. */
      rankedPayments: v.number(),
      topPayers: v.array(v.object({ address: v.string(), count: v.number() })),
      topResources: v.array(v.object({ resource: v.string(), count: v.number() })),
    }),
  },
} as const satisfies Record<string, Call>

/** What the proxy keeps beside payments: what sellers write, and the e-mail address a payer gave. The service sees none of it. */

export const PaymentNote = v.object({
  paymentId: v.string(),
  labels: v.array(v.string()),
  /** Empty for none. */
  note: v.string(),
  /** When it was marked as booked by the merchant; null while it is not. Unix milliseconds. */
  reconciledAt: v.nullable(timestamp),
  /** What the payer of a link gave; null for none, and for a session that is not an operator's. */
  email: v.nullable(v.string()),
  updatedAt: timestamp,
})
export type PaymentNote = v.InferOutput<typeof PaymentNote>

const Notes = v.object({ notes: v.array(PaymentNote) })

export const noteEndpoints = {
  /** The notes there are on these payments; in a body, since so many ids are too long for an address. */
  noteRead: { method: 'POST', path: '/notes/read', response: Notes },
  /** Changes what is named, on all of the payments, and leaves the rest of each as it is. */
  noteWrite: { method: 'POST', path: '/notes', response: Notes },
  /** The labels in use, the most used first. */
  noteLabels: {
    method: 'GET',
    path: '/notes/labels',
    response: v.object({ labels: v.array(v.object({ label: v.string(), payments: v.number() })) }),
  },
} as const satisfies Record<string, Call>
