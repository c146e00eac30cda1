import { join, resolve } from 'node:path'
import { PGlite } from '@electric-sql/pglite'
import { drizzle, type PgliteDatabase } from 'drizzle-orm/pglite'
import { migrate } from 'drizzle-orm/pglite/migrator'
import {
  manageTransactions,
  type Database,
  type OpenDatabase,
  type OpenOptions,
  migrationConfig,
} from './open.ts'
import { DataFolderError, lockFolder } from './folder-lock.ts'
import { refuseNewer } from './schema-version.ts'

/** The engine fills all of its page cache with zeros, so its default of 128 MB is resident in an empty database, too. Pages that do not fit are in the system's cache. */
const START_PARAMETERS = [...PGlite.defaultStartParams, '-c', 'shared_buffers=16MB']

/** The embedded Postgres, in this process. It survives a killed process, not a power cut: it never calls fsync. */
export async function openFolder(
  target: { dataDir: string; template?: Blob },
  options: OpenOptions,
): Promise<OpenDatabase> {
  const inMemory = target.dataDir.startsWith('memory://')
  const unlock = inMemory ? () => {} : lockFolder(target.dataDir)
  try {
    const dataDir = inMemory ? 'memory://' : join(resolve(target.dataDir), 'pgdata')
    const client = await create(dataDir, target.template)
    try {
      const db = drizzle(client, { casing: 'snake_case' })
      await refuseNewer(client, options)
      await migrate(db, migrationConfig(options))
      return {
        db: asDatabase(db),
        engine: 'pglite',
        ownsTables: true,
        listen: (channel, on) => client.listen(channel, on),
        [Symbol.asyncDispose]: async () => {
          // An unclosed folder keeps Node alive.
          if (!client.closed) await client.close()
          unlock()
        },
      }
    } catch (error) {
      await client.close()
      throw error
    }
  } catch (error) {
    unlock()
    throw error
  }
}

async function create(dataDir: string, template: Blob | undefined): Promise<PGlite> {
  try {
    return await PGlite.create({ dataDir, loadDataDir: template, startParams: START_PARAMETERS })
  } catch (error) {
    throw new DataFolderError(
      `The embedded database in ${dataDir} cannot be opened (${String(error)}). If its disk is full, make space. If it is damaged, restore a backup: docs/OPERATIONS.md says how.`,
      { cause: error },
    )
  }
}

/** The engine's result type carries more than `rows`; the shared type shows only what both engines have. */
function asDatabase(db: PgliteDatabase): Database {
  return manageTransactions(db)
}
