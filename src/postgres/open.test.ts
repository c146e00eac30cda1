import { spawn } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { sql } from 'drizzle-orm'
import { expect, onTestFinished, test, vi } from 'vitest'
import { asOwner, createTestDatabase, ENGINES } from '#testing/postgres.ts'
import { DataFolderError, lockFolder } from './folder-lock.ts'
import { afterCommit, openDatabase, isDatabaseUnavailable } from './open.ts'
import type { RuntimeRights } from './runtime-role.ts'

const SCHEMA = {
  migrations: fileURLToPath(new URL('../service/db/migrations', import.meta.url)),
  schema: 'service',
  rights: { postgres_timeline: { insert: true, update: ['timeline'] } } satisfies RuntimeRights,
}

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'paydesk-lock-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Another process that takes the lock and holds it until it is killed. */
async function holdElsewhere(folder: string) {
  const program = `import { lockFolder } from ${JSON.stringify(new URL('folder-lock.ts', import.meta.url).href)}
    lockFolder(${JSON.stringify(folder)}); console.log('held'); setInterval(() => {}, 1000)`
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  await new Promise((resolve) => child.stdout.once('data', resolve))
  return child
}

test('a folder is refused to a second process, which is told who holds it', async () => {
  const folder = temporaryFolder()
  const holder = await holdElsewhere(folder)
  await expect(openDatabase({ dataDir: folder }, SCHEMA)).rejects.toThrow(
    new RegExp(`${folder} is in use by process ${holder.pid} `),
  )
})

test('a holder that is killed leaves the folder free at once', async () => {
  const folder = temporaryFolder()
  const holder = await holdElsewhere(folder)
  holder.kill('SIGKILL')
  await new Promise((resolve) => holder.once('exit', resolve))
  lockFolder(folder)()
})

test('a folder is refused to a second opener in the same process, and free again after the first one closed', async () => {
  const folder = temporaryFolder()
  const release = lockFolder(folder)
  expect(() => lockFolder(folder)).toThrow(`in use by process ${process.pid} `)
  release()
  lockFolder(folder)()
})

test('a folder that cannot be written, and one whose database is damaged, are named in a sentence', async () => {
  const folder = temporaryFolder()
  const file = join(folder, 'file')
  writeFileSync(file, '')
  await expect(openDatabase({ dataDir: file }, SCHEMA)).rejects.toThrow(
    new DataFolderError(
      `The database folder ${file} cannot be written (Error: EEXIST: file already exists, mkdir '${file}'). Choose a DATA_DIR on a disk with space, or give its user the right to write it.`,
    ),
  )
  await (await openDatabase({ dataDir: folder }, SCHEMA))[Symbol.asyncDispose]()
  truncateSync(join(folder, 'pgdata/global/pg_control'), 10)
  await expect(openDatabase({ dataDir: folder }, SCHEMA)).rejects.toThrow(
    /^The embedded database in .*pgdata cannot be opened \(.*\)\. If its disk is full, make space\. If it is damaged, restore a backup/,
  )
})

test('the embedded engine keeps 16 MB of pages in the memory of its process, not its default of 128 MB', async () => {
  const { target } = await createTestDatabase('pglite')
  await using opened = await openDatabase(target, SCHEMA)
  const { rows } = await opened.db.execute(
    sql`select setting::integer * 8 / 1024 as megabytes from pg_settings where name = 'shared_buffers'`,
  )
  expect(rows).toEqual([{ megabytes: 16 }])
})

test('rows survive a restart of the embedded engine', async () => {
  const folder = temporaryFolder()
  {
    await using first = await openDatabase({ dataDir: folder }, SCHEMA)
    await first.db.execute(
      sql`insert into service.account (id, name, plan) values ('acc_1', 'one', 'standard')`,
    )
  }
  await using second = await openDatabase({ dataDir: folder }, SCHEMA)
  expect((await second.db.execute(sql`select id from service.account`)).rows).toEqual([
    { id: 'acc_1' },
  ])
})

