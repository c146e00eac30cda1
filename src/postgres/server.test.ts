import { spawn } from 'node:child_process'
import { chownSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createConnection } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'drizzle-orm'
import { beforeAll, afterAll, describe, expect, onTestFinished, test } from 'vitest'
import { SERVICE_SCHEMA } from '#service/db/migrations-folder.ts'
import { readDeployment, startEpoch } from '#service/db/deployment.ts'
import { freePort } from '#devnet/options.ts'
import { findDebianProgram } from '#testing/debian-program.ts'
import {
  createDatabase,
  executeAsAdmin,
  nobody,
  OWNER,
  RUNTIME,
  startServer,
  type Server,
} from '#testing/postgres.ts'
import { isDatabaseUnavailable, openDatabase } from './open.ts'
import { PoolerError } from './runtime-role.ts'

let server: Server
beforeAll(async () => {
  server = await startServer()
})
afterAll(() => server.stop())

async function open(
  target: { url: string; migrationUrl?: string; directUrl?: string },
  onWarning: (error: Error) => void = () => {},
) {
  const opened = await openDatabase(target, { ...SERVICE_SCHEMA, onWarning })
  onTestFinished(() => opened[Symbol.asyncDispose]())
  return opened
}

async function createTarget() {
  const { target, dispose } = await createDatabase(server.folder)
  onTestFinished(dispose)
  return target
}

/** Stops every process of the server, as where its machine hangs. */
function freeze(): { thaw: () => void } {
  const [line] = readFileSync(join(server.folder, 'data', 'postmaster.pid'), 'utf8').split('\n')
  const children = readFileSync(`/proc/${line}/task/${line}/children`, 'utf8').trim().split(' ')
  const pids = [Number(line), ...children.map(Number)]
  for (const pid of pids) process.kill(pid, 'SIGSTOP')
  const thaw = () => {
    for (const pid of pids.splice(0)) process.kill(pid, 'SIGCONT')
  }
  onTestFinished(thaw)
  return { thaw }
}

test('queries and transactions on a frozen server fail as unavailable, and its connections are used no more', async () => {
  const warnings: string[] = []
  const { db, listen, readPool } = await open(await createTarget(), ({ message }) =>
    warnings.push(message),
  )
  const heard: string[] = []
  await listen('frozen_server', (payload) => heard.push(payload))
  // All connections of the pool: each transaction begins on one that was opened before.
  await Promise.all(Array.from({ length: 12 }, () => db.execute(sql`select pg_sleep(0.1)`)))
  const [began, frozen] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const transaction = db.transaction(async (tx) => {
    await tx.execute(sql`select 1`)
    began.resolve()
    await frozen.promise
    await tx.execute(sql`select 1`)
  })
  await began.promise
  const { thaw } = freeze()
  frozen.resolve()
  const results = await Promise.allSettled([
    transaction,
    ...Array.from({ length: 12 }, () => db.transaction((tx) => tx.execute(sql`select 1`))),
    ...Array.from({ length: 12 }, () => db.execute(sql`select 1`)),
  ])
  for (const result of results) {
    expect(result.status).toBe('rejected')
    if (result.status === 'rejected') expect(isDatabaseUnavailable(result.reason)).toBe(true)
  }
  // The connection of LISTEN was given up too, and another one does not come about.
  await expect.poll(() => warnings).toContain('timeout expired')
  thaw()
  // The first may still meet a server that wakes up.
  await expect
    .poll(() =>
      db.execute(sql`select 1`).then(
        () => true,
        () => false,
      ),
    )
    .toBe(true)
  await expect.poll(() => heard).toContain('')
  expect(readPool?.().used).toBe(0)
})

test('a connection to a standby is replaced when it has refused to write', async () => {
  const { db } = await open(await createTarget())
  const readPid = async () =>
    (await db.execute<{ pid: number }>(sql`select pg_backend_pid() as pid`)).rows[0]?.pid
  const former = await readPid()
  // What a standby answers, in a transaction, whose connection goes back to the pool.
  await expect(
    db.transaction((tx) =>
      tx.execute(sql`do $$ begin raise exception 'read-only' using errcode = '25006'; end $$`),
    ),
  ).rejects.toThrow('Failed query')
  expect(await readPid()).not.toBe(former)
})

