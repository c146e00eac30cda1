import { bigint, integer, text } from 'drizzle-orm/pg-core'
import { at, service } from './columns.ts'

/** One row, made with the database: what a payer signs for this deployment means nothing to another one. */
export const deployment = service.table('deployment', {
  id: text().primaryKey(),
  /** How often the database was restored from a backup. */
  epoch: integer().notNull().default(0),
  restoredAt: at('restored_at'),
})

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
