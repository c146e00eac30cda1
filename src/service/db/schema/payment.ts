import { sql } from 'drizzle-orm'
import {
  bigint,
  bigserial,
  boolean,
  check,
  index,
  integer,
  primaryKey,
  text,
  uniqueIndex,
} from 'drizzle-orm/pg-core'
import type { EventKind } from '#contract/event.ts'
import type {
  Direction,
  EventSource,
  Evidence,
  PaymentMode,
  PaymentStatus,
} from '#contract/payment.ts'
import { account } from './access.ts'
import { searchExpressions, atomic, at, service } from './columns.ts'

/**
 * An order that a transfer with its terms may have evidence for without its fees: what a visitor has
 * built in another's name is none.
 */
export const mayHaveEvidence = 'not draft or sender_verified or payer_nonce is not null'

/** An order to an own wallet that a chain with memos may show a further transfer for, although nothing is awaited for it any more. */
export const endedOrder =
  "mode = 'local' and status in ('confirmed', 'finalized', 'failed') and direction <> 'sent' and network like 'solana:%'"

export const payment = service.table(
  'payment',
  {
    id: text().primaryKey(),
    accountId: text()
      .notNull()
      .references(() => account.id),
    mode: text().$type<PaymentMode>().notNull(),
    status: text().$type<PaymentStatus>().notNull(),
    /**
     * From the account's point of view, by the wallets it owns. A trigger sets it on every insert,
     * with the function `payment_direction`.
     */
    direction: text().$type<Direction>().notNull().default('external'),
    /**
     * An order of an unverified visitor that nothing ties to its payer: not a payment yet, and in
     * no list, figure or feed.
     */
    draft: boolean().notNull().default(false),
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
    /** Local mode: the caller has verified that its user controls the sender. */
    senderVerified: boolean().notNull().default(false),
    /**
     * EVM, local mode: both fees per gas as built, with random digits:
     * `<maxFeePerGas>:<maxPriorityFeePerGas>`. Null without enough digits.
     */
    fingerprint: text(),
    /** EVM: the payer's signature over the order and the nonce of its transaction, checked. */
    payerSignature: text(),
    payerNonce: bigint({ mode: 'number' }),
    /** What ties the landed transaction to this order; null before. */
    evidence: text().$type<Evidence>(),
    /** The payment that this one refunds, in whole or in part. */
    refundOf: text(),
    /** Why it was refunded, in the words of the person who did it. */
    refundReason: text(),
    refundNote: text(),
    signature: text(),
    /**
     * What a client says it broadcast, until the chain shows it. Proves and reserves nothing:
     * `signature` is set only from the chain.
     */
    reportedSignature: text(),
    blockHeight: bigint({ mode: 'number' }),
    blockHash: text(),
    /** When the block was made, by the chain; null where the chain does not say. */
    blockTime: at('block_time'),
    /** Network fee paid, native atomic units. */
    fee: atomic(),
    /** The wallet that the chain took it from; null in rows from before this was recorded. */
    feePayer: text(),
    /** When a migration removed a fee that another payment of the same transaction has: a former version wrote it to both. */
    feeCorrectedAt: at('fee_corrected_at'),
    failure: text(),
    paymentProof: text(),
    /**
     * Hosted mode: the key of the payer's request and what it asked, kept permanently: a repeated
     * request finds its payment even if everything else was lost.
     */
    idempotencyKey: text(),
    idempotencyFingerprint: text(),
    /**
     * Hosted mode: the tip for the validator, and the most the network may charge: both stay
     * reserved until the chain has taken them.
     */
    priorityFee: atomic(),
    maxFee: atomic(),
    /** When it left the payer, as far as the service was told before it landed. */
    broadcastAt: at('broadcast_at'),
    confirmedAt: at('confirmed_at'),
    createdAt: at('created_at').notNull().defaultNow(),
    updatedAt: at('updated_at').notNull().defaultNow(),
  },
  (t) => [
    /**
     * A transaction is one payment per account. Another account may record the same transaction in
     * its own ledger; `claim` decides what it pays for.
     */
    uniqueIndex('payment_signature')
      .on(t.accountId, t.network, t.signature)
      .where(sql`signature is not null and mode <> 'received'`),
    /** Two orders with the same terms never have the same fees. */
    uniqueIndex('payment_fingerprint')
      .on(t.network, t.sender, t.recipient, t.asset, t.amount, t.fingerprint)
      .where(sql`fingerprint is not null`),
    index('payment_account')
      .on(t.accountId, t.createdAt, t.id)
      .where(sql`not draft`),
    /** The entries of a period of an account's books. */
    index('payment_landed')
      .on(t.accountId, sql.raw(searchExpressions.landedAt), t.id)
      .where(sql.raw(`not draft and ${searchExpressions.hasLanded}`)),
    index('payment_sender')
      .on(t.accountId, t.sender, t.createdAt, t.id)
      .where(sql`not draft`),
    index('payment_recipient')
      .on(t.accountId, t.recipient, t.createdAt, t.id)
      .where(sql`not draft`),
    index('payment_status')
      .on(t.accountId, t.status, t.createdAt, t.id)
      .where(sql`not draft`),
    index('payment_direction')
      .on(t.accountId, t.direction, t.createdAt, t.id)
      .where(sql`not draft`),
    /** The first and the last payment of a customer. */
    index('payment_customer')
      .on(t.accountId, t.sender, t.createdAt)
      .where(
        sql`direction = 'received' and refund_of is null and not draft and status in ('confirmed', 'finalized')`,
      ),
    index('payment_draft')
      .on(t.accountId, t.createdAt, t.id)
      .where(sql`draft`),
    /** Drafts whose text has not been erased yet. */
    index('payment_draft_text')
      .on(t.createdAt)
      .where(sql`draft and unsigned_transaction is not null`),
    /**
     * Orders that one transfer could pay, and payments between two wallets that are looked at
     * together.
     */
    index('payment_pair').on(t.accountId, t.sender, t.recipient),
    /** The orders between two wallets that a transfer may still pay, without what was received. */
    index('payment_payable')
      .on(t.accountId, t.sender, t.recipient)
      .where(sql`mode = 'local' and status in ('created', 'pending', 'rolled_back', 'expired')`),
    index('payment_refund')
      .on(t.refundOf)
      .where(sql`refund_of is not null`),
    /** The payments of an account of which something went back. */
    index('payment_refunded')
      .on(t.accountId, t.refundOf)
      .where(sql`refund_of is not null and status in ('confirmed', 'finalized')`),
    index('payment_any_signature')
      .on(t.accountId, t.signature)
      .where(sql`signature is not null`),
    // Covers all rows: with a partial index, Postgres ignores its statistics of the expression,
    // takes every text for common, and reads all payments.
    index('payment_resource').on(
      t.accountId,
      sql.raw(`${searchExpressions.resourceStart} text_pattern_ops`),
    ),
    /**
     * One account's words: its mark is one of them. The function says that it is expensive, so that
     * no rare word is looked for in all payments.
     */
    index('payment_words').using('gin', sql.raw(searchExpressions.words)),
    index('payment_amount').on(t.accountId, sql.raw(searchExpressions.scaledAmount)),
    index('payment_reference').on(t.accountId, sql.raw(searchExpressions.referenceStart)),
    /** What the watchers still follow. */
    index('payment_open')
      .on(t.network, t.status)
      .where(sql`status in ('created', 'pending', 'confirmed', 'rolled_back')`),
    /** Expired payments the chain may still show: of presented proofs, and all others. */
    index('payment_expired_received')
      .on(t.network, t.expiresAt, t.id)
      .where(sql`status = 'expired' and mode = 'received'`),
    index('payment_expired')
      .on(t.network, t.expiresAt, t.id)
      .where(sql`status = 'expired' and mode <> 'received'`),
    /** Those that a transfer with their terms may still pay. */
    index('payment_expired_terms')
      .on(
        t.network,
        t.sender,
        t.recipient,
        t.asset,
        t.amount,
        sql.raw(`(${mayHaveEvidence})`),
        t.expiresAt,
      )
      .where(sql`status = 'expired' and mode <> 'received'`),
    /** A nonce queue: one sender on one network uses each nonce once. */
    uniqueIndex('payment_nonce')
      .on(t.network, t.sender, t.nonce)
      .where(sql`mode = 'hosted' and nonce is not null`),
    index('payment_nonce_queue')
      .on(t.network, t.sender, t.blockHeight)
      .where(sql`mode = 'hosted'`),
    /** What changed in a nonce queue since it was last compared with its chain. */
    index('payment_nonce_queue_changed')
      .on(t.network, t.sender, t.updatedAt)
      .where(sql`mode = 'hosted'`),
    /** Payments of others that wallets settle, by height: a nonce queue pays their fees too. */
    index('payment_settled')
      .on(t.network, t.blockHeight)
      .where(sql`mode = 'received'`),
    /** Orders that a transfer may name after they have ended. */
    index('payment_ended').on(t.network, t.updatedAt).where(sql.raw(endedOrder)),
    uniqueIndex('payment_idempotency')
      .on(t.accountId, t.idempotencyKey)
      .where(sql`idempotency_key is not null`),
    check('payment_amount_positive', sql`amount > 0`),
  ],
)

