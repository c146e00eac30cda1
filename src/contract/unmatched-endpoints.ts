import * as v from 'valibot'
import type { Endpoint } from './endpoint.ts'
import { atomic, decimal, paymentId, storedText, timestamp, wholeNumber } from './fields.ts'
import { PAYMENT_STATUSES } from './payment.ts'

const transferId = v.pipe(
  v.string(),
  v.regex(/^umt_[1-9A-HJ-NP-Za-km-z]{22}$/, 'Expected umt_ and 22 base58 characters.'),
)

/** Money that arrived at an owned wallet, fits one or more orders, and is tied to none of them by evidence. */
export const UnmatchedTransfer = v.object({
  transferId: v.string(),
  /** CAIP-2. */
  network: v.string(),
  signature: v.string(),
  sender: v.string(),
  recipient: v.string(),
  asset: v.string(),
  symbol: v.string(),
  decimals: v.number(),
  amount: decimal,
  amountAtomic: atomic,
  blockHeight: v.number(),
  /** Of its block; of its first sighting where the node does not tell. */
  timestamp,
  /** Unpaid orders whose terms it fits, at most 50. Their metadata may be a stranger's text. */
  candidates: v.array(
    v.object({
      paymentId: v.string(),
      status: v.picklist(PAYMENT_STATUSES),
      timestamp,
      metadata: v.nullable(v.record(v.string(), v.unknown())),
    }),
  ),
  /** The order that a person assigned it to. */
  assigned: v.nullable(
    v.object({
      paymentId: v.string(),
      by: v.nullable(v.string()),
      at: timestamp,
      note: v.nullable(v.string()),
    }),
  ),
})
export type UnmatchedTransfer = v.InferOutput<typeof UnmatchedTransfer>

/** Who decides, and why. */
export const decision = { by: v.optional(storedText(100)), note: v.optional(storedText(1_000)) }

const One = v.object({ success: v.literal(true), transfer: UnmatchedTransfer })

/** Additions: what the ledger could not attribute, and what a person decided about it. An assignment moves no order and yields to evidence of a payer. */
export const unmatchedEndpoints = {
  unmatchedList: {
    method: 'GET',
    path: '/unmatched',
    summary: 'Transfers to the account that fit an order and are tied to none, newest first',
    scope: 'payment:read',
    audience: 'browser',
    query: v.strictObject({
      limit: v.optional(wholeNumber(1, 500), '50'),
      offset: v.optional(wholeNumber(0, 1_000_000_000), '0'),
    }),
    response: v.object({
      success: v.literal(true),
      total: v.number(),
      transfers: v.array(UnmatchedTransfer),
    }),
    problems: [],
  },
  unmatchedAssign: {
    method: 'POST',
    path: '/unmatched/:transferId/assign',
    summary:
      'Record that a person assigns a transfer to an order; the status of the order does not change',
    scope: 'payment:receive',
    audience: 'browser',
    params: v.object({ transferId }),
    body: v.strictObject({ paymentId, ...decision }),
    response: One,
    problems: ['NOT_FOUND', 'IDEMPOTENCY_CONFLICT', 'IDEMPOTENCY_IN_PROGRESS'],
  },
  unmatchedUnassign: {
    method: 'POST',
    path: '/unmatched/:transferId/unassign',
    summary: 'Undo an assignment',
    scope: 'payment:receive',
    audience: 'browser',
    params: v.object({ transferId }),
    /** For the log. */
    body: v.strictObject(decision),
    response: One,
    problems: ['NOT_FOUND', 'IDEMPOTENCY_CONFLICT', 'IDEMPOTENCY_IN_PROGRESS'],
  },
} as const satisfies Record<string, Endpoint>