/** A database in use, on a server that comes back in recovery and is refused then. */
async function openReplaced() {
  const own = await startServer({ settings: ['restore_command=false'] })
  onTestFinished(() => own.stop())
  const { target } = await createDatabase(own.folder)
  const warnings: string[] = []
  const { db } = await open(target, ({ message }) => warnings.push(message))
  const work = () => db.execute(sql`select 1`)
  await work()
  const restartWith = async (signal: string) => {
    await own.restart(async () => writeFileSync(join(own.folder, 'data', signal), ''))
    const failure: unknown = await work().then(
      () => undefined,
      (error: unknown) => error,
    )
    expect(isDatabaseUnavailable(failure)).toBe(true)
  }
  const admin = { target: { url: target.url }, [Symbol.asyncDispose]: async () => {} }
  return { target, admin, work, warnings, restartWith }
}

test('after a failover that no standby confirmed, nothing is read or written until a restore is declared or a standby confirms, also by a process that starts then', async () => {
  const { target, admin, work, warnings, restartWith } = await openReplaced()
  // The end of an archive recovery begins another timeline, as a promotion does.
  await restartWith('recovery.signal')
  // Connections are taken before the recovery ends, for reading.
  const told = () =>
    warnings.filter((message) => message.includes('acknowledged payments may be lost'))
  const workAndTell = async () => {
    await expect(work()).rejects.toThrow('Failed query')
    return told()
  }
  await expect.poll(workAndTell).toHaveLength(1)
  expect(await workAndTell()).toHaveLength(1)
  expect(told()[0]).toContain('Stop every service and every proxy, and follow “After a restore”')
  await expect(open(target)).rejects.toThrow('acknowledged payments may be lost')
  const operator = await openDatabase(target, { ...SERVICE_SCHEMA, declaresRestore: true })
  onTestFinished(() => operator[Symbol.asyncDispose]())
  // A program that starts before the declaration is complete is refused.
  await operator.db.execute(sql`select 1`)
  await expect(open(target)).rejects.toThrow('acknowledged payments may be lost')
  await startEpoch(operator.db)
  const later = await open(target)
  expect(await readDeployment(later.db)).toMatch(/^0x/)
  await executeAsAdmin(admin, `alter system set synchronous_standby_names = 'n2'`)
  await executeAsAdmin(admin, 'select pg_reload_conf()')
  await expect
    .poll(() =>
      work().then(
        () => true,
        () => false,
      ),
    )
    .toBe(true)
})

test('a role that may not read which server was used is refused', async () => {
  const target = await createTarget()
  await open(target)
  const owner = await open({ url: target.migrationUrl })
  await owner.db.execute(sql.raw(`revoke all on service.postgres_timeline from ${RUNTIME}`))
  await expect(open({ url: target.url })).rejects.toThrow(
    'permission denied for table postgres_timeline',
  )
})

test('a connection that was opened to a standby does not outlive its promotion', async () => {
  const { admin, work, warnings, restartWith } = await openReplaced()
  await restartWith('standby.signal')
  await executeAsAdmin(admin, 'select pg_promote()')
  await expect(work()).rejects.toThrow('Failed query')
  expect(warnings.join()).toContain('acknowledged payments may be lost')
})

const pgbouncer = findDebianProgram('pgbouncer', '/usr/sbin/pgbouncer')

