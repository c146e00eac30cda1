import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, dirname } from 'node:path'
import { createRequire } from 'node:module'
import { PGlite } from '@electric-sql/pglite'
import { FolderLockedError, lockFolder } from '#postgres/folder-lock.ts'

/** What a devnet writes; a reset removes these and nothing else. */
const PARTS = [
  'evm',
  'solana',
  'service',
  'bff',
  'logs',
  'keys.json',
  'networks.json',
  'devnet.json',
  'complete',
]

/** The folder a devnet lives in, held by this process alone. */
export class Folder implements AsyncDisposable {
  readonly path: string
  readonly #temporary: boolean
  readonly #unlock: () => void

  private constructor(path: string, temporary: boolean, unlock: () => void) {
    this.path = path
    this.#temporary = temporary
    this.#unlock = unlock
  }

  /** Without a path, a temporary folder that is removed at the end. A first start that never finished is forgotten. */
  static async open(path: string | undefined, reset: boolean): Promise<Folder> {
    const dir = path ?? (await mkdtemp(join(tmpdir(), 'paydesk-')))
    await mkdir(dir, { recursive: true, mode: 0o700 })
    const folder = new Folder(dir, path === undefined, lock(dir))
    if (reset || !folder.complete)
      await Promise.all(PARTS.map((part) => rm(join(dir, part), { recursive: true, force: true })))
    return folder
  }

  /** Whether an earlier start has set everything up. */
  get complete(): boolean {
    return existsSync(this.in('complete'))
  }

  async markComplete(): Promise<void> {
    await writeFile(this.in('complete'), `${new Date().toISOString()}\n`)
  }

  in(...parts: string[]): string {
    return join(this.path, ...parts)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#unlock()
    if (this.#temporary) await rm(this.path, { recursive: true, force: true, maxRetries: 5 })
  }
}

function lock(dir: string): () => void {
  try {
    return lockFolder(dir)
  } catch (error) {
    if (!(error instanceof FolderLockedError)) throw error
    throw new Error(
      `Another Paydesk already runs in ${dir}. End it first; its history is in that folder.`,
      { cause: error },
    )
  }
}

const require = createRequire(import.meta.url)
const MODULES = join(
  require.resolve('@electric-sql/pglite').split('node_modules')[0] ?? '',
  'node_modules',
)
/** What one run of the devnet or the tests leaves so that the next one starts sooner. */
export const CACHE = join(MODULES, '.cache/paydesk')

/**
 * Makes Node keep what it compiled: a program then loads in two thirds of the time. Not for
 * production: who writes there decides what a later process executes.
 */
export const COMPILE_CACHE = { NODE_COMPILE_CACHE: join(CACHE, 'compiled') }

/**
 * An empty embedded database to start from. Making one takes seconds, copying it a third of a
 * second, so the first on a machine is kept.
 */
export async function embeddedTemplate(): Promise<Blob> {
  const { version } = JSON.parse(
    readFileSync(join(MODULES, '@electric-sql/pglite/package.json'), 'utf8'),
  ) as { version: string }
  const file = join(CACHE, `pglite-${version}.tar`)
  if (!existsSync(file)) {
    const client = await PGlite.create('memory://')
    const dump = await client.dumpDataDir('none')
    await client.close()
    mkdirSync(dirname(file), { recursive: true })
    // Another worker may do the same: the last one replaces a complete file with a complete file.
    const own = `${file}.${process.pid}`
    writeFileSync(own, new Uint8Array(await dump.arrayBuffer()))
    renameSync(own, file)
  }
  return new Blob([readFileSync(file)])
}
