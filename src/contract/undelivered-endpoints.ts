import * as v from 'valibot'
import type { Endpoint } from './endpoint.ts'
import { atomic, decimal, paymentId, timestamp, wholeNumber } from './fields.ts'
import { RefundState } from './payment-body.ts'
import { PAYMENT_STATUSES } from './payment.ts'
import { decision } from './unmatched-endpoints.ts'

/** A payment that was settled from its payer's proof, and whose success no caller was told: its payer paid and may have received nothing. */
export const UndeliveredPayment = v.object({
  paymentId: v.string(),
  status: v.picklist(PAYMENT_STATUSES),
  /** CAIP-2. */
  network: v.string(),
  asset: v.string(),
  symbol: v.string(),
  decimals: v.number(),
  amount: decimal,
  amountAtomic: atomic,
  sender: v.string(),
  recipient: v.string(),
  resource: v.nullable(v.string()),
  /** When the payment was made. */
  timestamp,
  refund: RefundState,
})
export type UndeliveredPayment = v.InferOutput<typeof UndeliveredPayment>

const one = {
  scope: 'payment:receive',
  audience: 'browser',
  params: v.object({ paymentId }),
  body: v.strictObject(decision),
  response: v.object({ success: v.literal(true), paymentId: v.string(), delivered: v.boolean() }),
  problems: ['NOT_FOUND', 'IDEMPOTENCY_CONFLICT', 'IDEMPOTENCY_IN_PROGRESS'],
} as const

/** Additions: payments that were settled while their caller was gone. Each is granted to a later settlement of the same proof, closed by a person, or refunded. */
export const undeliveredEndpoints = {
  undeliveredList: {
    method: 'GET',
    path: '/undelivered',
    summary:
      'Paid payments whose success no caller was told, and that were not refunded in full, newest first',
    scope: 'payment:read',
    audience: 'browser',
    query: v.strictObject({
      limit: v.optional(wholeNumber(1, 500), '50'),
      offset: v.optional(wholeNumber(0, 1_000_000_000), '0'),
    }),
    response: v.object({
      success: v.literal(true),
      total: v.number(),
      payments: v.array(UndeliveredPayment),
    }),
    problems: [],
  },
  undeliveredClose: {
    method: 'POST',
    path: '/undelivered/:paymentId/close',
    summary: 'Record that a person delivered it: no later settlement of its proof is told success',
    ...one,
  },
  undeliveredReopen: {
    method: 'POST',
    path: '/undelivered/:paymentId/reopen',
    summary: 'Undo the above',
    ...one,
  },
} as const satisfies Record<string, Endpoint>
