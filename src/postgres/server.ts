import { drizzle, type NodePgDatabase } from 'drizzle-orm/node-postgres'
import { migrate } from 'drizzle-orm/node-postgres/migrator'
import pg from 'pg'
import { openListener } from './listener.ts'
import { migrationConfig } from './migration-config.ts'
import type { Database, OpenDatabase, OpenOptions } from './open.ts'

/** Any query of ours that takes longer is a defect; it must not hold a connection. */
const STATEMENT_TIMEOUT_MS = 10_000
const CONNECT_TIMEOUT_MS = 5_000
const POOL_SIZE = 10

/** One number for all programs that share a database: two of them must not create the journal's schema at once. */
const MIGRATION_LOCK = 4_020_001

export async function openServer(url: string, options: OpenOptions): Promise<OpenDatabase> {
  const onWarning = options.onWarning ?? (() => {})
  await runMigrations(url, options, onWarning)
  const pool = new pg.Pool({
    connectionString: url,
    max: POOL_SIZE,
    application_name: `paydesk-${options.schema}`,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    statement_timeout: STATEMENT_TIMEOUT_MS,
    idle_in_transaction_session_timeout: STATEMENT_TIMEOUT_MS,
  })
  // A connection that breaks is replaced, and a transaction on it fails by its next query; without listeners of both its pool, which hears it
  // while it is idle, and its own, it would end the process.
  pool.on('error', () => {})
  pool.on('connect', (client) => void client.on('error', onWarning))
  const listener = openListener(
    () =>
      new pg.Client({
        connectionString: url,
        application_name: `paydesk-${options.schema}-listen`,
        keepAlive: true,
      }),
    onWarning,
  )
  return {
    db: asDatabase(drizzle(pool, { casing: 'snake_case' })),
    engine: 'postgres',
    listen: listener.listen,
    [Symbol.asyncDispose]: async () => {
      await listener.close()
      if (!pool.ended) await pool.end()
    },
  }
}

async function runMigrations(
  url: string,
  options: OpenOptions,
  onWarning: (error: Error) => void,
): Promise<void> {
  const client = new pg.Client({
    connectionString: url,
    application_name: `paydesk-${options.schema}-migrate`,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  })
  client.on('error', onWarning)
  await client.connect()
  try {
    await client.query('select pg_advisory_lock($1)', [MIGRATION_LOCK])
    await migrate(drizzle(client), migrationConfig(options))
  } finally {
    // Ending the session releases the lock.
    await client.end()
  }
}

/** The engine's result type carries more than `rows`; the shared type shows only what both engines have. */
function asDatabase(db: NodePgDatabase): Database {
  return db
}
