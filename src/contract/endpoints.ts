import * as v from 'valibot'
import {
  address,
  walletList,
  assetName,
  boundedText,
  describe,
  listCursor,
  logged,
  networkName,
  paymentId,
  paymentIdList,
  plainNumber,
  storedText,
  wholeNumber,
} from './fields.ts'
import { ApiKeyInput, keyId, MOST_KEYS, RotationInput } from './api-key-body.ts'
import { serviceCalls } from './calls.ts'
import { customerRows } from './customer-endpoints.ts'
import { joinRows, type Call, type Endpoint, type Schema } from './endpoint.ts'
import { FacilitatorSettleBody, FacilitatorSupportedBody, presentedPayment } from './facilitator.ts'
import { PaymentStatuses } from './payment-body.ts'
import { SEARCHED_PARTIES } from './payment-search.ts'
import { DIRECTIONS, LISTED_STATUSES } from './payment.ts'
import { ReceiveInput } from './receive.ts'
import { refundRequestRows } from './refund-request-rows.ts'
import { requestRows } from './request-log.ts'
import { refundFields, sendFields } from './send-fields.ts'
import { SettlementInput } from './settlement.ts'
import {
  MOST_WALLETS,
  NewWallet,
  OwnedWallet,
  PayoutChallenge,
  PayoutChallengeBody,
  PayoutSignature,
  SentPayment,
  WalletBody,
  WalletList,
} from './wallet.ts'
import { webhookRows } from './webhook.ts'

const paging = {
  limit: v.optional(wholeNumber(1, 500), '50'),
  offset: v.optional(wholeNumber(0, 1_000_000_000), '0'),
}

/** The filters of every list of payments. */
const listFields = {
  type: v.optional(v.picklist(['sent', 'received', 'all']), 'all'),
  ...paging,
  /** Additions from here on. `cursor` comes from `nextCursor` and takes the place of `offset`. */
  cursor: v.optional(listCursor),
  /** One status or several with commas. `incomplete`, which stands alone: drafts, which no other list shows. */
  status: v.optional(
    v.union(
      [
        v.literal('incomplete'),
        v.pipe(
          v.string(),
          v.transform((text) => text.split(',')),
          v.array(v.picklist(LISTED_STATUSES)),
        ),
      ],
      ({ input }) =>
        `Expected one of ${LISTED_STATUSES.map((status) => describe(status)).join(', ')} or several with commas, or "incomplete" alone, received ${describe(input)}.`,
    ),
  ),
  network: v.optional(networkName),
  asset: v.optional(assetName),
  /** What `since`, `until` and the order of the list go by, creation if unset. `landed` lists paid and failed payments alone. */
  by: v.optional(v.picklist(['created', 'landed'])),
  since: v.optional(wholeNumber(0, 999_999_999_999_999)),
  until: v.optional(wholeNumber(0, 999_999_999_999_999)),
  minAmount: v.optional(boundedText(100)),
  maxAmount: v.optional(boundedText(100)),
  /** A search: text and operators, as `parseSearch` reads them. */
  q: v.optional(v.pipe(boundedText(300), v.minLength(1, 'Expected some text.'))),
}

const transferId = v.pipe(
  v.string(),
  v.regex(/^umt_[1-9A-HJ-NP-Za-km-z]{22}$/, 'Expected umt_ and 22 base58 characters.'),
  logged(),
)

/** Who decides, and why. */
const decision = { by: v.optional(storedText(100)), note: v.optional(storedText(1_000)) }

/** Closes an undelivered payment, or opens it again. */
const undelivered = {
  scope: 'payment:receive',
  audience: 'browser',
  params: v.object({ paymentId }),
  body: v.strictObject(decision),
  problems: ['NOT_FOUND', 'IDEMPOTENCY_CONFLICT', 'IDEMPOTENCY_IN_PROGRESS'],
} as const