describe.runIf(pgbouncer !== undefined)('behind pgbouncer in transaction mode', () => {
  /** In front of the server; each transaction may run on another connection. */
  async function startPooler() {
    const folder = mkdtempSync(join(tmpdir(), 'paydesk-pgbouncer-'))
    const user = process.getuid?.() === 0 ? nobody() : undefined
    if (user) chownSync(folder, user.uid, user.gid)
    const port = await freePort()
    writeFileSync(join(folder, 'users.txt'), `"${OWNER}" ""\n"${RUNTIME}" ""\n`)
    writeFileSync(
      join(folder, 'pgbouncer.ini'),
      `[databases]
* = host=${server.folder}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = trust
auth_file = ${join(folder, 'users.txt')}
pool_mode = transaction
default_pool_size = 3
server_reset_query = discard all
server_reset_query_always = 1
`,
    )
    const child = spawn(pgbouncer ?? '', [join(folder, 'pgbouncer.ini')], {
      ...user,
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    onTestFinished(async () => {
      const gone = new Promise((resolve) => child.once('exit', resolve))
      child.kill('SIGKILL')
      await gone
      rmSync(folder, { recursive: true, force: true })
    })
    let said = ''
    child.stderr.on('data', (text: Buffer) => (said += text.toString()))
    await expect
      .poll(
        () =>
          new Promise((resolve) => {
            const socket = createConnection({ port, host: '127.0.0.1' })
            socket.once('connect', () => resolve(socket.destroy() && true))
            socket.once('error', () => resolve(said))
          }),
      )
      .toBe(true)
    return (url: string) => {
      const pooled = new URL(url)
      return `postgres://${pooled.username}@127.0.0.1:${port}${pooled.pathname}`
    }
  }

  async function setTimeouts(target: { migrationUrl: string }, value: string): Promise<void> {
    const name = new URL(target.migrationUrl).pathname.slice(1)
    const admin = {
      target: { url: target.migrationUrl },
      [Symbol.asyncDispose]: async () => {},
    }
    for (const setting of ['statement_timeout', 'idle_in_transaction_session_timeout'])
      await executeAsAdmin(
        admin,
        `alter role ${RUNTIME} in database ${name} set ${setting} = '${value}'`,
      )
  }

  test('a program without a direct way is refused with what to do', async () => {
    const toPooler = await startPooler()
    const { url, migrationUrl } = await createTarget()
    await expect(open({ url: toPooler(url), migrationUrl })).rejects.toThrow(
      new PoolerError(
        'DATABASE_URL leads to a connection pooler, such as pgbouncer. Set DIRECT_DATABASE_URL to the same database and role without the pooler: LISTEN and migrations need it.',
      ),
    )
    const pooled = toPooler(url)
    await expect(open({ url: pooled, migrationUrl, directUrl: pooled })).rejects.toThrow(
      'DIRECT_DATABASE_URL leads to a connection pooler, such as pgbouncer. Give it the address of Postgres itself.',
    )
    await expect(
      open({ url: pooled, migrationUrl: toPooler(migrationUrl), directUrl: url }),
    ).rejects.toThrow('MIGRATION_DATABASE_URL leads to a connection pooler')
  })

  test('a role without timeouts is refused with the statements that set them', async () => {
    const toPooler = await startPooler()
    const { url, migrationUrl } = await createTarget()
    await expect(open({ url: toPooler(url), migrationUrl, directUrl: url })).rejects.toThrow(
      `Run alter role ${RUNTIME} set statement_timeout = '10s'; alter role ${RUNTIME} set idle_in_transaction_session_timeout = '10s';`,
    )
  })

  test('with a direct way, transactions, their locks and settings work, and notifications come', async () => {
    const toPooler = await startPooler()
    const target = await createTarget()
    await setTimeouts(target, '10s')
    const { url, migrationUrl } = target
    const { db, listen } = await open({ url: toPooler(url), migrationUrl, directUrl: url })
    const heard: string[] = []
    await listen('pooled_database', (payload) => heard.push(payload))
    // Two are open at one time, on two connections.
    const isOpen = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    // More transactions than the pooler has connections: each has one alone until it ends.
    const seen = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        db.transaction(async (tx) => {
          isOpen[index]?.resolve()
          if (index < isOpen.length) await Promise.all(isOpen.map(({ promise }) => promise))
          await tx.execute(sql`select pg_advisory_xact_lock(${index % 2})`)
          await tx.execute(sql`select set_config('work_mem', ${`${1_000 + index}kB`}, true)`)
          const { rows } = await tx.execute<{ memory: string; pid: number }>(
            sql`select current_setting('work_mem') as memory, pg_backend_pid() as pid`,
          )
          return rows[0]
        }),
      ),
    )
    expect(seen.map((row) => row?.memory)).toEqual(
      Array.from({ length: 20 }, (_, index) => `${1_000 + index}kB`),
    )
    expect(seen[0]?.pid).not.toBe(seen[1]?.pid)
    const { rows } = await db.execute<{ memory: string }>(
      sql`select current_setting('work_mem') as memory`,
    )
    expect(rows[0]?.memory).toBe('4MB')
    await db.execute(sql`select pg_notify('pooled_database', 'changed')`)
    await expect.poll(() => heard).toEqual(['changed'])
  })
})
