import { join, resolve } from 'node:path'
import { PGlite } from '@electric-sql/pglite'
import { drizzle, type PgliteDatabase } from 'drizzle-orm/pglite'
import { migrate } from 'drizzle-orm/pglite/migrator'
import { observeCommits } from './after-commit.ts'
import { lockFolder } from './folder-lock.ts'
import type { Database, OpenDatabase, OpenOptions } from './open.ts'
import { migrationConfig } from './migration-config.ts'

/** The embedded Postgres, in this process. It survives a killed process, not a power cut: it never calls fsync. */
export async function openFolder(
  target: { dataDir: string; template?: Blob },
  options: OpenOptions,
): Promise<OpenDatabase> {
  const inMemory = target.dataDir.startsWith('memory://')
  const unlock = inMemory ? () => {} : lockFolder(target.dataDir)
  try {
    const dataDir = inMemory ? 'memory://' : join(resolve(target.dataDir), 'pgdata')
    const client = await PGlite.create({ dataDir, loadDataDir: target.template })
    try {
      const db = drizzle(client, { casing: 'snake_case' })
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

/** The engine's result type carries more than `rows`; the shared type shows only what both engines have. */
function asDatabase(db: PgliteDatabase): Database {
  return observeCommits(db)
}
