import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { open, rename, rm, type FileHandle } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { lockFolder } from './folder-lock.ts'
import type { DatabaseTarget } from './open.ts'

/** A backup that was not written; its message says what to correct. */
export class BackupError extends Error {
  override name = 'BackupError'
}

/** A database, and the environment in which `pg_dump` runs. */
export type BackupSource = {
  target: DatabaseTarget
  env: Readonly<Record<string, string | undefined>>
}

/**
 * Copies a whole database as of one moment into a new file that only its owner may read. The file
 * has its name once it is complete and on the disk. A server goes on meanwhile; `pg_dump` reads it
 * as the role that owns the tables. The folder of the embedded database must not be open.
 * @returns the size of the file in bytes
 * @throws BackupError, and FolderLockedError while a process has the folder open
 */
export async function backUpDatabase({ target, env }: BackupSource, file: string): Promise<number> {
  const path = resolve(file)
  if (existsSync(path)) throw new BackupError(`The file ${path} exists. Choose another name.`)
  const unfinished = `${path}.unfinished`
  let written: FileHandle
  try {
    await rm(unfinished, { force: true })
    written = await open(unfinished, 'wx', 0o600)
  } catch (error) {
    throw new BackupError(`The file ${path} cannot be written (${messageOf(error)}).`, {
      cause: error,
    })
  }
  try {
    await ('url' in target
      ? dumpServer(target, { env, written })
      : dumpFolder(target.dataDir, written))
    await written.sync()
    const { size } = await written.stat()
    await rename(unfinished, path)
    await using folder = await open(dirname(path))
    await folder.sync()
    return size
  } finally {
    await written.close()
    await rm(unfinished, { force: true })
  }
}

async function dumpServer(
  { url, migrationUrl, directUrl }: { url: string; migrationUrl?: string; directUrl?: string },
  { env, written }: { env: BackupSource['env']; written: FileHandle },
): Promise<void> {
  const { connection, password } = withoutPassword(migrationUrl ?? directUrl ?? url)
  // Every user of the machine can read the arguments of a process, but not its environment.
  const child = spawn(
    'pg_dump',
    ['--format=custom', '--no-password', '--lock-wait-timeout=10s', '--dbname', connection],
    {
      stdio: ['ignore', written.fd, 'pipe'],
      env: { ...env, ...(password !== '' && { PGPASSWORD: password }) },
    },
  )
  const ended = new Promise<number | null>((done, failed) => {
    child.once('error', failed)
    child.once('close', done)
  })
  const messages = child.stderr ? text(child.stderr) : ''
  const [code, said] = await Promise.all([ended, messages]).catch((error: unknown) => {
    throw new BackupError(
      `pg_dump cannot be run (${messageOf(error)}). Install the client programs of Postgres in the version of your server, and put them in the PATH.`,
      { cause: error },
    )
  })
  if (code === 0) return
  const hint =
    migrationUrl === undefined && said.includes('permission denied')
      ? ' Set MIGRATION_DATABASE_URL to the role that owns the tables.'
      : ''
  throw new BackupError(`pg_dump made no backup: ${said.trim()}${hint}`)
}

function withoutPassword(url: string): { connection: string; password: string } {
  const [, scheme = '', user = '', password = '', rest = ''] =
    /^(\w+:\/\/)(?:([^/?#:@]*)(?::([^/?#]*))?@)?(.*)$/s.exec(url) ?? []
  return {
    connection: `${scheme}${user}${user === '' ? '' : '@'}${rest}`,
    password: decodeURIComponent(password),
  }
}

/** An archive of the files below `pgdata`. */
async function dumpFolder(dataDir: string, written: FileHandle): Promise<void> {
  const data = join(resolve(dataDir), 'pgdata')
  if (!existsSync(join(data, 'PG_VERSION')))
    throw new BackupError(`The folder ${resolve(dataDir)} has no database. Check DATA_DIR.`)
  const unlock = lockFolder(dataDir)
  try {
    const { PGlite } = await import('@electric-sql/pglite')
    const client = await PGlite.create({ dataDir: data })
    try {
      const archive = await client.dumpDataDir('gzip')
      await written.writeFile(archive.stream())
    } finally {
      await client.close()
    }
  } finally {
    unlock()
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
