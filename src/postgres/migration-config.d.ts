import type { MigrationConfig } from 'drizzle-orm/migrator';
import type { OpenOptions } from './open.ts';
/** The journals live outside the programs' schemas, because each program's first migration creates its own. */
export declare function migrationConfig(options: OpenOptions): MigrationConfig;
