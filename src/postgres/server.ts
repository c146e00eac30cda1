import { Socket } from 'node:net'
import { callbackify } from 'node:util'
import { drizzle, type NodePgDatabase } from 'drizzle-orm/node-postgres'
import { migrate } from 'drizzle-orm/node-postgres/migrator'
import pg from 'pg'
import type { Client, ClientBase } from 'pg'
import {
  FailoverError,
  manageTransactions,
  type Database,
  type OpenDatabase,
  type OpenOptions,
  migrationConfig,
  repeatRolledBack,
} from './open.ts'
import { grantRights, PoolerError, readRole } from './runtime-role.ts'
import { refuseNewer, requireMigrated } from './schema-version.ts'

/** Any query of ours that takes longer is a defect; it must not hold a connection. */
const STATEMENT_TIMEOUT_MS = 10_000
const CONNECT_TIMEOUT_MS = 5_000
/** A server that vanishes without a word is noticed: a query that waits for its answer would never end. And no router drops a connection on which a statement takes long. */
const KEEP_ALIVE = { keepAlive: true, keepAliveInitialDelayMillis: 10_000 }
/**
 * A server that sends nothing for so long while it is asked is frozen, or out of reach: Postgres ends each
 * statement of ours before. Only a commit that waits for a standby may take longer; then nobody knows whether it is durable, as
 * with every lost connection.
 */
const SILENT_MS = STATEMENT_TIMEOUT_MS + 5_000
/** The connection of LISTEN asks by itself, so that silence means something there too. */
const HEARTBEAT_MS = 5_000
/** A standby: the connection leads to a server that was demoted, or not promoted yet. */
const READ_ONLY = '25006'
const POOL_SIZE = 10

/** One number for all programs that share a database: two of them must not create the journal's schema at once. */
const MIGRATION_LOCK = 4_020_001

/**
 * A server. `migrationUrl`: of the role that owns the tables, where `url` has another role. `directUrl`: the
 * same database and role as `url`, where `url` leads through a connection pooler.
 */
type ServerTarget = { url: string; migrationUrl?: string; directUrl?: string }

