import * as v from 'valibot'
import type { Scope } from './api-key.ts'
import { ApiKeyInput, ApiKeyRow, keyId, NewApiKeyBody, RotationInput } from './api-key-body.ts'
import { address, atomic, decimal, metadata, paymentId, resource, timestamp, wholeNumber } from './fields.ts'
import { Fee, PaymentRow, PaymentStatusBody } from './payment-body.ts'
import { PAYMENT_STATUSES } from './payment.ts'
import type { ProblemCode } from './problem.ts'
import { proofEndpoints } from './proof-endpoints.ts'
import { UsageBody, UsageQuery } from './usage.ts'
import { NewWallet, SentPayment, WalletBody, WalletList } from './wallet.ts'

/**
 * The service's API, one row an endpoint. Routes, clients, the proxy's allow-list, OpenAPI and tests are all derived from it.
 * Paths, fields and rules are those of the specification (sections 2 and 4); additions are marked as such.
 */

type Schema = v.GenericSchema

export type Endpoint = {
  method: 'GET' | 'POST' | 'DELETE'
  /** Parameters as `:name`. */
  path: `/${string}`
  summary: string
  /** The scope an API key needs. */
  scope: Scope
  /** Whether the proxy offers it to browsers under `/api`. */
  audience: 'key' | 'browser'
  params?: Schema
  query?: Schema
  body?: Schema
  response: Schema
  /** The field of the answer that holds a secret. It is told once: such an answer is not kept under an idempotency key, a repetition is a conflict. */
  secret?: string
  /**
   * The answer's `status` may be `pending`: then it is 202, and under an idempotency key it is kept, or forgotten, so that a repetition looks again.
   */
  pending?: 'keep' | 'forget'
  /** Whether the answer waits for the outcome as long as the header `Prefer` says. */
  prefer?: true
  /** Beside those that every endpoint shares. */
  problems: readonly ProblemCode[]
}

/** Every endpoint may answer with these. */
export const commonProblems = ['INVALID_PARAMETERS', 'UNAUTHORIZED', 'FORBIDDEN', 'RATE_LIMIT', 'INTERNAL'] as const satisfies ProblemCode[]

const sendFields = {
  walletAddress: address,
  recipientAddress: v.string(),
  amount: decimal,
  resource: v.optional(resource),
  metadata: v.optional(metadata),
  priorityFee: v.optional(decimal),
  /** Addition: CAIP-2; the account's default of the wallet's family otherwise. */
  network: v.optional(v.string()),
  /** Addition: an address or a configured symbol; native otherwise. */
  asset: v.optional(v.string()),
}

const list = {
  type: v.optional(v.picklist(['sent', 'received', 'all']), 'all'),
  limit: v.optional(wholeNumber(1, 500), '50'),
  offset: v.optional(wholeNumber(0, 1_000_000_000), '0'),
  /** Additions from here on. `cursor` comes from `nextCursor` and takes the place of `offset`. */
  cursor: v.optional(v.pipe(v.string(), v.maxLength(200))),
  /** One status or several with commas. */
  status: v.optional(
    v.pipe(
      v.string(),
      v.transform((text) => text.split(',')),
      v.array(v.picklist(PAYMENT_STATUSES)),
    ),
  ),
  network: v.optional(v.string()),
  asset: v.optional(v.string()),
  since: v.optional(wholeNumber(0, 999_999_999_999_999)),
  until: v.optional(wholeNumber(0, 999_999_999_999_999)),
  minAmount: v.optional(v.string()),
  maxAmount: v.optional(v.string()),
  /** Payment id, signature, address, `metadata.referenceId`, or the start of the resource. */
  q: v.optional(v.pipe(v.string(), v.minLength(1), v.maxLength(300))),
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
  /** Median milliseconds from `created` to `confirmed`; null without a payment that has both. */
  medianConfirmMs: v.nullable(v.number()),
  /** One entry a day, oldest first; days are UTC. Only confirmed and finalized payments count. */
  days: v.array(v.object({ day: v.string(), receivedAtomic: atomic, sentAtomic: atomic })),
})
export type AssetSummary = v.InferOutput<typeof AssetSummary>

