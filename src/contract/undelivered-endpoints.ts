import * as v from 'valibot'
import type { Call } from './endpoint.ts'
import { atomic, decimal, publicText, timestamp } from './fields.ts'
import { RefundState } from './payment-body.ts'
import { PAYMENT_STATUSES } from './payment.ts'

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
