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

/** Per network and asset: amounts of different assets are never added up. */
export const AssetSummary = v.object({
  network: publicText,
  asset: publicText,
  symbol: publicText,
  decimals: v.number(),
  receivedAtomic: atomic,
  receivedCount: v.number(),
  sentAtomic: atomic,
  sentCount: v.number(),
  /** Sent and received payments that came to an end, one way or the other: paid, failed, expired, rolled back. */
  endedCount: v.number(),
  paidCount: v.number(),
  /**
   * Median milliseconds from the broadcast, as far as it was told before the payment landed, to
   * `confirmed`; null without a payment that has both.
   */
  medianConfirmMs: v.nullable(v.number()),
  /** One entry a day, oldest first; days are UTC. Only confirmed and finalized payments count. */
  days: v.array(v.object({ day: v.string(), receivedAtomic: atomic, sentAtomic: atomic })),
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
  paymentHistory: {
    method: 'GET',
    path: '/payment/history/:walletAddress',
    response: v.object({ walletAddress: publicText, ...page }),
  },
  /** Addition: the account's payments over several wallets, or all of them. */
  paymentList: { method: 'GET', path: '/payments', response: v.object(page) },
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
      topPayers: v.array(v.object({ address: v.string(), count: v.number() })),
      topResources: v.array(v.object({ resource: v.string(), count: v.number() })),
    }),
  },
} as const satisfies Record<string, Call>