/**
 * Every transaction the service has signed for a payment, written before it is broadcast. Never
 * changed except for the broadcast time.
 */
export const attempt = service.table(
  'attempt',
  {
    paymentId: text()
      .notNull()
      .references(() => payment.id),
    number: integer().notNull(),
    network: text().notNull(),
    /**
     * The managed wallet that signed to pay the network fee, where it is not the payment's sender:
     * settlements of what others signed.
     */
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
    /** What a wallet broadcast for others since it was last compared with its chain. */
    index('attempt_broadcast')
      .on(t.network, t.signer, t.broadcastAt)
      .where(sql`signer is not null`),
  ],
)

/**
 * Append-only. Writers leave `number` empty; one process numbers what has been committed, so that
 * numbers become visible in their own order and a reader's cursor misses nothing.
 */
export const event = service.table(
  'event',
  {
    /** Says nothing of the order of commits, but of the events of one payment. */
    id: bigserial({ mode: 'bigint' }).primaryKey(),
    number: bigint({ mode: 'bigint' }),
    accountId: text().notNull(),
    paymentId: text()
      .notNull()
      .references(() => payment.id),
    kind: text().$type<EventKind>().notNull().default('payment'),
    /** The payment's status from this event on. */
    status: text().$type<PaymentStatus>().notNull(),
    source: text().$type<EventSource>().notNull(),
    blockHeight: bigint({ mode: 'number' }),
    /**
     * Whether it is of a draft, so that no feed shows it. Triggers set it with the event and clear
     * it with the draft.
     */
    draft: boolean().notNull().default(false),
    at: at('at').notNull().defaultNow(),
  },
  (t) => [
    index('event_payment').on(t.paymentId, t.id),
    index('event_account')
      .on(t.accountId, t.number)
      .where(sql`not draft`),
    uniqueIndex('event_number').on(t.number),
    index('event_unnumbered')
      .on(t.id)
      .where(sql`number is null`),
  ],
)