export async function openServer(
  { url, migrationUrl, directUrl }: ServerTarget,
  options: OpenOptions,
): Promise<OpenDatabase> {
  const onWarning = options.onWarning ?? (() => {})
  const ownsTables = await prepareSchema({ url, migrationUrl, directUrl }, options)
  if (directUrl !== undefined) await requireTimeouts(url, options)
  const pool = new pg.Pool({
    verify: callbackify(refuseFailover(options, onWarning)),
    connectionString: url,
    max: POOL_SIZE,
    application_name: `paydesk-${options.schema}`,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    ...KEEP_ALIVE,
    // A pooler refuses them: there they are settings of the role.
    ...(directUrl === undefined && {
      statement_timeout: STATEMENT_TIMEOUT_MS,
      idle_in_transaction_session_timeout: STATEMENT_TIMEOUT_MS,
    }),
  })
  // A connection that breaks is replaced, and a transaction on it fails by its next query; without listeners of both its pool, which hears it
  // while it is idle, and its own, it would end the process.
  pool.on('error', () => {})
  pool.on('connect', (client) => {
    client.on('error', onWarning)
    if (client instanceof pg.Client) abandonLost(client)
  })
  await requireSameServer(pool)
  repeatStatements(pool)
  releaseFailedBegins(pool)
  const listener = openListener(
    () =>
      new pg.Client({
        connectionString: directUrl ?? url,
        application_name: `paydesk-${options.schema}-listen`,
        connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
        ...KEEP_ALIVE,
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
  { url: pooledUrl, migrationUrl, directUrl }: ServerTarget,
  options: OpenOptions,
): Promise<boolean> {
  const { schema } = options
  const url = directUrl ?? pooledUrl
  await connected(url, options, (client) =>
    requireSession(client, directUrl === undefined ? 'DATABASE_URL' : 'DIRECT_DATABASE_URL'),
  )
  if (migrationUrl !== undefined) {
    const { name } = await connected(url, options, (client) => readRole(client, schema))
    await connected(migrationUrl, options, async (owner) => {
      await requireSession(owner, 'MIGRATION_DATABASE_URL')
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
    await refuseNewer(client, options)
    await requireMigrated(client, name, options)
    return owns
  })
}

/** A pooler invents the process that it names to its clients. */
async function requireSession(client: Client, variable: string): Promise<void> {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
  if (rows[0]?.pid === Reflect.get(client, 'processID')) return
  throw new PoolerError(
    variable === 'DATABASE_URL'
      ? 'DATABASE_URL leads to a connection pooler, such as pgbouncer. Set DIRECT_DATABASE_URL to the same database and role without the pooler: LISTEN and migrations need it.'
      : `${variable} leads to a connection pooler, such as pgbouncer. Give it the address of Postgres itself.`,
  )
}

/** A pooler passes no settings of a session on. */
async function requireTimeouts(url: string, options: OpenOptions): Promise<void> {
  const { rows } = await connected(url, options, (client) =>
    client.query<{ name: string; role: string }>(
      `select name, current_user as role from pg_settings
       where name in ('statement_timeout', 'idle_in_transaction_session_timeout') and setting = '0' order by name desc`,
    ),
  )
  if (rows.length === 0) return
  const statements = rows.map(({ name, role }) => `alter role ${role} set ${name} = '10s';`)
  throw new PoolerError(
    `The role of DATABASE_URL has no ${rows.map(({ name }) => name).join(' and no ')}, and a connection pooler passes none on. Run ${statements.join(' ')} Then reconnect the pooler.`,
  )
}

const readHistory = (schema: string) => `
  select case when not pg_is_in_recovery() then substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) end as timeline,
    (select timeline from "${schema}".postgres_timeline) as stored,
    current_setting('synchronous_standby_names') <> '' as confirmed`

const storeTimeline = (schema: string) => `
  insert into "${schema}".postgres_timeline (timeline) values ($1)
  on conflict (id) do update set timeline = excluded.timeline`

/** The engine has no such functions, or the schema is older than the table. A missing right to it is no reason to trust the server. */
const UNKNOWN_TO_ENGINE = new Set(['42883', '0A000', '42P01'])

/** `timeline`: null on a standby. `stored`: of the server that was used last, null before the first. */
type History = { timeline: string | null; stored: string | null; confirmed: boolean }

/**
 * Checks each new connection of a pool before its first query. After an asynchronous failover an idempotency key that was acknowledged can be
 * unknown, and would be paid again: nothing is read or written until an operator declares a restore, also by a process that starts after it. A server
 * that cannot tell its timeline is taken as it is: other engines do not fail over in this way. A standby is refused: the same
 * connection could write once it is promoted.
 */
function refuseFailover(
  { schema, declaresRestore = false }: OpenOptions,
  onWarning: (error: Error) => void,
) {
  // The row itself may be among what the former server alone had.
  let known: string | undefined
  let refused: string | undefined
  return async (client: ClientBase): Promise<void> => {
    const row = await queryHistory(client, schema)
    if (!row) return
    const { timeline, stored, confirmed } = row
    if (timeline === null)
      throw new FailoverError('This Postgres server is a standby, or is not promoted yet.')
    const before = known ?? stored ?? timeline
    if (declaresRestore) return
    if (timeline === before || confirmed) {
      if (timeline !== stored) await client.query(storeTimeline(schema), [timeline])
      known = timeline
      return
    }
    const error = new FailoverError(
      `Postgres has failed over to another server (timeline ${timeline}, before ${before}), and synchronous_standby_names is empty: acknowledged payments may be lost. Stop every service and every proxy, and follow “After a restore” in docs/OPERATIONS.md.`,
    )
    // At the start the error itself is told.
    if (known !== undefined && refused !== timeline) onWarning(error)
    refused = timeline
    throw error
  }
}

/** @throws FailoverError before anything is asked or written, at the start of a program */
async function requireSameServer(pool: pg.Pool): Promise<void> {
  try {
    ;(await pool.connect()).release()
  } catch (error) {
    await pool.end()
    throw error
  }
}

async function queryHistory(client: ClientBase, schema: string): Promise<History | undefined> {
  try {
    return (await client.query<History>(readHistory(schema))).rows[0]
  } catch (error) {
    if (error instanceof pg.DatabaseError && UNKNOWN_TO_ENGINE.has(error.code ?? ''))
      return undefined
    throw error
  }
}

/**
 * Ends a connection that leads nowhere: to a server that is silent, or to a standby. Its pool opens another one, which
 * leads to the server of now.
 */
function abandonLost({ connection }: Client): void {
  const { stream } = connection
  if (stream instanceof Socket)
    stream.setTimeout(SILENT_MS, () =>
      stream.destroy(new Error(`Connection terminated: Postgres was silent for ${SILENT_MS} ms`)),
    )
  connection.on('errorMessage', ({ code }: { code?: string }) => {
    if (code === READ_ONLY) stream.destroy()
  })
}

/** Under a lock that ends with the session. */
async function runMigrations(client: Client, options: OpenOptions): Promise<void> {
  // A role that a pooler uses has limits, and an index over all payments takes longer.
  await client.query('set statement_timeout = 0; set idle_in_transaction_session_timeout = 0')
  await client.query('select pg_advisory_lock($1)', [MIGRATION_LOCK])
  await refuseNewer(client, options)
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

/** drizzle releases no connection on which a transaction could not begin: a pool of ten would be empty after ten of them. */
function releaseFailedBegins(pool: pg.Pool): void {
  const connect = pool.connect.bind(pool)
  const connectToBegin = async () => {
    const client = await connect()
    const query: (begin: pg.QueryConfig, values?: unknown[]) => Promise<unknown> =
      client.query.bind(client)
    Object.assign(client, {
      query: async (begin: pg.QueryConfig, values?: unknown[]) => {
        Reflect.deleteProperty(client, 'query')
        try {
          return await query(begin, values)
        } catch (error) {
          client.release(true)
          throw error
        }
      },
    })
    return client
  }
  // The pool's own statements take it with a callback.
  Object.assign(pool, {
    connect: (callback?: Parameters<typeof connect>[0]) =>
      callback ? connect(callback) : connectToBegin(),
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
    ...KEEP_ALIVE,
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
    abandonLost(client)
    // A lost one is heard by its end.
    let isWaiting = false
    const beating = setInterval(() => {
      if (isWaiting) return
      isWaiting = true
      client.query('select 1').then(
        () => (isWaiting = false),
        () => {},
      )
    }, HEARTBEAT_MS)
    client.once('end', () => {
      clearInterval(beating)
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