test('processes that migrate one server at once take turns', async () => {
  await using database = await createTestDatabase('postgres')
  const opened = await Promise.all(
    Array.from({ length: 6 }, () => openDatabase(database.target, SCHEMA)),
  )
  for (const each of opened) await each[Symbol.asyncDispose]()
})

/** The migrations of a version to come, which has one more. */
function withMigration(statement: string) {
  const folder = temporaryFolder()
  cpSync(SCHEMA.migrations, folder, { recursive: true })
  const path = join(folder, 'meta/_journal.json')
  const { entries, ...journal }: { entries: { idx: number; tag: string; when: number }[] } =
    JSON.parse(readFileSync(path, 'utf8'))
  const last = entries.at(-1)
  if (!last) throw new Error('There are no migrations.')
  const added = { ...last, idx: last.idx + 1, tag: 'added', when: last.when + 1 }
  writeFileSync(path, JSON.stringify({ ...journal, entries: [...entries, added] }))
  writeFileSync(join(folder, 'added.sql'), statement)
  return { ...SCHEMA, migrations: folder }
}

test.each(ENGINES)(
  'a version of a program does not start on a schema that a newer one has migrated, on %s',
  async (engine) => {
    await using own = await createTestDatabase(engine)
    const dataDir = temporaryFolder()
    const target = 'url' in own.target ? own.target : { dataDir }
    const newer = withMigration('CREATE TABLE service.added (id text);')
    await (await openDatabase(target, newer))[Symbol.asyncDispose]()
    const refused = {
      name: 'SchemaVersionError',
      message: expect.stringContaining('Install the newer version again.'),
    }
    await expect(openDatabase(target, SCHEMA)).rejects.toMatchObject(refused)
    if ('url' in target)
      await expect(openDatabase({ url: target.url }, SCHEMA)).rejects.toMatchObject(refused)
    await (await openDatabase(target, newer))[Symbol.asyncDispose]()
  },
)

test('a migration takes as long as it needs, whatever limit its role has', async () => {
  await using own = await createTestDatabase('postgres')
  const target = asOwner(own.target)
  {
    await using opened = await openDatabase(target, SCHEMA)
    await opened.db.execute(sql`do $$ begin
      execute format('alter role %I in database %I set statement_timeout = 200', current_user, current_database());
    end $$`)
  }
  const longer = withMigration('SELECT pg_sleep(0.5);')
  await (await openDatabase(target, longer))[Symbol.asyncDispose]()
})

test.each(ENGINES)(
  '%s: notifications reach every listener until it stops listening',
  async (engine) => {
    await using database = await createTestDatabase(engine)
    await using opened = await openDatabase(database.target, SCHEMA)
    const [first, second]: [string[], string[]] = [[], []]
    const stop = await opened.listen('news', (payload) => void first.push(payload))
    await opened.listen('news', (payload) => void second.push(payload))
    await opened.db.execute(sql`select pg_notify('news', 'a')`)
    await expect.poll(() => [first, second]).toEqual([['a'], ['a']])
    await stop()
    await opened.db.execute(sql`select pg_notify('news', 'b')`)
    await expect.poll(() => second).toEqual(['a', 'b'])
    expect(first).toEqual(['a'])
  },
)

test('a server that cannot be reached is told apart from a wrong query', async () => {
  const unreachable = await openDatabase(
    { url: 'postgres://nobody@127.0.0.1:1/none' },
    SCHEMA,
  ).catch((error: unknown) => error)
  expect(isDatabaseUnavailable(unreachable)).toBe(true)
  await using database = await createTestDatabase('postgres')
  await using opened = await openDatabase(database.target, SCHEMA)
  const wrong = await opened.db.execute(sql`select nonsense`).catch((error: unknown) => error)
  expect(isDatabaseUnavailable(wrong)).toBe(false)
  const killed = await opened.db
    .execute(sql`select pg_terminate_backend(pg_backend_pid())`)
    .catch((error: unknown) => error)
  expect(isDatabaseUnavailable(killed)).toBe(true)
  expect((await opened.db.execute(sql`select 1 as one`)).rows).toEqual([{ one: 1 }])
})

