import { mkdtempSync, rmSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openDatabase, type Database, type DatabaseTarget } from '#postgres/open.ts'
import { SERVICE_SCHEMA } from '#service/db/migrations-folder.ts'

/** What every update of the attempt of a claim begins with: a grant, and its revocation. */
const CHANGES_GRANT = 'update "service"."claim" set "attempt"'

/** `atGrant`: what happens to the next change of a grant. `away`: whether the server takes no connections now. `cut`: how often an answer was lost. */
type Way = { away: boolean; cut: number; atGrant: 'once' | 'away' | undefined }

/**
 * The database as another process has it, whose way to Postgres can be cut between the commit of a
 * grant and its answer: for one connection (`once`), or for all until `away` is false again.
 */
export async function openSeveredDatabase(
  target: DatabaseTarget,
): Promise<AsyncDisposable & { db: Database; way: Way }> {
  await using stack = new AsyncDisposableStack()
  if (!('url' in target)) throw new Error('Expected a server.')
  const url = new URL(target.url)
  const upstream = join(decodeURIComponent(url.hostname), '.s.PGSQL.5432')
  const folder = mkdtempSync(join(tmpdir(), 'paydesk-cut-'))
  stack.defer(() => rmSync(folder, { recursive: true, force: true }))
  const way: Way = { away: false, cut: 0, atGrant: undefined }
  const open = new Set<Socket>()
  const server = createServer((client) => {
    if (way.away) {
      client.destroy()
      return
    }
    const backend = connect(upstream)
    const end = () => {
      client.destroy()
      backend.destroy()
    }
    let granting = false
    let committing = false
    for (const each of [client, backend]) {
      open.add(each)
      each.on('error', end).on('close', () => {
        open.delete(each)
        end()
      })
    }
    client.on('data', (chunk) => {
      granting ||= way.atGrant !== undefined && chunk.includes(CHANGES_GRANT)
      committing ||= granting && chunk.includes('commit')
      backend.write(chunk)
    })
    // The server answers once the commit is done.
    backend.on('data', (chunk) => {
      if (!committing) return void client.write(chunk)
      way.cut++
      way.away = way.atGrant === 'away'
      way.atGrant = undefined
      end()
      if (way.away) for (const each of open) each.destroy()
    })
  })
  await new Promise<void>((resolve) => server.listen(join(folder, '.s.PGSQL.5432'), resolve))
  stack.defer(() => {
    server.close()
    for (const each of open) each.destroy()
  })
  url.hostname = encodeURIComponent(folder)
  const { db } = stack.use(await openDatabase({ url: url.href }, SERVICE_SCHEMA))
  const disposal = stack.move()
  return { db, way, [Symbol.asyncDispose]: () => disposal.disposeAsync() }
}
