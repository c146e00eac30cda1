import { drizzle, type NodePgDatabase } from 'drizzle-orm/node-postgres'
import { migrate } from 'drizzle-orm/node-postgres/migrator'
import pg from 'pg'
import type { Client } from 'pg'
import {
  manageTransactions,
  type Database,
  type OpenDatabase,
  type OpenOptions,
  migrationConfig,
  repeatRolledBack,
} from './open.ts'
import { grantRights, readRole, requireMigrated } from './runtime-role.ts'

/** Any query of ours that takes longer is a defect; it must not hold a connection. */
const STATEMENT_TIMEOUT_MS = 10_000
const CONNECT_TIMEOUT_MS = 5_000
const KEEP_ALIVE_MS = 10_000
const POOL_SIZE = 10

/** One number for all programs that share a database: two of them must not create the journal's schema at once. */
const MIGRATION_LOCK = 4_020_001

/** A server. `migrationUrl`: of the role that owns the tables, where `url` has another role. */
type ServerTarget = { url: string; migrationUrl?: string }

export async function openServer(
  { url, migrationUrl }: ServerTarget,
  options: OpenOptions,
): Promise<OpenDatabase> {
  const onWarning = options.onWarning ?? (() => {})
  const ownsTables = await prepareSchema({ url, migrationUrl }, options)
  const pool = new pg.Pool({
    connectionString: url,
    max: POOL_SIZE,
    application_name: `paydesk-${options.schema}`,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    // A server that vanishes without a word is noticed: a query that waits for its answer would never end.
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    statement_timeout: STATEMENT_TIMEOUT_MS,
    idle_in_transaction_session_timeout: STATEMENT_TIMEOUT_MS,
  })
  // A connection that breaks is replaced, and a transaction on it fails by its next query; without listeners of both its pool, which hears it
  // while it is idle, and its own, it would end the process.
  pool.on('error', () => {})
  pool.on('connect', (client) => void client.on('error', onWarning))
  repeatStatements(pool)
  const listener = openListener(
    () =>
      new pg.Client({
        connectionString: url,
        application_name: `paydesk-${options.schema}-listen`,
        connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
        keepAlive: true,
      }),
    onWarning,
  )
  return {
    db: asDatabase(drizzle(pool, { casing: 'snake_case' })),
    engine: 'postgres',
    ownsTables,
    readPool: () => ({
      idle: pool.idleCount,
      used: pool.totalCount - pool.idleCount,
      waiting: pool.waitingCount,
    }),
    listen: listener.listen,
    [Symbol.asyncDispose]: async () => {
      await listener.close()
      if (!pool.ended) await pool.end()
    },
  }
}

/**
 * Migrates as the role that may, and grants the runtime role its rights. A runtime role without an
 * owner beside it changes nothing and only checks.
 * @returns whether the role of `url` owns the tables
 */
async function prepareSchema(
  { url, migrationUrl }: ServerTarget,
  options: OpenOptions,
): Promise<boolean> {
  const { schema } = options
  if (migrationUrl !== undefined) {
    const { name } = await connected(url, options, (client) => readRole(client, schema))
    await connected(migrationUrl, options, async (owner) => {
      await runMigrations(owner, options)
      if ((await readRole(owner, schema)).name !== name) await grantRights(owner, name, options)
    })
  }
  return connected(url, options, async (client) => {
    const { name, owns, migrates } = await readRole(client, schema)
    if (migrationUrl === undefined && migrates) {
      await runMigrations(client, options)
      return true
    }
    await requireMigrated(client, name, options)
    return owns
  })
}

/** Under a lock that ends with the session. */
async function runMigrations(client: Client, options: OpenOptions): Promise<void> {
  await client.query('select pg_advisory_lock($1)', [MIGRATION_LOCK])
  // Programs of the former version use the tables meanwhile, and a deadlock may choose this one.
  await repeatRolledBack(() => migrate(drizzle(client), migrationConfig(options)))
}

/** What is queried of the pool itself is one statement and one transaction. */
function repeatStatements(pool: pg.Pool): void {
  const query = pool.query.bind(pool)
  Object.assign(pool, {
    query: (config: pg.QueryConfig, values?: unknown[]) =>
      repeatRolledBack(() => query(config, values)),
  })
}

async function connected<T>(
  url: string,
  { schema, onWarning = () => {} }: OpenOptions,
  work: (client: Client) => Promise<T>,
): Promise<T> {
  const client = new pg.Client({
    connectionString: url,
    application_name: `paydesk-${schema}-migrate`,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  })
  client.on('error', onWarning)
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

/** The engine's result type carries more than `rows`; the shared type shows only what both engines have. */
function asDatabase(db: NodePgDatabase): Database {
  return manageTransactions(db)
}

const RECONNECT_FIRST_MS = 100
const RECONNECT_MOST_MS = 5_000

type Heard = (payload: string) => void

type Listener = {
  listen(channel: string, on: Heard): Promise<() => Promise<void>>
  close(): Promise<void>
}

/**
 * LISTEN on a separate connection, opened with the first listener. When the connection breaks it is
 * opened again, and every listener is called with an empty payload, because notifications sent
 * meanwhile are lost.
 */
function openListener(createClient: () => Client, onWarning: (error: Error) => void): Listener {
  const channels = new Map<string, Set<Heard>>()
  let connected: Promise<Client> | undefined
  let retry: NodeJS.Timeout | undefined
  let closed = false

  async function connect(): Promise<Client> {
    const client = createClient()
    client.on('error', onWarning)
    client.on('notification', ({ channel, payload }) => {
      for (const on of channels.get(channel) ?? []) on(payload ?? '')
    })
    await client.connect()
    client.once('end', () => {
      if (!closed) reconnect(RECONNECT_FIRST_MS)
    })
    for (const channel of channels.keys()) await client.query(`listen ${quote(channel)}`)
    return client
  }

  function reconnect(delayMs: number): void {
    connected = undefined
    clearTimeout(retry)
    retry = setTimeout(() => {
      retry = undefined
      connected = connect()
      connected.then(
        () => {
          for (const listeners of channels.values()) for (const on of listeners) on('')
        },
        (error: Error) => {
          onWarning(error)
          if (!closed) reconnect(Math.min(delayMs * 2, RECONNECT_MOST_MS))
        },
      )
    }, delayMs)
  }

  return {
    async listen(channel, on) {
      const listeners = channels.get(channel) ?? new Set()
      listeners.add(on)
      channels.set(channel, listeners)
      // A reconnect that is waiting will include the new channel.
      if (!retry) connected ??= connect()
      try {
        const client = await connected
        await client?.query(`listen ${quote(channel)}`)
      } catch (error) {
        listeners.delete(on)
        connected = undefined
        throw error
      }
      return async () => {
        listeners.delete(on)
        if (listeners.size > 0 || channels.get(channel) !== listeners) return
        channels.delete(channel)
        const client = await connected?.catch(() => undefined)
        // A closed connection listens to nothing.
        await client?.query(`unlisten ${quote(channel)}`).catch(onWarning)
      }
    },
    async close() {
      closed = true
      clearTimeout(retry)
      channels.clear()
      const client = await connected?.catch(() => undefined)
      await client?.end()
    },
  }
}

function quote(channel: string): string {
  if (!/^[a-z_]{1,63}$/.test(channel))
    throw new TypeError(`Expected a plain lower-case channel name, received ${channel}.`)
  return `"${channel}"`
}
