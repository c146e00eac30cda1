import { readMigrationFiles } from 'drizzle-orm/migrator'
import { migrationConfig, type OpenOptions } from './open.ts'

/** The schema is of another version than the program, which cannot or may not change that. */
export class SchemaVersionError extends Error {
  override name = 'SchemaVersionError'
}

/** A connection of either engine. */
type Connection = { query: (text: string) => Promise<{ rows: unknown[] }> }
type Version = { ran: number; newest: number }

/**
 * Checks without changing anything that no newer version of the program has migrated. An older one knows neither the columns nor the rules of
 * now: it would fail after money has moved.
 * @throws SchemaVersionError
 */
export async function refuseNewer(connection: Connection, options: OpenOptions): Promise<void> {
  const { ran, newest } = await readVersion(connection, options)
  if (ran <= newest) return
  throw new SchemaVersionError(
    `A newer version of the program has migrated the schema "${options.schema}" (${new Date(ran).toISOString()}; this version knows migrations up to ${new Date(newest).toISOString()}). Install the newer version again. To go back, restore the backup from before the upgrade, and follow “After a restore” in docs/OPERATIONS.md.`,
  )
}

/**
 * Checks without changing anything that every migration of this version has run.
 * @throws SchemaVersionError
 */
export async function requireMigrated(
  connection: Connection,
  role: string,
  options: OpenOptions,
): Promise<void> {
  const { ran, newest } = await readVersion(connection, options)
  if (ran < newest)
    throw new SchemaVersionError(
      `The database is not migrated to this version, and the role "${role}" of DATABASE_URL may not migrate it. Run npm run migrate:${options.schema} with MIGRATION_DATABASE_URL of the role that owns the schema "${options.schema}".`,
    )
}

/** When the newest migrations were made, in ms: of those that have run, 0 before the first, and of those that this version has. */
async function readVersion(connection: Connection, options: OpenOptions): Promise<Version> {
  const newest = readMigrationFiles(migrationConfig(options)).at(-1)?.folderMillis ?? 0
  const journal = `migrations."${options.schema}"`
  const ran = await connection
    .query(`select max(created_at)::text as ran from ${journal}`)
    .then(({ rows: [row] }) => readTime(row))
    .catch((error: unknown) => {
      if (isMissing(error)) return 0
      throw error
    })
  return { ran, newest }
}

function readTime(row: unknown): number {
  return typeof row === 'object' && row !== null && 'ran' in row ? Number(row.ran ?? 0) : 0
}

/** No such table or schema, or no right to read it. */
function isMissing(error: unknown): boolean {
  return (
    error instanceof Error &&
    'code' in error &&
    ['42P01', '3F000', '42501'].some((code) => code === error.code)
  )
}
