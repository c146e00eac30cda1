import { sql } from 'drizzle-orm'
import { bigint, bigserial, boolean, index, integer, primaryKey, text } from 'drizzle-orm/pg-core'
import type { Direction, PaymentStatus } from '#contract/payment.ts'
import { at, atomicSum, service } from './columns.ts'

/**
 * How many payments there are, what they sum up to, and what network fees they cost, so that a list need not count and an overview need not add up. The triggers
 * on `payment` and `settlement_fee` write what changed into `payment_change`, in the same transaction and without waiting for anyone, drafts left out; folding adds
 * it to `payment_tally`. A figure is the sum of both, exact in every snapshot.
 */

/** Days are whole ones since 1970, UTC. In this one stand the counts of all days. */
export const ALL_DAYS = -1

/** In place of a wallet: the whole account. There the direction is the payment's own. */
export const WHOLE_ACCOUNT = ''

/** In place of a direction: fees that the party paid without being the sender. No payment is counted there. */
export const FEE_ONLY = 'fee'

export const paymentChange = service.table('payment_change', {
  id: bigserial({ mode: 'bigint' }).primaryKey(),
  accountId: text().notNull(),
  sender: text().notNull(),
  recipient: text().notNull(),
  direction: text().$type<Direction>().notNull(),
  network: text().notNull(),
  asset: text().notNull(),
  symbol: text().notNull(),
  decimals: integer().notNull(),
  day: integer().notNull(),
  status: text().$type<PaymentStatus>().notNull(),
  /** How many more payments have all of this; negative for fewer. */
  delta: integer().notNull(),
  /** How much more they sum up to, in atomic units. */
  amount: atomicSum()
    .notNull()
    .default(sql`0`),
  /** Whether they refund other payments. */
  refund: boolean().notNull().default(false),
  /** How much more they cost in network fees, in native atomic units, and the wallet that paid them. */
  fee: atomicSum()
    .notNull()
    .default(sql`0`),
  feePayer: text(),
})

/** No column has a default: a process of an earlier version, which writes counts alone, fails and loses nothing. */
export const paymentTally = service.table(
  'payment_tally',
  {
    accountId: text().notNull(),
    party: text().notNull(),
    direction: text().$type<Direction | typeof FEE_ONLY>().notNull(),
    day: integer().notNull(),
    network: text().notNull(),
    asset: text().notNull(),
    status: text().$type<PaymentStatus>().notNull(),
    payments: bigint({ mode: 'number' }).notNull(),
    /** The sum of all of them, refunds included. */
    amount: atomicSum().notNull(),
    /** How many of them are refunds, and their sum. */
    refunds: bigint({ mode: 'number' }).notNull(),
    refunded: atomicSum().notNull(),
    /** Network fees that the party paid, in native atomic units. */
    fees: atomicSum().notNull(),
  },
  (t) => [
    primaryKey({
      columns: [t.accountId, t.party, t.direction, t.day, t.network, t.asset, t.status],
    }),
    index('payment_tally_empty')
      .on(t.accountId)
      .where(sql`payments = 0 and fees = 0`),
  ],
)

/**
 * An address that paid a wallet of the account and is none of its wallets. An EVM address is one customer on
 * all chains. Folding adds to both tables; a customer without a payment that is paid has no row.
 */
export const customer = service.table(
  'customer',
  {
    accountId: text().notNull(),
    wallet: text().notNull(),
    payments: bigint({ mode: 'number' }).notNull(),
    /** When the first and the last of these payments were created. */
    firstAt: at('first_at').notNull(),
    lastAt: at('last_at').notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.accountId, t.wallet] }),
    index('customer_payments').on(t.accountId, t.payments, t.wallet),
    index('customer_first').on(t.accountId, t.firstAt, t.wallet),
    index('customer_last').on(t.accountId, t.lastAt, t.wallet),
    /** People copy EVM addresses in lower case. */
    index('customer_start').on(t.accountId, sql`lower(wallet) text_pattern_ops`),
  ],
)

/** What a customer paid in one asset, and what went back of it, confirmed or finalized. */
export const customerTotal = service.table(
  'customer_total',
  {
    accountId: text().notNull(),
    wallet: text().notNull(),
    network: text().notNull(),
    asset: text().notNull(),
    symbol: text().notNull(),
    decimals: integer().notNull(),
    payments: bigint({ mode: 'number' }).notNull(),
    received: atomicSum().notNull(),
    refunds: bigint({ mode: 'number' }).notNull(),
    refunded: atomicSum().notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.accountId, t.wallet, t.network, t.asset] }),
    index('customer_total_empty')
      .on(t.accountId)
      .where(sql`payments = 0 and refunds = 0`),
  ],
)