/** One row: the newest number of an event, and the process that numbers, until when. */
export const eventNumbering = service.table('event_numbering', {
  id: integer().primaryKey(),
  last: bigint({ mode: 'bigint' }).notNull(),
  holder: text(),
  leaseUntil: at('lease_until'),
})

/** How far a watcher has read a chain. */
export const chainCursor = service.table('chain_cursor', {
  network: text().primaryKey(),
  height: bigint({ mode: 'number' }).notNull(),
  /** The process whose watcher follows this network, and until when the others leave it alone. */
  holder: text(),
  leaseUntil: at('lease_until'),
})

/**
 * A payer's signed request for a refund of a payment. Whether it is refunded follows from the refunds of the payment; only what a person decided is
 * written here.
 */
export const refundRequest = service.table(
  'refund_request',
  {
    id: text().primaryKey(),
    /** That of the payment. */
    accountId: text()
      .notNull()
      .references(() => account.id),
    paymentId: text()
      .notNull()
      .references(() => payment.id),
    number: integer().notNull(),
    amount: atomic().notNull(),
    /** A customer's text. */
    reason: text(),
    signature: text().notNull(),
    /** Refunds that were there when it was made: they answer no part of it. Exact, because refunds of a payment follow each other. */
    earlierRefunds: text().array().notNull(),
    createdAt: at('created_at').notNull(),
    declinedAt: at('declined_at'),
    declinedBy: text(),
    declineNote: text(),
    /** When refunds that cover it were final: it is no longer among those that may be open. */
    settledAt: at('settled_at'),
  },
  (t) => [
    uniqueIndex('refund_request_number').on(t.paymentId, t.number),
    index('refund_request_open')
      .on(t.accountId, t.createdAt, t.id)
      .where(sql`declined_at is null and settled_at is null`),
  ],
)

