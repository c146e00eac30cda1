import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { PGlite } from '@electric-sql/pglite'

const require = createRequire(import.meta.url)
const MODULES = join(
  require.resolve('@electric-sql/pglite').split('node_modules')[0] ?? '',
  'node_modules',
)
/** What one run of the devnet or the tests leaves so that the next one starts sooner. */
const CACHE = join(MODULES, '.cache/paydesk')

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