export const endpoints = {
  transactionSend: {
    method: 'POST',
    path: '/transaction/send',
    summary: 'Build an unsigned payment that the caller signs and broadcasts',
    scope: 'transaction:build',
    audience: 'browser',
    body: v.strictObject(sendFields),
    response: v.object({
      success: v.literal(true),
      /** Base64 of the unsigned transaction. */
      transaction: v.string(),
      encoding: v.picklist(['solana-wire-v0', 'evm-rlp-unsigned']),
      /** Height after which the transaction is no longer accepted. */
      lastValidBlockHeight: v.number(),
      /** Unix milliseconds. */
      expiresAt: timestamp,
      paymentId: v.string(),
      paymentProof: v.null(),
      network: v.string(),
      asset: v.string(),
      symbol: v.string(),
      decimals: v.number(),
      amount: decimal,
      amountAtomic: atomic,
      sender: v.string(),
      recipient: v.string(),
      /** The most this transaction can cost beside the amount, in native currency; `priorityFee` is the part the validator gets. */
      fee: v.object({ ...Fee.entries, priorityFee: decimal }),
      estimatedConfirmation: v.string(),
      /** The fields a wallet that takes fields (MetaMask) is asked with; a convenience, never what a signer should trust. */
      decoded: v.record(v.string(), v.unknown()),
      /** What the payer signs after landing to turn the payment into an x402 proof; null where the memo is proof enough. */
      proofRequest: v.nullable(v.record(v.string(), v.unknown())),
    }),
    problems: ['INVALID_RECIPIENT', 'INSUFFICIENT_BALANCE', 'IDEMPOTENCY_CONFLICT', 'IDEMPOTENCY_IN_PROGRESS', 'CHAIN_UNAVAILABLE'],
  },
  transactionSubmitted: {
    method: 'POST',
    path: '/transaction/submitted',
    summary: 'Report what was broadcast; the service checks the chain before it believes it',
    scope: 'transaction:build',
    audience: 'browser',
    body: v.strictObject({ paymentId, signature: v.pipe(v.string(), v.maxLength(100, 'Expected at most 100 characters.')) }),
    response: PaymentStatusBody,
    problems: ['NOT_FOUND', 'IDEMPOTENCY_CONFLICT', 'IDEMPOTENCY_IN_PROGRESS', 'CHAIN_UNAVAILABLE'],
  },
  ...proofEndpoints,
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
    /** `wallets`: up to 20 addresses with commas. `type` is seen from them; without them, a managed wallet's payments are `sent`, all others `received`. */
    query: v.strictObject({ ...list, wallets: v.optional(walletList()) }),
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
    query: v.strictObject({ wallets: v.optional(walletList()), days: v.optional(wholeNumber(1, 366), '30') }),
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
  tokenInfo: {
    method: 'GET',
    path: '/token/info/:mintAddress',
    summary: 'What a token is, read from its chain',
    scope: 'token:read',
    audience: 'browser',
    params: v.object({ mintAddress: address }),
    query: v.strictObject({ network: v.optional(v.string()) }),
    response: v.object({
      success: v.literal(true),
      address: v.string(),
      network: v.string(),
      standard: v.picklist(['spl-token', 'token-2022', 'erc20', 'native']),
      name: v.nullable(v.string()),
      symbol: v.nullable(v.string()),
      decimals: v.number(),
      totalSupply: v.nullable(atomic),
      mintAuthority: v.nullable(v.string()),
      freezeAuthority: v.nullable(v.string()),
      /** Whether the token takes EIP-3009 authorizations; false off EVM. */
      eip3009: v.boolean(),
    }),
    problems: ['NOT_FOUND', 'CHAIN_UNAVAILABLE'],
  },
  /** Additions: the account's keys. */
  apiKeyList: {
    method: 'GET',
    path: '/api-keys',
    summary: "The account's API keys, oldest first; of each only a hint",
    scope: 'keys:manage',
    audience: 'key',
    response: v.object({ success: v.literal(true), keys: v.array(ApiKeyRow) }),
    problems: [],
  },
  /** A key grants no scope that the asking key lacks, and no plan above the account's. */
  apiKeyCreate: {
    method: 'POST',
    path: '/api-keys',
    summary: 'Make an API key; the key itself is shown in this answer and never again',
    scope: 'keys:manage',
    audience: 'key',
    body: ApiKeyInput,
    response: NewApiKeyBody,
    secret: 'key',
    problems: ['IDEMPOTENCY_CONFLICT', 'IDEMPOTENCY_IN_PROGRESS'],
  },
  /** The successor has the same name, scopes, plan and expiry. Both are valid until the grace ends. */
  apiKeyRotate: {
    method: 'POST',
    path: '/api-keys/:id/rotate',
    summary: 'Replace an API key; the old one stays valid until the grace ends',
    scope: 'keys:manage',
    audience: 'key',
    params: v.object({ id: keyId }),
    body: RotationInput,
    /** The old key is valid until then. */
    response: v.object({ ...NewApiKeyBody.entries, graceEndsAt: timestamp }),
    secret: 'key',
    problems: ['NOT_FOUND', 'IDEMPOTENCY_CONFLICT', 'IDEMPOTENCY_IN_PROGRESS'],
  },
  apiKeyDelete: {
    method: 'DELETE',
    path: '/api-keys/:id',
    summary: 'End an API key at once; a key cannot delete itself',
    scope: 'keys:manage',
    audience: 'key',
    params: v.object({ id: keyId }),
    response: v.object({ success: v.literal(true), ...ApiKeyRow.entries }),
    problems: ['NOT_FOUND'],
  },
  /** Addition: how often the account's keys were used. */
  usage: {
    method: 'GET',
    path: '/usage',
    summary: 'Requests counted per key, endpoint and status, by minute, hour or day',
    scope: 'keys:manage',
    audience: 'key',
    query: UsageQuery,
    response: UsageBody,
    problems: [],
  },
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
    problems: ['INVALID_RECIPIENT', 'INSUFFICIENT_BALANCE', 'IDEMPOTENCY_CONFLICT', 'IDEMPOTENCY_IN_PROGRESS', 'CHAIN_UNAVAILABLE'],
  },
  walletList: {
    method: 'GET',
    path: '/wallets',
    summary: 'The wallets the service signs for',
    scope: 'wallets:manage',
    audience: 'key',
    response: WalletList,
    problems: [],
  },
  walletCreate: {
    method: 'POST',
    path: '/wallets',
    summary: 'Make a wallet that the service signs for',
    scope: 'wallets:manage',
    audience: 'key',
    body: NewWallet,
    response: WalletBody,
    problems: ['IDEMPOTENCY_CONFLICT', 'IDEMPOTENCY_IN_PROGRESS'],
  },
} as const satisfies Record<string, Endpoint>

export type Endpoints = typeof endpoints
export type EndpointName = keyof Endpoints

type Part<K extends EndpointName, P extends 'params' | 'query' | 'body'> = Endpoints[K] extends Record<P, infer S extends Schema> ? S : never

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
  ([Part<K, 'query'>] extends [never] ? { query?: undefined } : { query?: v.InferInput<Part<K, 'query'>> }) &
  ([Part<K, 'body'>] extends [never] ? { body?: undefined } : { body: v.InferInput<Part<K, 'body'>> })

/** What a handler returns; amounts as numbers or `LosslessNumber`. */
export type EndpointReply<K extends EndpointName> = v.InferInput<Endpoints[K]['response']>

/** What a client reads; amounts as their source text. */
export type EndpointResponse<K extends EndpointName> = v.InferOutput<Endpoints[K]['response']>

function walletList() {
  return v.pipe(
    v.string(),
    v.transform((text) => text.split(',')),
    v.array(address),
    v.minLength(1),
    v.maxLength(20, 'Expected at most 20 addresses.'),
  )
}
