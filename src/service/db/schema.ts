import { sql } from 'drizzle-orm'
import { bigint, bigserial, boolean, check, customType, index, integer, pgSchema, primaryKey, text, timestamp, uniqueIndex } from 'drizzle-orm/pg-core'
import type { Family } from '#contract/address.ts'
import type { EventKind } from '#contract/event.ts'
import type { PaymentMode, PaymentStatus, EventSource } from '#contract/payment.ts'
import type { Plan, Scope } from '#contract/api-key.ts'
import type { StatusClass, UsagePeriod } from '#contract/usage.ts'
import { searchExpressions } from './search-expressions.ts'

/** The service's tables. They live in a Postgres schema of their own, so that the proxy may share the database. */
export const service = pgSchema('service')

/** Atomic units: up to 2^256, exact, `bigint` inside. */
const atomic = customType<{ data: bigint; driverData: string }>({
  dataType: () => 'numeric(78,0)',
  fromDriver: BigInt,
  toDriver: String,
})

const at = (name: string) => timestamp(name, { withTimezone: true, precision: 3, mode: 'date' })

export const account = service.table('account', {
  id: text().primaryKey(),
  name: text().notNull(),
  /** The most that a key of this account may have. */
  plan: text().$type<Plan>().notNull(),
  /** What its plan permits; null for everything. */
  scopes: text().array().$type<Scope[]>(),
  /** Base URLs of the facilitators that it may have payments verified by; null for all that the operator allows. */
  facilitators: text().array(),
  createdAt: at('created_at').notNull().defaultNow(),
})

export const apiKey = service.table(
  'api_key',
  {
    id: text().primaryKey(),
    accountId: text()
      .notNull()
      .references(() => account.id),
    name: text().notNull(),
    /** SHA-256 of the whole key, hex: the look-up itself. The key has 238 random bits, so no salt or slow hash is needed. */
    hash: text().notNull(),
    hint: text().notNull(),
    scopes: text().array().$type<Scope[]>().notNull(),
    plan: text().$type<Plan>().notNull(),
    /** In place of the plan's quota. */
    requestsPerMinute: integer(),
    createdAt: at('created_at').notNull().defaultNow(),
    lastUsedAt: at('last_used_at'),
    expiresAt: at('expires_at'),
    revokedAt: at('revoked_at'),
    /** Its successor, once it was rotated; a key is rotated once. */
    replacedBy: text(),
  },
  (t) => [uniqueIndex('api_key_hash').on(t.hash), index('api_key_account').on(t.accountId)],
)

/** How many requests a key made of an endpoint, by minute, hour and day of their answers, UTC. Counted in memory, added up here. */
export const usage = service.table(
  'usage',
  {
    keyId: text().notNull(),
    period: text().$type<UsagePeriod>().notNull(),
    startsAt: at('starts_at').notNull(),
    endpoint: text().notNull(),
    statusClass: text().$type<StatusClass>().notNull(),
    requests: bigint({ mode: 'number' }).notNull(),
  },
  (t) => [primaryKey({ columns: [t.keyId, t.period, t.startsAt, t.endpoint, t.statusClass] }), index('usage_age').on(t.period, t.startsAt)],
)

/** GCRA: the theoretical arrival time of the next request, in microseconds of the database's clock. */
export const rateLimit = service.table('rate_limit', {
  key: text().primaryKey(),
  arrivalUs: bigint({ mode: 'bigint' }).notNull(),
  /** Whether the latest request was let through: the one statement that decides also tells. */
  allowed: boolean().notNull(),
})

/** Open WebSocket connections of all processes, for the plan's limit. A process that died leaves rows whose lease ends. */
export const socket = service.table(
  'socket',
  {
    id: text().primaryKey(),
    keyId: text().notNull(),
    leaseUntil: at('lease_until').notNull(),
  },
  (t) => [index('socket_key').on(t.keyId, t.leaseUntil)],
)

export const idempotency = service.table(
  'idempotency',
  {
    accountId: text().notNull(),
    key: text().notNull(),
    /** SHA-256 over endpoint and body: another request under the same key is a conflict. */
    fingerprint: text().notNull(),
    /** Null while the first request runs. */
    status: integer(),
    body: text(),
    /** A request that died releases its key then. */
    leaseUntil: at('lease_until').notNull(),
    createdAt: at('created_at').notNull().defaultNow(),
  },
  (t) => [primaryKey({ columns: [t.accountId, t.key] }), index('idempotency_created').on(t.createdAt)],
)

