import * as v from 'valibot'
import type { Endpoint } from './endpoint.ts'
import { boundedText, decimal, paymentId, plainNumber, storedText, wholeNumber } from './fields.ts'
import { MOST_REASON, MOST_REFUND_REQUESTS } from './refund-request.ts'
import { MAX_SIGNATURE } from './wallet.ts'

/** Declines a payer's request for a refund, or opens it again. */
const refundDecision = {
  scope: 'payment:receive',
  audience: 'browser',
  params: v.object({
    requestId: v.pipe(
      v.string(),
      v.regex(/^rfr_[1-9A-HJ-NP-Za-km-z]{22}$/, 'Expected rfr_ and 22 base58 characters.'),
    ),
  }),
  problems: ['NOT_FOUND', 'IDEMPOTENCY_CONFLICT', 'IDEMPOTENCY_IN_PROGRESS'],
} as const

/** Additions: refunds that payers ask for. A request is evidence: it moves nothing and decides nothing. What browsers load of it is in refund-request.ts. */
export const refundRequestRows = {
  refundRequestList: {
    summary: 'Open requests for a refund of payments to the account, newest first',
    scope: 'payment:read',
    audience: 'browser',
    query: v.strictObject({
      limit: v.optional(wholeNumber(1, 500), '50'),
      offset: v.optional(wholeNumber(0, 1_000_000_000), '0'),
    }),
    problems: [],
  },
  refundRequestRead: {
    summary: 'The requests for a refund of one payment, and what its payer may ask for now',
    scope: 'payment:read',
    audience: 'browser',
    params: v.object({ paymentId }),
    problems: ['NOT_FOUND'],
  },
  /** The same request again, or ten times at once, is one. */
  refundRequestCreate: {
    summary: `Ask for a refund of a payment, signed by the wallet that paid it. A payment has one open request, and ${MOST_REFUND_REQUESTS} in all`,
    scope: 'transaction:build',
    audience: 'browser',
    body: v.strictObject({
      paymentId,
      /** As `next` of `GET /refund-requests/:paymentId` says. */
      number: v.pipe(
        plainNumber,
        v.integer('Expected a whole number.'),
        v.minValue(1, 'Expected 1 or more.'),
      ),
      /** All that is left of the payment otherwise. */
      amount: v.optional(decimal),
      reason: v.optional(storedText(MOST_REASON)),
      /** Hex (EVM; of a contract, as EIP-1271 or ERC-6492 says) or base58 (Solana). */
      signature: v.pipe(boundedText(MAX_SIGNATURE), v.minLength(1, 'Expected a signature.')),
    }),
    problems: ['NOT_FOUND', 'IDEMPOTENCY_CONFLICT', 'IDEMPOTENCY_IN_PROGRESS', 'CHAIN_UNAVAILABLE'],
  },
  refundRequestDecline: {
    summary: 'Decline a request for a refund; its payer reads the note',
    ...refundDecision,
    body: v.strictObject({ by: v.optional(storedText(100)), note: v.optional(storedText(500)) }),
  },
  refundRequestReopen: {
    summary: 'Undo the above, unless the payer has asked again since',
    ...refundDecision,
    /** For the log. */
    body: v.strictObject({ by: v.optional(storedText(100)) }),
  },
  /** Of the merchant, not of the payer. A wallet whose request is still open can send it all the same: the chain decides then. */
  transactionRelease: {
    summary: 'Give up a refund on EVM that was not seen, so that its amount can be refunded again',
    scope: 'transaction:build',
    audience: 'browser',
    body: v.strictObject({ paymentId }),
    problems: ['NOT_FOUND', 'IDEMPOTENCY_CONFLICT', 'IDEMPOTENCY_IN_PROGRESS', 'CHAIN_UNAVAILABLE'],
  },
} as const satisfies Record<string, Omit<Endpoint, 'method' | 'path' | 'response'>>
