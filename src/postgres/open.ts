import type { PgDatabase, PgQueryResultHKT } from 'drizzle-orm/pg-core'
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
 * that owns the tables: it migrates, and gives the role of `url` its rights.
 */
export type DatabaseTarget =
  | { url: string; migrationUrl?: string }
  | { dataDir: string; template?: Blob }

export type OpenOptions = {
  /** Folder of drizzle-kit migrations. They run before this resolves, one process at a time. */
  migrations: string
  /** The Postgres schema these migrations fill; their journal is kept under this name. */
  schema: string
  /** What a runtime role that does not own the tables may do. */
  rights: RuntimeRights
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
 * Loads only the requested engine, so that the start is short.
 * @throws FolderLockedError when another process (or this one) has the folder open
 * @throws NotMigratedError when the role of the server's URL may not migrate, and has to
 */
export async function openDatabase(
  target: DatabaseTarget,
  options: OpenOptions,
): Promise<OpenDatabase> {
  if ('url' in target) return (await import('./server.ts')).openServer(target, options)
  return (await import('./folder.ts')).openFolder(target, options)
}
