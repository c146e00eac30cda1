import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { PGlite } from '@electric-sql/pglite'

const require = createRequire(import.meta.url)

/**
 * An empty embedded database to start from. Making one takes seconds, copying it a third of a
 * second, so the first on a machine is kept.
 */
export async function embeddedTemplate(): Promise<Blob> {
  const root = dirname(require.resolve('@electric-sql/pglite')).split('node_modules')[0] ?? ''
  const { version } = JSON.parse(
    readFileSync(join(root, 'node_modules/@electric-sql/pglite/package.json'), 'utf8'),
  ) as { version: string }
  const file = join(root, 'node_modules/.cache/paydesk', `pglite-${version}.tar`)
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
