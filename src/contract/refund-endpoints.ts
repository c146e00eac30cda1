import * as v from 'valibot'
import { address } from './address-field.ts'
import type { Endpoint } from './endpoint.ts'
import { decimal, paymentId, storedText } from './fields.ts'
import { transactionEndpoints } from './transaction-endpoints.ts'
import { SentPayment } from './wallet.ts'

/** What both modes take to return a payment. Recipient, network, asset and reference are the original's. */
const refundFields = {
  /** The payment to return. */
  paymentId,
  /** The wallet that pays; the recipient of the original otherwise. */
  walletAddress: v.optional(address),
  /** All that is left of the original otherwise. */
  amount: v.optional(decimal),
  /** Kept with the refund. Everybody who may see the refund reads both, its payer included. */
  reason: v.optional(storedText(300)),
  note: v.optional(storedText(1_000)),
  priorityFee: v.optional(decimal),
}

const sent = transactionEndpoints.transactionSend

/** Additions: payments that return another one, in whole or part. The sum of the refunds never exceeds what arrived. */
export const refundEndpoints = {
  paymentRefund: {
    method: 'POST',
    path: '/payment/refund',
    summary: 'Return a payment from a managed wallet; the service signs and broadcasts',
    scope: 'payment:send',
    audience: 'key',
    body: v.strictObject(refundFields),
    response: SentPayment,
    pending: 'forget',
    prefer: true,
    problems: [
      'NOT_FOUND',
      'INVALID_RECIPIENT',
      'INSUFFICIENT_BALANCE',
      'IDEMPOTENCY_CONFLICT',
      'IDEMPOTENCY_IN_PROGRESS',
      'CHAIN_UNAVAILABLE',
    ],
  },
  transactionRefund: {
    method: 'POST',
    path: '/transaction/refund',
    summary: 'Build the unsigned transaction that returns a payment',
    scope: 'transaction:build',
    audience: 'key',
    /** `senderVerified`: the caller has verified that its user controls the paying wallet. */
    body: v.strictObject({ ...refundFields, senderVerified: v.optional(v.literal(true)) }),
    response: v.object({ ...sent.response.entries, refundOf: v.string() }),
    problems: ['NOT_FOUND', ...sent.problems],
  },
} as const satisfies Record<string, Endpoint>