export const payment = service.table(
  'payment',
  {
    id: text().primaryKey(),
    accountId: text()
      .notNull()
      .references(() => account.id),
    mode: text().$type<PaymentMode>().notNull(),
    status: text().$type<PaymentStatus>().notNull(),
    network: text().notNull(),
    asset: text().notNull(),
    symbol: text().notNull(),
    decimals: integer().notNull(),
    amount: atomic().notNull(),
    sender: text().notNull(),
    recipient: text().notNull(),
    resource: text(),
    /** JSON source text: numbers in it keep their digits. */
    metadata: text(),
    /** Base64 of the unsigned transaction (local mode). */
    unsignedTransaction: text(),
    /** EVM: the nonce the transaction was built with. */
    nonce: bigint({ mode: 'number' }),
    /** Height of the chain when the payment was built: the search for it starts there. */
    builtHeight: bigint({ mode: 'number' }),
    lastValidBlockHeight: bigint({ mode: 'number' }),
    expiresAt: at('expires_at'),
    signature: text(),
    /** What a client says it broadcast, until the chain shows it. Proves nothing and reserves nothing: `signature` is set from the chain alone. */
    reportedSignature: text(),
    blockHeight: bigint({ mode: 'number' }),
    blockHash: text(),
    /** Paid to the chain, native atomic units. */
    fee: atomic(),
    failure: text(),
    paymentProof: text(),
    /** Hosted mode: the key the payer's request came with and what it asked, kept for ever: a repeated request finds its payment whatever else was lost. */
    idempotencyKey: text(),
    idempotencyFingerprint: text(),
    /** Hosted mode: what the payer wants the validator to get, and the most the network may charge: both stay reserved until the chain has taken them. */
    priorityFee: atomic(),
    maxFee: atomic(),
    confirmedAt: at('confirmed_at'),
    createdAt: at('created_at').notNull().defaultNow(),
    updatedAt: at('updated_at').notNull().defaultNow(),
  },
  (t) => [
    /** A proof handed in by a payee may tell of a transaction that is a payer's payment here too; `claim` keeps those single. */
    uniqueIndex('payment_signature')
      .on(t.network, t.signature)
      .where(sql`signature is not null and mode <> 'received'`),
    index('payment_account').on(t.accountId, t.createdAt, t.id),
    index('payment_sender').on(t.accountId, t.sender, t.createdAt, t.id),
    index('payment_recipient').on(t.accountId, t.recipient, t.createdAt, t.id),
    index('payment_status').on(t.accountId, t.status, t.createdAt, t.id),
    /** Payments between two wallets that are looked at together: a list of both has them once. */
    index('payment_pair').on(t.accountId, t.sender, t.recipient),
    index('payment_any_signature')
      .on(t.accountId, t.signature)
      .where(sql`signature is not null`),
    // Of all rows: Postgres leaves what it knows of an expression unused when the index is partial, takes every text for common, and reads all payments.
    index('payment_resource').on(t.accountId, sql.raw(`${searchExpressions.resourceStart} text_pattern_ops`)),
    index('payment_reference').on(t.accountId, sql.raw(searchExpressions.referenceStart)),
    /** What the watchers still follow. */
    index('payment_open')
      .on(t.network, t.status)
      .where(sql`status in ('created', 'pending', 'confirmed', 'rolled_back')`),
    /** Expired payments the chain may still show. */
    index('payment_expired')
      .on(t.network, t.expiresAt)
      .where(sql`status = 'expired'`),
    /** A lane: one sender on one network uses each nonce once. */
    uniqueIndex('payment_nonce')
      .on(t.network, t.sender, t.nonce)
      .where(sql`mode = 'hosted' and nonce is not null`),
    index('payment_lane')
      .on(t.network, t.sender, t.blockHeight)
      .where(sql`mode = 'hosted'`),
    uniqueIndex('payment_idempotency')
      .on(t.accountId, t.idempotencyKey)
      .where(sql`idempotency_key is not null`),
    check('payment_amount_positive', sql`amount > 0`),
  ],
)

/** Every transaction the service has signed for a payment, written before its bytes leave. Never changed but for the time they left. */
export const attempt = service.table(
  'attempt',
  {
    paymentId: text()
      .notNull()
      .references(() => payment.id),
    number: integer().notNull(),
    network: text().notNull(),
    /** The managed wallet that signed for the network's charge, where it is not the payment's sender: settlements of what others signed. */
    signer: text(),
    signature: text().notNull(),
    /** Base64 of the signed transaction. */
    signedTransaction: text().notNull(),
    /** Hosted mode: the x402 header value that proves this transaction, once it has landed. */
    paymentProof: text(),
    /** EVM. */
    nonce: bigint({ mode: 'number' }),
    lastValidBlockHeight: bigint({ mode: 'number' }),
    maxFee: atomic().notNull(),
    createdAt: at('created_at').notNull().defaultNow(),
    broadcastAt: at('broadcast_at'),
  },
  (t) => [
    primaryKey({ columns: [t.paymentId, t.number] }),
    uniqueIndex('attempt_signature').on(t.network, t.signature),
    index('attempt_signer').on(t.network, t.signer, t.nonce),
  ],
)