const BUILD_PROBLEMS = [
  'INVALID_RECIPIENT',
  'INSUFFICIENT_BALANCE',
  'IDEMPOTENCY_CONFLICT',
  'IDEMPOTENCY_IN_PROGRESS',
  'CHAIN_UNAVAILABLE',
] as const

/** What is built is also signed here, by a managed wallet. */
const SEND_PROBLEMS = [...BUILD_PROBLEMS, 'SIGNING_REFUSED'] as const

/**
 * What a row adds to its call: browsers load no request schemas, scopes and documentation. An
 * endpoint that no browser calls has the schema of its answer here as well.
 */
type Rows = {
  readonly [K in keyof typeof serviceCalls]: Omit<Endpoint, keyof Call | 'audience'> &
    ((typeof serviceCalls)[K] extends { response: Schema }
      ? { audience: 'browser' }
      : { audience: 'key'; response: Schema })
}

const rows = {
  // Local mode: the service builds, the caller signs and broadcasts (specification section 4).
  transactionSend: {
    summary: 'Build an unsigned payment that the caller signs and broadcasts',
    scope: 'transaction:build',
    audience: 'browser',
    /** `senderVerified`: whether the caller has verified that its user controls `walletAddress`; false for a visitor nobody has verified. */
    body: v.strictObject({ ...sendFields, senderVerified: v.optional(v.boolean()) }),
    problems: BUILD_PROBLEMS,
  },
  transactionReceive: {
    summary: 'Build the transaction by which the payee settles a payment proof itself',
    scope: 'payment:receive',
    audience: 'browser',
    body: SettlementInput,
    problems: [
      'INVALID_PAYMENT_PROOF',
      'INSUFFICIENT_BALANCE',
      'PAYMENT_VERIFICATION_FAILED',
      'IDEMPOTENCY_CONFLICT',
      'IDEMPOTENCY_IN_PROGRESS',
      'CHAIN_UNAVAILABLE',
    ],
  },
  transactionSubmitted: {
    summary: 'Report what was broadcast; the service checks the chain before it believes it',
    scope: 'transaction:build',
    audience: 'browser',
    /**
     * A report is a hint. `payerSignature`: the payer's over `evidence.request`, with `payerNonce` as its nonce (the built one otherwise).
     * `senderVerified`: the caller has verified the payer since.
     */
    body: v.strictObject({
      paymentId,
      /** The hash of the transaction. */
      // A private key has the same shape: the request log hides it.
      signature: boundedText(100),
      payerSignature: v.optional(
        v.pipe(v.string(), v.regex(/^0x[0-9a-fA-F]{130}$/, 'Expected 0x and 130 hex digits.')),
      ),
      payerNonce: v.optional(
        v.pipe(
          plainNumber,
          v.check(
            (nonce) => Number.isSafeInteger(nonce) && nonce >= 0,
            'Expected a whole number of 0 or more.',
          ),
        ),
      ),
      senderVerified: v.optional(v.boolean()),
    }),
    problems: ['NOT_FOUND', 'IDEMPOTENCY_CONFLICT', 'IDEMPOTENCY_IN_PROGRESS', 'CHAIN_UNAVAILABLE'],
  },
  paymentReceive: {
    summary: 'Check a payment proof against the chain and use it up',
    scope: 'payment:receive',
    audience: 'browser',
    body: ReceiveInput,
    pending: 'forget',
    problems: [
      'INVALID_PAYMENT_PROOF',
      'PAYMENT_VERIFICATION_FAILED',
      'IDEMPOTENCY_CONFLICT',
      'IDEMPOTENCY_IN_PROGRESS',
      'CHAIN_UNAVAILABLE',
    ],
  },
  /** The x402 facilitator interface. */
  facilitatorSupported: {
    summary: 'What the facilitator settles',
    scope: 'payment:receive',
    keyless: 'facilitator',
    audience: 'key',
    response: FacilitatorSupportedBody,
    problems: [],
  },
  facilitatorVerify: {
    summary: 'Whether a payment could be settled now',
    ...presentedPayment,
    audience: 'browser',
    keeps: 'nothing',
    problems: ['IDEMPOTENCY_CONFLICT', 'IDEMPOTENCY_IN_PROGRESS', 'CHAIN_UNAVAILABLE'],
  },
  facilitatorSettle: {
    summary: 'Settle a payment and use its proof up',
    ...presentedPayment,
    audience: 'key',
    response: FacilitatorSettleBody,
    keeps: 'success',
    problems: ['IDEMPOTENCY_CONFLICT', 'IDEMPOTENCY_IN_PROGRESS', 'CHAIN_UNAVAILABLE'],
  },
  paymentSend: {
    summary: 'Pay from a managed wallet; the service signs and broadcasts',
    scope: 'payment:send',
    audience: 'key',
    body: v.strictObject(sendFields),
    response: SentPayment,
    pending: 'forget',
    prefer: true,
    problems: SEND_PROBLEMS,
  },
  paymentStatus: {
    summary: 'Status and details of one payment',
    scope: 'payment:read',
    audience: 'browser',
    params: v.object({ paymentId }),
    problems: ['NOT_FOUND'],
  },
  /** Addition: what became of several payments, for one request. */
  paymentStatuses: {
    summary: 'Status and refunds of up to 100 payments',
    scope: 'payment:read',
    audience: 'key',
    query: v.strictObject({ paymentIds: paymentIdList }),
    response: PaymentStatuses,
    problems: [],
  },
  paymentHistory: {
    summary: 'Payments a wallet sent and received, newest first',
    scope: 'payment:read',
    audience: 'browser',
    params: v.object({ walletAddress: address }),
    query: v.strictObject(listFields),
    problems: [],
  },
  /** Addition: the account's payments over several wallets, or all of them. */
  paymentList: {
    summary: "The account's payments, of some wallets or of all",
    scope: 'payment:read',
    audience: 'browser',
    /** `wallets`: up to 20 addresses with commas. `type` is seen from them; without them, from the wallets that the account owns. */
    query: v.strictObject({
      ...listFields,
      type: v.optional(v.picklist([...DIRECTIONS, 'all']), 'all'),
      wallets: v.optional(walletList()),
      /** Beside a text in `q`: addresses whose payments are found too, such as those of customers with this name. */
      parties: v.optional(walletList(SEARCHED_PARTIES)),
    }),
    problems: [],
  },
  /** Addition: figures for an overview. */
  paymentSummary: {
    summary: 'Sums, counts and days of the payments, per network and asset',
    scope: 'payment:read',
    audience: 'browser',
    query: v.strictObject({
      wallets: v.optional(walletList()),
      days: v.optional(wholeNumber(1, 366), '30'),
    }),
    problems: [],
  },
  ...customerRows,
  /** Additions: payments that return another one, in whole or part. The sum of the refunds never exceeds what arrived. */
  paymentRefund: {
    summary: 'Return a payment from a managed wallet; the service signs and broadcasts',
    scope: 'payment:send',
    audience: 'key',
    body: v.strictObject(refundFields),
    response: SentPayment,
    pending: 'forget',
    prefer: true,
    problems: ['NOT_FOUND', ...SEND_PROBLEMS],
  },
  transactionRefund: {
    summary: 'Build the unsigned transaction that returns a payment',
    scope: 'transaction:build',
    audience: 'key',
    /** `senderVerified`: the caller has verified that its user controls the paying wallet. */
    body: v.strictObject({ ...refundFields, senderVerified: v.optional(v.literal(true)) }),
    response: v.object({ ...serviceCalls.transactionSend.response.entries, refundOf: v.string() }),
    problems: ['NOT_FOUND', ...BUILD_PROBLEMS],
  },
  ...refundRequestRows,
  /** Additions: what the ledger could not attribute, and what a person decided about it. An assignment moves no order and yields to evidence of a payer. */
  unmatchedList: {
    summary: 'Transfers to the account that fit an order and are tied to none, undecided first',
    scope: 'payment:read',
    audience: 'browser',
    query: v.strictObject(paging),
    problems: [],
  },
  unmatchedAssign: {
    summary:
      'Record that a person assigns a transfer to an order; the status of the order does not change',
    scope: 'payment:receive',
    audience: 'browser',
    params: v.object({ transferId }),
    body: v.strictObject({ paymentId, ...decision }),
    problems: ['NOT_FOUND', 'IDEMPOTENCY_CONFLICT', 'IDEMPOTENCY_IN_PROGRESS'],
  },
  unmatchedUnassign: {
    summary: 'Undo an assignment',
    scope: 'payment:receive',
    audience: 'browser',
    params: v.object({ transferId }),
    /** For the log. */
    body: v.strictObject(decision),
    problems: ['NOT_FOUND', 'IDEMPOTENCY_CONFLICT', 'IDEMPOTENCY_IN_PROGRESS'],
  },
  /** Additions: payments that were settled while their caller was gone. Each is granted to a later settlement of the same proof, closed by a person, or refunded. */
  undeliveredList: {
    summary:
      'Paid payments whose success no caller was told, and that were not refunded in full, newest first',
    scope: 'payment:read',
    audience: 'browser',
    query: v.strictObject(paging),
    problems: [],
  },
  undeliveredClose: {
    summary: 'Record that a person delivered it: no later settlement of its proof reports success',
    ...undelivered,
  },
  undeliveredReopen: {
    summary:
      'Undo the above, or say that the caller who got success could not deliver: the proof may be used again',
    ...undelivered,
  },
  /** Tokens (specification section 4, Other). */
  tokenInfo: {
    summary: 'What a token is, read from its chain',
    scope: 'token:read',
    audience: 'browser',
    params: v.object({ mintAddress: address }),
    /** `owner`: whose allowance for Permit2 is told. */
    query: v.strictObject({ network: v.optional(networkName), owner: v.optional(address) }),
    problems: ['NOT_FOUND', 'CHAIN_UNAVAILABLE'],
  },
  /** Additions: the account's keys. */
  apiKeyList: {
    summary: "The account's API keys, oldest first; of each only a hint",
    scope: 'keys:manage',
    audience: 'browser',
    problems: [],
  },
  /** A key grants no scope that the asking key lacks, and no plan above the account's. */
  apiKeyCreate: {
    summary: `Make an API key; the key itself is shown in this answer and never again. An account has at most ${MOST_KEYS} valid keys (\`FORBIDDEN\` beyond). A key that ends makes none that ends later`,
    scope: 'keys:manage',
    audience: 'browser',
    body: ApiKeyInput,
    secret: 'key',
    problems: ['IDEMPOTENCY_CONFLICT', 'IDEMPOTENCY_IN_PROGRESS'],
  },
  /** The successor has the same name, scopes, plan and expiry. Both are valid until the grace ends. */
  apiKeyRotate: {
    summary:
      'Replace an API key; the old one stays valid until the grace ends, and does not count among the keys of the account',
    scope: 'keys:manage',
    audience: 'browser',
    params: v.object({ id: keyId }),
    body: RotationInput,
    secret: 'key',
    problems: ['NOT_FOUND', 'IDEMPOTENCY_CONFLICT', 'IDEMPOTENCY_IN_PROGRESS'],
  },
  apiKeyDelete: {
    summary: 'End an API key at once; a key cannot delete itself',
    scope: 'keys:manage',
    audience: 'browser',
    params: v.object({ id: keyId }),
    problems: ['NOT_FOUND'],
  },
  ...requestRows,
  /** Additions: an account's managed wallets, and every wallet it owns. */
  walletList: {
    summary: 'The wallets the service signs for',
    scope: 'wallets:manage',
    audience: 'key',
    response: WalletList,
    problems: [],
  },
  walletCreate: {
    summary: `Make a wallet that the service signs for. An account has at most ${MOST_WALLETS} (\`FORBIDDEN\` beyond)`,
    scope: 'wallets:manage',
    audience: 'key',
    body: NewWallet,
    response: WalletBody,
    problems: ['IDEMPOTENCY_CONFLICT', 'IDEMPOTENCY_IN_PROGRESS'],
  },
  /** The owner of a wallet decides the direction of its payments, and is the only account that can receive proofs of payments to it. */
  payoutList: {
    summary: 'The wallets that the account owns, oldest first: payout wallets and managed ones',
    scope: 'wallets:manage',
    audience: 'key',
    response: v.object({ success: v.literal(true), wallets: v.array(OwnedWallet) }),
    problems: [],
  },
  /** Valid for 5 minutes and one attempt. */
  payoutChallenge: {
    summary: 'A text that a wallet signs to prove that the account owns it',
    scope: 'wallets:manage',
    audience: 'key',
    body: PayoutChallenge,
    response: PayoutChallengeBody,
    problems: ['IDEMPOTENCY_CONFLICT', 'IDEMPOTENCY_IN_PROGRESS'],
  },
  payoutRegister: {
    summary: 'Register the wallet that signed a challenge as owned by the account',
    scope: 'wallets:manage',
    audience: 'key',
    body: PayoutSignature,
    response: v.object({ success: v.literal(true), wallet: OwnedWallet }),
    problems: ['CHAIN_UNAVAILABLE', 'IDEMPOTENCY_CONFLICT', 'IDEMPOTENCY_IN_PROGRESS'],
  },
  /** Past payments keep their directions, and what the owner consumed stays consumed. */
  payoutRelease: {
    summary: 'Release a payout wallet of the account; a managed wallet cannot be released',
    scope: 'wallets:manage',
    audience: 'key',
    params: v.object({ walletAddress: address }),
    response: v.object({ success: v.literal(true), released: v.array(OwnedWallet) }),
    problems: ['NOT_FOUND'],
  },
  ...webhookRows,
} as const satisfies Rows

