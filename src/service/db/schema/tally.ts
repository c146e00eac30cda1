import { sql } from 'drizzle-orm'
import { bigint, bigserial, index, integer, primaryKey, text } from 'drizzle-orm/pg-core'
import type { Direction, PaymentStatus } from '#contract/payment.ts'
import { service } from './columns.ts'

/**
 * How many payments there are, so that a list need not count them. The triggers on `payment` write what changed into `payment_change`,
 * in the same transaction and without waiting for anyone, drafts left out; folding adds it to `payment_tally`. The count is the sum of both, exact in every snapshot.
 */

/** Days are whole ones since 1970, UTC. In this one stand the counts of all days. */
export const ALL_DAYS = -1

/** In place of a wallet: the whole account. There the direction is the payment's own. */
export const WHOLE_ACCOUNT = ''

export const paymentChange = service.table('payment_change', {
  id: bigserial({ mode: 'bigint' }).primaryKey(),
  accountId: text().notNull(),
  sender: text().notNull(),
  recipient: text().notNull(),
  direction: text().$type<Direction>().notNull(),
  network: text().notNull(),
  asset: text().notNull(),
  day: integer().notNull(),
  status: text().$type<PaymentStatus>().notNull(),
  /** How many more payments have all of this; negative for fewer. */
  delta: integer().notNull(),
})

export const paymentTally = service.table(
  'payment_tally',
  {
    accountId: text().notNull(),
    party: text().notNull(),
    direction: text().$type<Direction>().notNull(),
    day: integer().notNull(),
    network: text().notNull(),
    asset: text().notNull(),
    status: text().$type<PaymentStatus>().notNull(),
    payments: bigint({ mode: 'number' }).notNull(),
  },
  (t) => [
    primaryKey({
      columns: [t.accountId, t.party, t.direction, t.day, t.network, t.asset, t.status],
    }),
    index('payment_tally_empty')
      .on(t.accountId)
      .where(sql`payments = 0`),
  ],
)
