import type { MigrationConfig } from 'drizzle-orm/migrator'
import type { OpenOptions } from './open.ts'

/** The journals live outside the programs' schemas, because each program's first migration creates its own. */
export function migrationConfig(options: OpenOptions): MigrationConfig {
  return {
    migrationsFolder: options.migrations,
    migrationsSchema: 'migrations',
    migrationsTable: options.schema,
  }
}