/**
 * The service's API, one row an endpoint. Routes, clients, the proxy's allow-list, OpenAPI and tests are all derived from it.
 * Paths, fields and rules are those of the specification (sections 2 and 4); additions are marked as such.
 * Not for browsers: they load `serviceCalls` of calls.ts.
 */
export const endpoints = joinRows(serviceCalls, rows)

export type Endpoints = typeof endpoints
export type EndpointName = keyof Endpoints

type Part<K extends EndpointName, P extends 'params' | 'query' | 'body'> =
  Endpoints[K] extends Record<P, infer S extends Schema> ? S : never

/** What a handler gets, after parsing. */
export type EndpointInput<K extends EndpointName> = {
  params: [Part<K, 'params'>] extends [never] ? undefined : v.InferOutput<Part<K, 'params'>>
  query: [Part<K, 'query'>] extends [never] ? undefined : v.InferOutput<Part<K, 'query'>>
  body: [Part<K, 'body'>] extends [never] ? undefined : v.InferOutput<Part<K, 'body'>>
}

/** What a client sends, before parsing. */
export type EndpointRequest<K extends EndpointName> = ([Part<K, 'params'>] extends [never]
  ? { params?: undefined }
  : { params: v.InferInput<Part<K, 'params'>> }) &
  ([Part<K, 'query'>] extends [never]
    ? { query?: undefined }
    : { query?: v.InferInput<Part<K, 'query'>> }) &
  ([Part<K, 'body'>] extends [never]
    ? { body?: undefined }
    : { body: v.InferInput<Part<K, 'body'>> })

/** What a handler returns; amounts as numbers or `LosslessNumber`. */
export type EndpointReply<K extends EndpointName> = v.InferInput<Endpoints[K]['response']>

/** What a client reads; amounts as their source text. */
export type EndpointResponse<K extends EndpointName> = v.InferOutput<Endpoints[K]['response']>
