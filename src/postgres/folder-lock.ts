import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

/** A folder that cannot hold a database, or whose database cannot be read. */
export class DataFolderError extends Error {
  override name = 'DataFolderError'
}

export class FolderLockedError extends Error {
  override name = 'FolderLockedError'
}

/**
 * Locks a folder for this process alone. The embedded Postgres has no lock: two openers of one
 * folder lose committed rows.
 *
 * The lock is SQLite's exclusive file lock, because Node has no other one: the operating system
 * holds it, it works on Linux, macOS and Windows, and `kill -9` releases it. A pid file could not
 * tell a dead holder from a living one.
 * @returns a function that releases the lock
 * @throws DataFolderError, FolderLockedError
 */
export function lockFolder(folder: string): () => void {
  const path = resolve(folder)
  const holderFile = join(path, 'holder.json')
  const lock = openLock(path)
  try {
    lock.exec('pragma busy_timeout = 0; begin exclusive')
  } catch (error) {
    lock.close()
    throw new FolderLockedError(
      `The database folder ${path} is in use by ${readHolder(holderFile)}. ` +
        'Stop that process, choose another DATA_DIR, or set DATABASE_URL to a Postgres server that several processes may share.',
      { cause: error },
    )
  }
  writeFileSync(
    holderFile,
    JSON.stringify({
      pid: process.pid,
      program: process.argv[1] ?? 'node',
      since: new Date().toISOString(),
    }),
  )
  return () => {
    rmSync(holderFile, { force: true })
    lock.close()
  }
}

function openLock(path: string): DatabaseSync {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 })
    return new DatabaseSync(join(path, 'lock'))
  } catch (error) {
    throw new DataFolderError(
      `The database folder ${path} cannot be written (${String(error)}). Choose a DATA_DIR on a disk with space, or give its user the right to write it.`,
      { cause: error },
    )
  }
}

function readHolder(file: string): string {
  try {
    const holder: unknown = JSON.parse(readFileSync(file, 'utf8'))
    if (
      typeof holder === 'object' &&
      holder !== null &&
      'pid' in holder &&
      'program' in holder &&
      'since' in holder
    ) {
      return `process ${holder.pid} (${holder.program}, since ${holder.since})`
    }
  } catch {
    // The holder has the lock but has not written its name yet.
  }
  return 'another process'
}
