import { sql } from 'drizzle-orm'
import { bigint, index, integer, text, uniqueIndex } from 'drizzle-orm/pg-core'
import { account } from './access.ts'
import { atomic, at, service } from './columns.ts'
import { payment } from './payment.ts'

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
    uniqueIndex('unmatched_transfer_signature').on(t.accountId, t.network, t.signature),
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