/**
 * A transfer to an owned wallet that fits one or more orders, and that nothing ties to any of them. It is kept apart from payments until evidence comes,
 * or until a person assigns it; assigning moves no order.
 */
export const unmatchedTransfer = service.table(
  'unmatched_transfer',
  {
    id: text().primaryKey(),
    /** The owner of the recipient. */
    accountId: text()
      .notNull()
      .references(() => account.id),
    network: text().notNull(),
    signature: text().notNull(),
    sender: text().notNull(),
    recipient: text().notNull(),
    asset: text().notNull(),
    symbol: text().notNull(),
    decimals: integer().notNull(),
    amount: atomic().notNull(),
    /** EVM: the nonce of the transaction. */
    nonce: bigint({ mode: 'number' }),
    /**
     * The key of the authorization that moved it, where a third party executed what its payer had signed: one transaction may execute many. Empty for what
     * the transaction itself transfers, and for rows from before this was recorded.
     */
    authorizationKey: text().notNull().default(''),
    blockHeight: bigint({ mode: 'number' }).notNull(),
    blockHash: text(),
    blockTime: at('block_time'),
    createdAt: at('created_at').notNull().defaultNow(),
    /** Until then its block may be replaced. */
    finalizedAt: at('finalized_at'),
    /** The order it pays after all, by evidence that came later, or by a proof. */
    matchedPaymentId: text().references(() => payment.id),
    /** The order that a person assigned it to, who did, and why. */
    assignedPaymentId: text().references(() => payment.id),
    assignedBy: text(),
    assignedAt: at('assigned_at'),
    assignedNote: text(),
  },
  (t) => [
    uniqueIndex('unmatched_transfer_signature').on(
      t.accountId,
      t.network,
      t.signature,
      t.authorizationKey,
    ),
    index('unmatched_transfer_open')
      .on(t.accountId, t.createdAt, t.id)
      .where(sql`matched_payment_id is null`),
    /** Transfers that an order may fit, among those of its payer. */
    index('unmatched_transfer_sender')
      .on(t.accountId, t.sender)
      .where(sql`matched_payment_id is null`),
    /** An order has one transfer assigned at most. */
    uniqueIndex('unmatched_transfer_assigned')
      .on(t.assignedPaymentId)
      .where(sql`assigned_payment_id is not null`),
    index('unmatched_transfer_unsettled')
      .on(t.network)
      .where(sql`finalized_at is null and matched_payment_id is null`),
  ],
)