test('a connection that breaks in a transaction fails the transaction and nothing else', async () => {
  await using database = await createTestDatabase('postgres')
  const warnings: string[] = []
  await using opened = await openDatabase(database.target, {
    ...SCHEMA,
    onWarning: ({ message }) => warnings.push(message),
  })
  const broken = await opened.db
    .transaction(async (tx) => {
      const { rows } = await tx.execute<{ pid: number }>(sql`select pg_backend_pid() as pid`)
      await opened.db.execute(sql`select pg_terminate_backend(${rows[0]?.pid})`)
      // Lost between two queries, when nobody waits for an answer on it.
      await expect.poll(() => warnings).not.toEqual([])
      await tx.execute(sql`select 1`)
    })
    .catch((error: unknown) => error)
  expect(isDatabaseUnavailable(broken)).toBe(true)
  expect((await opened.db.execute(sql`select 1 as one`)).rows).toEqual([{ one: 1 }])
})

test('every connection is kept alive, also the one that migrates and says nothing meanwhile', async () => {
  await using database = await createTestDatabase('postgres')
  onTestFinished(() => void vi.restoreAllMocks())
  const connect = vi.spyOn(Socket.prototype, 'connect')
  const keepAlive = vi.spyOn(Socket.prototype, 'setKeepAlive')
  await using opened = await openDatabase(database.target, SCHEMA)
  await opened.listen('anything', () => {})
  const kept = connect.mock.contexts.map((socket) => {
    const call = keepAlive.mock.contexts.indexOf(socket)
    return keepAlive.mock.calls[call]
  })
  // To check the session, to migrate, of the pool, and to listen.
  expect(kept.length).toBeGreaterThanOrEqual(4)
  expect(kept).toEqual(kept.map(() => [true, 10_000]))
})

test('a start whose connection breaks while it waits to migrate fails in words', async () => {
  await using database = await createTestDatabase('postgres')
  await using other = await openDatabase(asOwner(database.target), SCHEMA)
  const waiting = sql`select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and not granted`
  const failed = await other.db.transaction(async (tx) => {
    await tx.execute(sql`select pg_advisory_xact_lock(4020001)`)
    const start = openDatabase(database.target, SCHEMA).catch((error: unknown) => error)
    await expect.poll(async () => (await tx.execute(waiting)).rows.length).toBe(1)
    return start
  })
  expect(isDatabaseUnavailable(failed)).toBe(true)
})

test('a query that takes too long is cut off by the server, and may be asked again', async () => {
  await using database = await createTestDatabase('postgres')
  await using opened = await openDatabase(database.target, SCHEMA)
  const slow = await opened.db.execute(sql`select pg_sleep(60)`).catch((error: unknown) => error)
  expect(slow).toMatchObject({ cause: { code: '57014' } })
  expect(isDatabaseUnavailable(slow)).toBe(true)
})

