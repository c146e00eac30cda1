import type { PgDatabase, PgQueryResultHKT } from 'drizzle-orm/pg-core'
import { sql } from 'drizzle-orm'
import type { MigrationConfig } from 'drizzle-orm/migrator'
import type { RuntimeRights } from './runtime-role.ts'

/**
 * What a raw `execute` resolves to. Cast bigint, numeric and timestamptz to `::text`: the two
 * engines return them as different types.
 */
type RawResult<Row> = { rows: Row[] }

interface RawResultKind extends PgQueryResultHKT {
  type: RawResult<this['row']>
}

/**
 * The drizzle database of either engine. A transaction is one too, so a function that takes a
 * `Database` runs in both.
 * Inside `db.transaction` use only the transaction: the embedded engine has a single connection,
 * and another query would deadlock.
 */
export type Database = PgDatabase<RawResultKind>

/**
 * A Postgres server by its URL, or a folder of the embedded Postgres. `memory://` keeps nothing;
 * `template` is a dumped data folder to start from. `migrationUrl` is the same database as the role
 * that owns the tables: it migrates, and gives the role of `url` its rights. `directUrl` is the same
 * database and role as `url`, where that leads through a connection pooler.
 */
export type DatabaseTarget =
  | { url: string; migrationUrl?: string; directUrl?: string }
  | { dataDir: string; template?: Blob }

/** The variables of both programs that name their database. */
export const DATABASE_VARIABLES = [
  'DATABASE_URL',
  'MIGRATION_DATABASE_URL',
  'DIRECT_DATABASE_URL',
  'DATA_DIR',
] as const

type DatabaseValues = {
  DATABASE_URL: string | undefined
  MIGRATION_DATABASE_URL: string | undefined
  DIRECT_DATABASE_URL: string | undefined
  DATA_DIR: string
}

/** @throws what `refuse` makes of a sentence, where a variable needs another one */
export function toDatabaseTarget(
  values: DatabaseValues,
  program: 'service' | 'proxy',
  refuse: (message: string) => Error,
): DatabaseTarget {
  const { DATABASE_URL: url, MIGRATION_DATABASE_URL: migrationUrl, DATA_DIR: dataDir } = values
  const { DIRECT_DATABASE_URL: directUrl } = values
  if (url !== undefined) return { url, migrationUrl, directUrl }
  if (migrationUrl !== undefined)
    throw refuse(
      `MIGRATION_DATABASE_URL: expected DATABASE_URL with it, of the role that the ${program} runs as.`,
    )
  if (directUrl !== undefined)
    throw refuse(
      'DIRECT_DATABASE_URL: expected DATABASE_URL with it, which leads through the pooler.',
    )
  return { dataDir }
}

export type OpenOptions = {
  /** Folder of drizzle-kit migrations. They run before this resolves, one process at a time. */
  migrations: string
  /** The Postgres schema these migrations fill; their journal is kept under this name. */
  schema: string
  /** What a runtime role that does not own the tables may do. */
  rights: RuntimeRights
  /** Opened to declare a restore: a server that took over is not refused. */
  declaresRestore?: boolean
  /** Called when a lost connection is being opened again. */
  onWarning?: (error: Error) => void
}

export type OpenDatabase = {
  db: Database
  engine: 'pglite' | 'postgres'
  /**
   * Whether the role of the queries owns the tables, so that it may delete and alter all of them.
   * Always so with the embedded engine.
   */
  ownsTables: boolean
  /** The connections of its pool; undefined with the embedded engine. */
  readPool?: () => { idle: number; used: number; waiting: number }
  /**
   * Calls `on` for each NOTIFY of a channel. After a lost connection it is called once with an
   * empty payload: something may have been missed, so read the rows again. The channel is a plain
   * lower-case name.
   */
  listen(channel: string, on: (payload: string) => void): Promise<() => Promise<void>>
  [Symbol.asyncDispose](): Promise<void>
}

/**
 * The server is a standby; or it has another history of its log than the one that was used last, and no standby confirms commits: it was promoted, and may
 * lack what a former server had acknowledged. Its code is that of a server that takes no connections now.
 */
export class FailoverError extends Error {
  override name = 'FailoverError'
  readonly code = '57P03'
}

/**
 * Loads only the requested engine, so that the start is short.
 * @throws FolderLockedError when another process (or this one) has the folder open
 * @throws SchemaVersionError when a newer version has migrated, or when the role of the server's URL may not migrate, and has to
 * @throws FailoverError when the server may lack acknowledged payments, or is a standby
 */
export async function openDatabase(
  target: DatabaseTarget,
  options: OpenOptions,
): Promise<OpenDatabase> {
  if ('url' in target) return (await import('./server.ts')).openServer(target, options)
  return (await import('./folder.ts')).openFolder(target, options)
}

type CommitListener = (root: Database) => void

/** Open transactions, and what is to be done once each has committed. */
const open = new WeakMap<Database, Set<CommitListener>>()

/**
 * Calls `listener` once with the whole database when the transaction `db` has committed, at once where
 * `db` is no transaction, and never when it is rolled back.
 */
export function afterCommit(db: Database, listener: CommitListener): void {
  const waiting = open.get(db)
  if (waiting) waiting.add(listener)
  else listener(db)
}

/**
 * Makes the transactions of a database tell when they have committed, and repeats those that it rolled
 * back because of other transactions: `work` runs again from its beginning, so it changes nothing but rows of `tx`.
 */