/** Wallets whose keys the service holds, each sealed with a data key of its own, which the vault's key wraps. */
export const wallet = service.table(
  'wallet',
  {
    id: text().primaryKey(),
    accountId: text()
      .notNull()
      .references(() => account.id),
    family: text().$type<Family>().notNull(),
    address: text().notNull(),
    name: text().notNull(),
    /** Which key of the vault wraps the data key. */
    vaultKeyId: text().notNull(),
    /** Base64. */
    wrappedKey: text().notNull(),
    sealedSecret: text().notNull(),
    createdAt: at('created_at').notNull().defaultNow(),
  },
  (t) => [uniqueIndex('wallet_address').on(t.address), index('wallet_account').on(t.accountId, t.createdAt)],
)

/**
 * The books of a managed wallet on a network, as of the last finalized block in which they and the chain agreed to the base unit:
 * balance = everything that came in - everything the service signed. What nobody signed for stops the wallet.
 */
export const walletBooks = service.table(
  'wallet_books',
  {
    network: text().notNull(),
    address: text().notNull(),
    /** Null before the first look, and after an operator has resumed the wallet: the next look opens the books anew. */
    height: bigint({ mode: 'number' }),
    balance: atomic(),
    /** EVM: how many transactions the wallet had sent. */
    nonce: bigint({ mode: 'number' }),
    /** Everything that came in since the books were opened, and what was there then. */
    received: atomic().notNull(),
    checkedAt: at('checked_at').notNull(),
    stoppedAt: at('stopped_at'),
    /** What was found, for the operator. */
    stopReason: text(),
  },
  (t) => [primaryKey({ columns: [t.network, t.address] })],
)

/** Append-only. `id` is handed out under a lock, so it grows in the order of commits and a reader's cursor misses nothing. */
export const event = service.table(
  'event',
  {
    id: bigserial({ mode: 'bigint' }).primaryKey(),
    accountId: text().notNull(),
    paymentId: text()
      .notNull()
      .references(() => payment.id),
    kind: text().$type<EventKind>().notNull().default('payment'),
    /** The payment's status from this event on. */
    status: text().$type<PaymentStatus>().notNull(),
    source: text().$type<EventSource>().notNull(),
    blockHeight: bigint({ mode: 'number' }),
    at: at('at').notNull().defaultNow(),
  },
  (t) => [index('event_payment').on(t.paymentId, t.id), index('event_account').on(t.accountId, t.id)],
)

/** How far a watcher has read a chain. */
export const chainCursor = service.table('chain_cursor', {
  network: text().primaryKey(),
  height: bigint({ mode: 'number' }).notNull(),
  /** The process whose watcher follows this network, and until when the others leave it alone. */
  holder: text(),
  leaseUntil: at('lease_until'),
})

/**
 * One row for each payment that was proven, whatever door the proof came through: what keeps a proof single for ever.
 * In flight it belongs to one attempt until a lease ends; consumed it belongs to a payment.
 */
export const claim = service.table(
  'claim',
  {
    network: text().notNull(),
    /** What the chain knows the payment by: `txid:<hash>`, `message:<sha256>`. Canonical: one payment has one key. */
    key: text().notNull(),
    accountId: text()
      .notNull()
      .references(() => account.id),
    /** SHA-256 over what was asked of the proof: only the same question gets the same answer again. */
    fingerprint: text().notNull(),
    attempt: text().notNull(),
    leaseUntil: at('lease_until').notNull(),
    paymentId: text().references(() => payment.id),
    /** JSON of the checks that led to the answer. */
    checks: text(),
    /** Base64 of the signed transaction that the service broadcasts. */
    transaction: text(),
    consumedAt: at('consumed_at'),
    createdAt: at('created_at').notNull().defaultNow(),
  },
  (t) => [primaryKey({ columns: [t.network, t.key] }), index('claim_payment').on(t.paymentId)],
)

/**
 * A proof that its payee was given a transaction for, to settle it alone: how the chain will show that it did. Building uses nothing up; the claim is
 * taken when the settlement lands, by the first payment that asked for it.
 */
export const settlementOrder = service.table(
  'settlement_order',
  {
    paymentId: text()
      .primaryKey()
      .references(() => payment.id),
    accountId: text()
      .notNull()
      .references(() => account.id),
    network: text().notNull(),
    /** The key of the claim to come. */
    key: text().notNull(),
    fingerprint: text().notNull(),
    /** The name the transaction will have on the chain, where all of it is signed. */
    signature: text(),
    /** Solana: the memo it will be found by. */
    memo: text(),
    /** Solana: no node takes it in a later block. */
    lastValidBlockHeight: bigint({ mode: 'number' }),
    /** JSON of the checks that held when it was built. */
    checks: text().notNull(),
    createdAt: at('created_at').notNull().defaultNow(),
  },
  (t) => [uniqueIndex('settlement_order_question').on(t.accountId, t.network, t.key, t.fingerprint)],
)
