import { sql } from 'drizzle-orm'
import { bigint, boolean, index, primaryKey, text, uniqueIndex } from 'drizzle-orm/pg-core'
import { account } from './access.ts'
import { payment } from './payment.ts'
import { at, atomic, service } from './columns.ts'

/**
 * One row per transfer and claimant, whichever endpoint it came through: a transfer pays one order or one resource.
 * In flight it belongs to one attempt until a lease ends; consumed it belongs to a payment.
 */
export const claim = service.table(
  'claim',
  {
    /** Whom the claim binds: an account, or all callers without a key. */
    scope: text().notNull(),
    /** Made by the owner of the payee: it binds everybody, permanently. So does every claim made before wallets had owners. */
    exclusive: boolean().notNull(),
    network: text().notNull(),
    /** What the chain knows the payment by: `txid:<hash>`, `message:<sha256>`. Canonical: one payment has one key. */
    key: text().notNull(),
    accountId: text()
      .notNull()
      .references(() => account.id),
    /** SHA-256 over what was asked of the proof: only the same question gets the same answer again. */
    fingerprint: text().notNull(),
    attempt: text().notNull(),
    /** The call that was granted last; null where none was, and in rows from before this was recorded. */
    grantedCall: text(),
    leaseUntil: at('lease_until').notNull(),
    paymentId: text().references(() => payment.id),
    /** JSON of the checks that led to the answer. */
    checks: text(),
    /** Base64 of the signed transaction that the service broadcasts. */
    transaction: text(),
    consumedAt: at('consumed_at'),
    createdAt: at('created_at').notNull().defaultNow(),
  },
  (t) => [
    primaryKey({ columns: [t.scope, t.network, t.key] }),
    uniqueIndex('claim_exclusive')
      .on(t.network, t.key)
      .where(sql`exclusive`),
    index('claim_payment').on(t.paymentId),
    // What a merchant's inbox reads: few rows of many, and its own alone. The account is the payment's.
    index('claim_ungranted')
      .on(t.accountId, t.paymentId)
      .where(
        sql`attempt not in ('order', 'assigned', 'granted', 'delivered') and consumed_at is not null`,
      ),
    index('claim_transfer').on(t.network, t.key),
  ],
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
  (t) => [
    uniqueIndex('settlement_order_question').on(t.accountId, t.network, t.key, t.fingerprint),
  ],
)

/**
 * Funds that a payer has promised by a signature that was verified, until it is settled or this ends. It keeps other verifications from counting the same
 * funds; settling needs none.
 */
export const reservation = service.table(
  'reservation',
  {
    network: text().notNull(),
    payer: text().notNull(),
    asset: text().notNull(),
    /** The key of the claim to come, which holds the authorization's nonce. */
    key: text().notNull(),
    amount: atomic().notNull(),
    expiresAt: at('expires_at').notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.network, t.payer, t.asset, t.key] }),
    index('reservation_expires').on(t.expiresAt),
  ],
)

/**
 * The id that a payer gave a payment to a payee (`payment-identifier` of x402), and the payment that it was presented with: another one under the same id is
 * refused as long as that one may still land.
 */
export const paymentIdentifier = service.table(
  'payment_identifier',
  {
    network: text().notNull(),
    payee: text().notNull(),
    payer: text().notNull(),
    identifier: text().notNull(),
    asset: text().notNull(),
    amount: atomic().notNull(),
    /** The key of the payment's claim. */
    key: text().notNull(),
    /** The height at which it was first presented; an authorization was unused then. */
    builtHeight: bigint({ mode: 'number' }).notNull(),
    /** The end of what was signed, where the signature says one. */
    expiresAt: at('expires_at'),
    createdAt: at('created_at').notNull().defaultNow(),
  },
  (t) => [
    primaryKey({ columns: [t.payee, t.payer, t.identifier] }),
    index('payment_identifier_created').on(t.createdAt),
  ],
)

/**
 * The network fee that a wallet of the operator pays for settling a payment, for the budgets of a day: the most it may be until a receipt shows it.
 */
export const settlementFee = service.table(
  'settlement_fee',
  {
    paymentId: text()
      .primaryKey()
      .references(() => payment.id),
    network: text().notNull(),
    wallet: text().notNull(),
    /** For whom: an account, or `keyless` for all callers without a key. */
    scope: text().notNull(),
    /** Native atomic units. */
    reserved: atomic().notNull(),
    /** Null until a receipt shows it; 0 when nothing of it can land any more. */
    paid: atomic(),
    createdAt: at('created_at')
      .notNull()
      .default(sql`clock_timestamp()`),
  },
  (t) => [
    index('settlement_fee_wallet').on(t.network, t.wallet, t.createdAt),
    index('settlement_fee_scope').on(t.network, t.scope, t.createdAt),
  ],
)

/**
 * Payers whose own code made a settlement fail after a good simulation, so that a wallet of the operator paid for nothing.
 */
export const refusedPayer = service.table(
  'refused_payer',
  {
    network: text().notNull(),
    payer: text().notNull(),
    /** The payment whose settlement failed. */
    paymentId: text()
      .notNull()
      .references(() => payment.id),
    /** The transaction of ours that it made fail. */
    transaction: text().notNull(),
    refusedUntil: at('refused_until').notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.network, t.payer] }),
    index('refused_payer_until').on(t.refusedUntil),
  ],
)