export function manageTransactions(db: Database): Database {
  const begin = db.transaction.bind(db)
  db.transaction = async (work, config) => {
    const { result, waiting } = await repeatRolledBack(async () => {
      // New for each attempt: what the former one was to tell did not happen.
      const waiting = new Set<CommitListener>()
      const result = await begin((tx) => {
        collectListeners(tx, waiting)
        return work(tx)
      }, config)
      return { result, waiting }
    })
    for (const listener of waiting) listener(db)
    return result
  }
  return db
}

/** A savepoint commits with its transaction, and is never repeated alone. */
function collectListeners(tx: Database, waiting: Set<CommitListener>): void {
  open.set(tx, waiting)
  const nest = tx.transaction.bind(tx)
  tx.transaction = (work) =>
    nest((part) => {
      collectListeners(part, waiting)
      return work(part)
    })
}

/** With these waits, at most 1.3 s. A deadlock takes the server another second to find. */
const MOST_ATTEMPTS = 10
const FIRST_WAIT_MS = 20
const LONGEST_WAIT_MS = 200

/**
 * Runs a transaction or a single statement, and runs all of it again where the database has rolled it
 * back because of other transactions. Waits are random and grow, so that two that met do not meet again.
 *
 * A COMMIT whose connection was lost is never repeated here: it may have been committed, and only
 * the caller can look (`recoverCommit`).
 * @throws the error of the last attempt
 */
export async function repeatRolledBack<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      if (attempt === MOST_ATTEMPTS || !isRolledBack(error)) throw error
      const mostMs = Math.min(FIRST_WAIT_MS * 2 ** (attempt - 1), LONGEST_WAIT_MS)
      await new Promise((resolve) => setTimeout(resolve, Math.random() * mostMs))
    }
  }
}

/**
 * Has the database write about 1 MiB to its disk, and drop it: a sort that does not fit into memory.
 * It touches no row, so it needs no rights and leaves nothing behind, and a disk with less space
 * than that is as good as full.
 * @throws when the disk is full, or cannot be written
 */
export async function checkDisk(db: Database): Promise<void> {
  await db.transaction(async (tx) => {
    await tx.execute(sql`select set_config('work_mem', '64kB', true)`)
    await tx.execute(sql`
      select sum(length(filler)) from (
        select repeat('x', 1000) as filler from generate_series(1, 1100) as number
        order by number desc offset 0) as sorted`)
  })
}

/** The clock that all processes share. */
export async function readDatabaseClock(db: Database): Promise<Date> {
  const { rows } = await db.execute<{ ms: string }>(
    sql`select (extract(epoch from clock_timestamp()) * 1000)::bigint::text as ms`,
  )
  return new Date(Number(rows[0]?.ms))
}

/** The journals live outside the programs' schemas, because each program's first migration creates its own. */
export function migrationConfig(options: OpenOptions): MigrationConfig {
  return {
    migrationsFolder: options.migrations,
    migrationsSchema: 'migrations',
    migrationsTable: options.schema,
  }
}

/**
 * SQLSTATE classes and codes, and socket errors, that say the server is not there, is a standby that nobody has promoted yet, has no disk or memory left, or took longer than a statement may;
 * anything else is a defect of the query.
 */
const UNAVAILABLE =
  /^(08...|25006|57P0[1-4]|57014|53[123]00|58030|ECONNREFUSED|ECONNRESET|ENOTFOUND|EPIPE|ETIMEDOUT|EAI_AGAIN)$/
const CONNECTION_LOST =
  /Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error/
/** `serialization_failure` and `deadlock_detected`: the server says itself that nothing of it was committed. */
const ROLLED_BACK = /^(40001|40P01)$/

/**
 * Whether an error means that the database does not serve now, so that the same request can succeed later. Among them is a transaction that was rolled
 * back because of others as often as it was repeated.
 */
export function isDatabaseUnavailable(error: unknown): boolean {
  return (
    isRolledBack(error) ||
    causesOf(error).some(
      (cause) =>
        codeMatches(cause, UNAVAILABLE) ||
        // The Unix socket of a server that is not running is a file that is missing.
        ('syscall' in cause && cause.syscall === 'connect') ||
        CONNECTION_LOST.test(cause.message),
    )
  )
}

/** Whether the database has rolled back a transaction, or a single statement, because of others: it did nothing. */
export function isRolledBack(error: unknown): boolean {
  return causesOf(error).some((cause) => codeMatches(cause, ROLLED_BACK))
}

const UNIQUE_VIOLATION = '23505'

/** Whether a write was refused because another row has the same key. @param index the one meant; any otherwise */
export function isUniqueViolation(error: unknown, index?: string): boolean {
  const refused = causesOf(error).find(
    (cause) => 'code' in cause && cause.code === UNIQUE_VIOLATION,
  )
  if (!refused || index === undefined) return refused !== undefined
  return 'constraint' in refused && refused.constraint === index
}

function codeMatches(error: Error, codes: RegExp): boolean {
  return 'code' in error && typeof error.code === 'string' && codes.test(error.code)
}

/** An error, and those behind it. */
function causesOf(error: unknown): Error[] {
  const causes: Error[] = []
  for (let cause = error; cause instanceof Error && causes.length < 5; cause = cause.cause)
    causes.push(cause)
  return causes
}