/** A database whose owner may make tables, with one counter. */
async function openCounter() {
  await using stack = new AsyncDisposableStack()
  const { target } = stack.use(await createTestDatabase('postgres'))
  const { db } = stack.use(await openDatabase(asOwner(target), SCHEMA))
  await db.execute(sql`create table counter (id int, value int)`)
  await db.execute(sql`insert into counter select id, 0 from generate_series(1, 2) as id`)
  const kept = stack.move()
  return {
    db,
    read: async () =>
      (await db.execute(sql`select value from counter order by id`)).rows.map(({ value }) => value),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}

test('a transaction that the server rolls back for another one runs again from its beginning, and only its last attempt tells', async () => {
  await using counter = await openCounter()
  const { db } = counter
  const told: string[] = []
  let attempts = 0
  const result = await db.transaction(
    async (tx) => {
      const attempt = ++attempts
      const { rows } = await tx.execute<{ value: number }>(
        sql`select value from counter where id = 1`,
      )
      // A change of another connection, which this snapshot does not show: 40001.
      if (attempt === 1) await db.execute(sql`update counter set value = 10 where id = 1`)
      afterCommit(tx, () => told.push(`transaction ${attempt}`))
      await tx.transaction((part) =>
        part.transaction(async (inner) => afterCommit(inner, () => told.push(`${attempt}`))),
      )
      await tx.execute(sql`update counter set value = ${(rows[0]?.value ?? 0) + 1} where id = 1`)
      return attempt
    },
    { isolationLevel: 'repeatable read' },
  )
  expect({ result, attempts, told }).toEqual({
    result: 2,
    attempts: 2,
    told: ['transaction 2', '2'],
  })
  expect(await counter.read()).toEqual([11, 0])
})

test('of two transactions that wait for each other the one that the server ends runs again', async () => {
  await using counter = await openCounter()
  const { db } = counter
  const locked = { 1: Promise.withResolvers<void>(), 2: Promise.withResolvers<void>() }
  let attempts = 0
  const add = (first: 1 | 2, second: 1 | 2) =>
    db.transaction(async (tx) => {
      attempts++
      await tx.execute(sql`update counter set value = value + 1 where id = ${first}`)
      locked[first].resolve()
      await locked[second].promise
      await tx.execute(sql`update counter set value = value + 1 where id = ${second}`)
    })
  await Promise.all([add(1, 2), add(2, 1)])
  expect(attempts).toBe(3)
  expect(await counter.read()).toEqual([2, 2])
})

test('a transaction that is rolled back again and again is given up, as a database that does not serve now', async () => {
  await using counter = await openCounter()
  let attempts = 0
  const failed = await counter.db
    .transaction(async (tx) => {
      attempts++
      await tx.execute(sql`update counter set value = value + 1`)
      await tx.execute(sql.raw(`do $$ begin raise exception using errcode = '40001'; end $$`))
    })
    .catch((error: unknown) => error)
  expect(attempts).toBe(10)
  expect(isDatabaseUnavailable(failed)).toBe(true)
  expect(await counter.read()).toEqual([0, 0])
})

test('a COMMIT whose connection is lost is not repeated: it may have been committed', async () => {
  await using counter = await openCounter()
  const { db } = counter
  await db.execute(
    sql.raw(`create function vanish() returns trigger language plpgsql as $$
      begin perform pg_terminate_backend(pg_backend_pid()); return null; end $$`),
  )
  await db.execute(
    sql`create constraint trigger vanishing after update on counter deferrable initially deferred for each row execute function vanish()`,
  )
  let attempts = 0
  const failed = await db
    .transaction(async (tx) => {
      attempts++
      await tx.execute(sql`update counter set value = value + 1 where id = 1`)
    })
    .catch((error: unknown) => error)
  expect(attempts).toBe(1)
  expect(isDatabaseUnavailable(failed)).toBe(true)
})

test('a single statement that the server rolls back runs again', async () => {
  await using counter = await openCounter()
  const { db } = counter
  await db.execute(sql`create sequence tries`)
  // A sequence remembers what was rolled back.
  await db.execute(
    sql.raw(`create function refuse_twice() returns trigger language plpgsql as $$
      begin if nextval('tries') < 3 then raise exception using errcode = '40P01'; end if; return new; end $$`),
  )
  await db.execute(
    sql`create trigger refusing before update on counter for each row execute function refuse_twice()`,
  )
  await db.execute(sql`update counter set value = value + 1 where id = 1`)
  expect(await counter.read()).toEqual([1, 0])
})
