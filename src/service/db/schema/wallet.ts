import { sql } from 'drizzle-orm'
import { bigint, check, index, integer, primaryKey, text, uniqueIndex } from 'drizzle-orm/pg-core'
import type { Family } from '#contract/address.ts'
import type { OwnershipProof, WalletKind } from '#contract/wallet.ts'
import { account } from './access.ts'
import { atomic, at, service } from './columns.ts'

/**
 * Wallets whose keys the service holds, each sealed with a separate data key, which the vault's key
 * wraps.
 */
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
  (t) => [
    uniqueIndex('wallet_address').on(t.address),
    index('wallet_account').on(t.accountId, t.createdAt),
  ],
)

/**
 * Which account owns a wallet: this decides the direction of payments and who may use up proofs
 * that pay it. An address that a key controls is owned per family (`evm`, `solana`), a contract per
 * chain (its CAIP-2 id).
 */
export const walletOwner = service.table(
  'wallet_owner',
  {
    id: text().primaryKey(),
    scope: text().notNull(),
    address: text().notNull(),
    accountId: text()
      .notNull()
      .references(() => account.id),
    kind: text().$type<WalletKind>().notNull(),
    proof: text().$type<OwnershipProof>().notNull(),
    /** What the wallet signed, and its signature. */
    message: text(),
    signature: text(),
    createdAt: at('created_at').notNull().defaultNow(),
    releasedAt: at('released_at'),
  },
  (t) => [
    uniqueIndex('wallet_owner_wallet')
      .on(t.scope, t.address)
      .where(sql`released_at is null`),
    index('wallet_owner_address').on(t.address),
    index('wallet_owner_account').on(t.accountId, t.createdAt),
  ],
)

/** A text that a wallet signs to prove that an account owns it. Used once. */
export const walletChallenge = service.table('wallet_challenge', {
  id: text().primaryKey(),
  accountId: text()
    .notNull()
    .references(() => account.id),
  address: text().notNull(),
  /** CAIP-2 id of the chain where a contract is asked; null where the key itself signs. */
  network: text(),
  message: text().notNull(),
  expiresAt: at('expires_at').notNull(),
})

/**
 * The ledger of a managed wallet on a network, as of the last finalized block in which they matched
 * the chain to the base unit: balance = everything received - everything the service signed. An
 * outflow that nobody signed for stops the wallet.
 */
export const walletLedger = service.table(
  'wallet_ledger',
  {
    network: text().notNull(),
    address: text().notNull(),
    /**
     * Null before the first check, and after an operator has resumed the wallet: the next check
     * opens the ledger again.
     */
    height: bigint({ mode: 'number' }),
    balance: atomic(),
    /** EVM: how many transactions the wallet had sent. */
    nonce: bigint({ mode: 'number' }),
    /** EVM: the hash of the block at the height. */
    blockHash: text(),
    /** Everything received since the ledger was opened, and the balance at that time. */
    received: atomic().notNull(),
    checkedAt: at('checked_at').notNull(),
    stoppedAt: at('stopped_at'),
    /** What was found, for the operator. */
    stopReason: text(),
    /**
     * The epoch of the deployment in which everything the wallet has signed was found in the rows,
     * or an operator has decided over the rest.
     */
    affirmedEpoch: integer().notNull().default(0),
    /** JSON: the nonces or signatures that no row explains and that an operator has to decide over. */
    unaccounted: text(),
    /** JSON: those that an operator accepted, oldest first. */
    accepted: text(),
  },
  (t) => [primaryKey({ columns: [t.network, t.address] })],
)

/** One row, made with the database: what a payer signs for this deployment means nothing to another one. */
export const deployment = service.table('deployment', {
  id: text().primaryKey(),
  /** How often the database was restored from a backup. */
  epoch: integer().notNull().default(0),
  restoredAt: at('restored_at'),
})

/**
 * One row at most: the history of the server's log that this database was used on last. Another one means that the server
 * was replaced (`src/postgres/server.ts`). None after a restore: the next start writes it.
 */
export const postgresTimeline = service.table(
  'postgres_timeline',
  { id: integer().primaryKey().default(1), timeline: text().notNull() },
  (t) => [check('postgres_timeline_one_row', sql`${t.id} = 1`)],
)

/** What is known of a network since the last restore. */
export const networkAffirmation = service.table('network_affirmation', {
  network: text().primaryKey(),
  epoch: integer().notNull(),
  /** The block height when a service first asked after the restore. */
  begunAtHeight: bigint({ mode: 'number' }).notNull(),
  /**
   * The height (Solana: slot) when granting went on. A payment that landed up to here may have been
   * granted before the restore. Null until then.
   */
  affirmedHeight: bigint({ mode: 'number' }),
})
