import * as v from 'valibot'
import type { Call } from './endpoint.ts'
import { atomic, decimal, publicText, timestamp } from './fields.ts'
import { RefundState } from './payment-body.ts'
import { PAYMENT_STATUSES } from './payment.ts'

/**
 * Money that arrived at an owned wallet, fits one or more orders, and is tied to none of them by evidence; on Solana, what names an order that has ended
 * without it.
 */
export const UnmatchedTransfer = v.object({
  transferId: publicText,
  /** CAIP-2. */
  network: publicText,
  signature: publicText,
  sender: publicText,
  recipient: publicText,
  asset: publicText,
  symbol: publicText,
  decimals: v.number(),
  amount: decimal,
  amountAtomic: atomic,
  blockHeight: v.number(),
  /** Of its block; of its first sighting where the node does not tell. */
  timestamp,
  /** Unpaid orders whose terms it fits, at most 50. Their metadata may be a stranger's text. */
  candidates: v.array(
    v.object({
      paymentId: publicText,
      status: v.picklist(PAYMENT_STATUSES),
      timestamp,
      metadata: v.nullable(v.record(v.string(), v.unknown())),
    }),
  ),
  /** The order that a person assigned it to. */
  assigned: v.nullable(
    v.object({
      paymentId: publicText,
      by: v.nullable(v.string()),
      at: timestamp,
      note: v.nullable(v.string()),
    }),
  ),
  /** The payment of the account that returns at least as much to its sender, with the transaction as its `metadata.referenceId`: from when it is built until it has expired or failed. */
  refundedBy: v.nullable(v.object({ paymentId: publicText, status: v.picklist(PAYMENT_STATUSES) })),
})
export type UnmatchedTransfer = v.InferOutput<typeof UnmatchedTransfer>

const One = v.object({ success: v.literal(true), transfer: UnmatchedTransfer })

/** Additions: what the ledger could not attribute, and what a person decided about it. An assignment moves no order and yields to evidence of a payer. */
export const unmatchedEndpoints = {
  unmatchedList: {
    method: 'GET',
    path: '/unmatched',
    response: v.object({
      success: v.literal(true),
      total: v.number(),
      /** Those that are neither assigned nor refunded, with no refund sent. They come first, each part the newest first. */
      undecided: v.number(),
      transfers: v.array(UnmatchedTransfer),
    }),
  },
  unmatchedAssign: { method: 'POST', path: '/unmatched/:transferId/assign', response: One },
  unmatchedUnassign: { method: 'POST', path: '/unmatched/:transferId/unassign', response: One },
} as const satisfies Record<string, Call>

/** A payment that was settled from its payer's proof, and whose success no caller was told: its payer paid and may have received nothing. */
export const UndeliveredPayment = v.object({
  paymentId: publicText,
  status: v.picklist(PAYMENT_STATUSES),
  /** CAIP-2. */
  network: publicText,
  asset: publicText,
  symbol: publicText,
  decimals: v.number(),
  amount: decimal,
  amountAtomic: atomic,
  sender: publicText,
  recipient: publicText,
  resource: v.nullable(v.string()),
  /** When the payment was made. */
  timestamp,
  refund: RefundState,
})
export type UndeliveredPayment = v.InferOutput<typeof UndeliveredPayment>

const Closed = v.object({
  success: v.literal(true),
  paymentId: publicText,
  delivered: v.boolean(),
})

/** Additions: payments that were settled while their caller was gone. Each is granted to a later settlement of the same proof, closed by a person, or refunded. */
export const undeliveredEndpoints = {
  undeliveredList: {
    method: 'GET',
    path: '/undelivered',
    response: v.object({
      success: v.literal(true),
      total: v.number(),
      payments: v.array(UndeliveredPayment),
    }),
  },
  undeliveredClose: { method: 'POST', path: '/undelivered/:paymentId/close', response: Closed },
  undeliveredReopen: { method: 'POST', path: '/undelivered/:paymentId/reopen', response: Closed },
} as const satisfies Record<string, Call>
