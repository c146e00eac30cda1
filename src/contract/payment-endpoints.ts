import * as v from 'valibot'
import type { Endpoint } from './endpoint.ts'
import { address } from './address-field.ts'
import {
  assetName,
  atomic,
  boundedText,
  describe,
  networkName,
  paymentId,
  timestamp,
  wholeNumber,
} from './fields.ts'
import { PaymentRow, PaymentStatusBody } from './payment-body.ts'
import { DIRECTIONS, PAYMENT_STATUSES } from './payment.ts'
import { sendFields } from './send-fields.ts'
import { SentPayment } from './wallet.ts'

const list = {
  type: v.optional(v.picklist(['sent', 'received', 'all']), 'all'),
  limit: v.optional(wholeNumber(1, 500), '50'),
  offset: v.optional(wholeNumber(0, 1_000_000_000), '0'),
  /** Additions from here on. `cursor` comes from `nextCursor` and takes the place of `offset`. */
  cursor: v.optional(
    v.pipe(
      v.string(),
      v.regex(/^[A-Za-z0-9_=.:+/-]{0,200}$/, 'Expected nextCursor of an answer before.'),
    ),
  ),
  /** One status or several with commas. `incomplete`, which stands alone: drafts, which no other list shows. */
  status: v.optional(
    v.union(
      [
        v.literal('incomplete'),
        v.pipe(
          v.string(),
          v.transform((text) => text.split(',')),
          v.array(v.picklist(PAYMENT_STATUSES)),
        ),
      ],
      ({ input }) =>
        `Expected one of ${PAYMENT_STATUSES.map((status) => describe(status)).join(', ')} or several with commas, or "incomplete" alone, received ${describe(input)}.`,
    ),
  ),
  network: v.optional(networkName),
  asset: v.optional(assetName),
  since: v.optional(wholeNumber(0, 999_999_999_999_999)),
  until: v.optional(wholeNumber(0, 999_999_999_999_999)),
  minAmount: v.optional(boundedText(100)),
  maxAmount: v.optional(boundedText(100)),
  /** Payment id, signature, address, `metadata.referenceId`, or the start of the resource. */
  q: v.optional(v.pipe(boundedText(300), v.minLength(1, 'Expected some text.'))),
}

const page = {
  success: v.literal(true),
  total: v.number(),
  limit: v.number(),
  offset: v.number(),
  nextCursor: v.nullable(v.string()),
  payments: v.array(PaymentRow),
}

/** Per network and asset: amounts of different assets are never added up. */
export const AssetSummary = v.object({
  network: v.string(),
  asset: v.string(),
  symbol: v.string(),
  decimals: v.number(),
  receivedAtomic: atomic,
  receivedCount: v.number(),
  sentAtomic: atomic,
  sentCount: v.number(),
  /** Sent and received payments that came to an end, one way or the other: paid, failed, expired, rolled back. */
  endedCount: v.number(),
  paidCount: v.number(),
  /** Median milliseconds from `created` to `confirmed`; null without a payment that has both. */
  medianConfirmMs: v.nullable(v.number()),
  /** One entry a day, oldest first; days are UTC. Only confirmed and finalized payments count. */
  days: v.array(v.object({ day: v.string(), receivedAtomic: atomic, sentAtomic: atomic })),
})
export type AssetSummary = v.InferOutput<typeof AssetSummary>

/** Hosted sends, and reading payments (specification section 4). */
export const paymentEndpoints = {
  paymentSend: {
    method: 'POST',
    path: '/payment/send',
    summary: 'Pay from a managed wallet; the service signs and broadcasts',
    scope: 'payment:send',
    audience: 'key',
    body: v.strictObject(sendFields),
    response: SentPayment,
    pending: 'forget',
    prefer: true,
    problems: [
      'INVALID_RECIPIENT',
      'INSUFFICIENT_BALANCE',
      'IDEMPOTENCY_CONFLICT',
      'IDEMPOTENCY_IN_PROGRESS',
      'CHAIN_UNAVAILABLE',
    ],
  },
  paymentStatus: {
    method: 'GET',
    path: '/payment/status/:paymentId',
    summary: 'Status and details of one payment',
    scope: 'payment:read',
    audience: 'browser',
    params: v.object({ paymentId }),
    response: PaymentStatusBody,
    problems: ['NOT_FOUND'],
  },
  paymentHistory: {
    method: 'GET',
    path: '/payment/history/:walletAddress',
    summary: 'Payments a wallet sent and received, newest first',
    scope: 'payment:read',
    audience: 'browser',
    params: v.object({ walletAddress: address }),
    query: v.strictObject(list),
    response: v.object({ walletAddress: v.string(), ...page }),
    problems: [],
  },
  /** Addition: the account's payments over several wallets, or all of them. */
  paymentList: {
    method: 'GET',
    path: '/payments',
    summary: "The account's payments, of some wallets or of all",
    scope: 'payment:read',
    audience: 'browser',
    /** `wallets`: up to 20 addresses with commas. `type` is seen from them; without them, from the wallets that the account owns. */
    query: v.strictObject({
      ...list,
      type: v.optional(v.picklist([...DIRECTIONS, 'all']), 'all'),
      wallets: v.optional(walletList()),
    }),
    response: v.object(page),
    problems: [],
  },
  /** Addition: figures for an overview. */
  paymentSummary: {
    method: 'GET',
    path: '/payments/summary',
    summary: 'Sums, counts and days of the payments, per network and asset',
    scope: 'payment:read',
    audience: 'browser',
    query: v.strictObject({
      wallets: v.optional(walletList()),
      days: v.optional(wholeNumber(1, 366), '30'),
    }),
    response: v.object({
      success: v.literal(true),
      since: timestamp,
      until: timestamp,
      statuses: v.array(v.object({ status: v.picklist(PAYMENT_STATUSES), count: v.number() })),
      assets: v.array(AssetSummary),
      topPayers: v.array(v.object({ address: v.string(), count: v.number() })),
      topResources: v.array(v.object({ resource: v.string(), count: v.number() })),
    }),
    problems: [],
  },
} as const satisfies Record<string, Endpoint>

function walletList() {
  return v.pipe(
    v.string(),
    v.transform((text) => text.split(',')),
    v.array(address),
    v.minLength(1),
    v.maxLength(20, 'Expected at most 20 addresses.'),
  )
}
