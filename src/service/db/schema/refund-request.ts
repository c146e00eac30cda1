import { sql } from 'drizzle-orm'
import { index, integer, text, uniqueIndex } from 'drizzle-orm/pg-core'
import { account } from './access.ts'
import { at, atomic, service } from './columns.ts'
import { payment } from './payment.ts'

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
