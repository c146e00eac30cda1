import { bigint, index, primaryKey, text, uniqueIndex } from 'drizzle-orm/pg-core'
import type { Family } from '#contract/address.ts'
import { account } from './access.ts'
import { atomic, at, service } from './columns.ts'

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
