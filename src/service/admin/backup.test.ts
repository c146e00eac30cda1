import { spawn } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { env } from 'node:process'
import { text } from 'node:stream/consumers'
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createPaymentId } from '#contract/payment.ts'
import { openDatabase, type Database, type DatabaseTarget } from '#postgres/open.ts'
import {
  asOwner,
  createDatabase,
  databaseVariables,
  distributionBinaries,
  startServer,
} from '#testing/postgres.ts'
import { insertTestPayment } from '#testing/service-app.ts'
import { event } from '../db/schema/payment.ts'
import { SERVICE_SCHEMA } from '../db/migrations-folder.ts'
import { createAccount } from '../keys/accounts.ts'

/** The commands are those of docs/OPERATIONS.md, word for word; only the files are in a folder of the test. */

const ROOT = join(import.meta.dirname, '../../..')
const COMMANDS = shellCommands('Backup and restore')
const bin = distributionBinaries()
let folder: string

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'paydesk-backup-'))
  // Another user runs the server.
  chmodSync(folder, 0o755)
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

type Ended = { code: number | null; out: string; err: string }

async function shell(
  command: string,
  variables: Record<string, string>,
  path = `${bin}${delimiter}${env['PATH']}`,
): Promise<Ended> {
  const child = spawn(
    '/bin/sh',
    ['-ec', command.replaceAll(/(?<= )backup\./g, `${folder}/backup.`)],
    {
      cwd: ROOT,
      env: { HOME: folder, PATH: path, ...variables },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  )
  const code = new Promise<number | null>((resolve) => child.once('close', resolve))
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)])
  return { code: await code, out, err }
}

async function insertWithEvent(db: Database, accountId: string): Promise<string> {
  const id = createPaymentId()
  await db.transaction(async (tx) => {
    await insertTestPayment(tx, { id, accountId })
    await tx
      .insert(event)
      .values({ paymentId: id, accountId, status: 'created', source: 'service' })
  })
  return id
}

/** Every row of the schema, as text, but what a restore changes: the epoch and the next event's number. */
async function readLedger(db: Database): Promise<Record<string, string[]>> {
  const { rows: tables } = await db.execute<{ name: string }>(
    sql`select tablename as name from pg_tables where schemaname = 'service' and tablename not in ('deployment', 'event_numbering') order by tablename`,
  )
  const ledger: Record<string, string[]> = {}
  for (const { name } of tables) {
    const { rows } = await db.execute<{ row: string }>(
      sql`select t::text as row from service.${sql.identifier(name)} t order by 1`,
    )
    ledger[name] = rows.map(({ row }) => row)
  }
  return ledger
}

async function readEpoch(db: Database): Promise<number> {
  const { rows } = await db.execute<{ epoch: number }>(
    sql`select epoch::int as epoch from service.deployment`,
  )
  return rows[0]?.epoch ?? NaN
}

describe('of a server', () => {
  let server: Awaited<ReturnType<typeof startServer>>
  let source: DatabaseTarget
  let restored: DatabaseTarget
  beforeAll(async () => {
    server = await startServer({ bin })
    source = (await createDatabase(server.folder)).target
    restored = (await createDatabase(server.folder)).target
  })
  afterAll(() => server?.stop())

  test('a backup while payments are made, and a restore of it, have the ledger of one moment', async () => {
    const [takes] = COMMANDS.filter((command) => command.includes('backup.dump'))
    const restores = COMMANDS.find((command) => command.startsWith('pg_restore'))
    await using live = await openDatabase(source, SERVICE_SCHEMA)
    const { id: accountId } = await createAccount(live.db, { name: 'Acme', plan: 'premium' })
    const before = [await insertWithEvent(live.db, accountId)]
    for (let made = 0; made < 50; made++) before.push(await insertWithEvent(live.db, accountId))
    const [after, ended] = [[] as string[], { yes: false }]
    const writing = (async () => {
      while (!ended.yes) after.push(await insertWithEvent(live.db, accountId))
    })()
    const backup = await shell(takes ?? '', databaseVariables(source))
    ended.yes = true
    await writing
    expect(backup).toMatchObject({ code: 0, out: expect.stringContaining('The backup is in') })
    expect(after.length).toBeGreaterThan(0)
    expect(statSync(join(folder, 'backup.dump')).mode & 0o777).toBe(0o600)

    expect(await shell(restores ?? '', databaseVariables(restored))).toMatchObject({ code: 0 })
    // The role at run time has its rights again.
    const { url } = restored as { url: string }
    const command = await shell('npm run admin -- restore', { DATABASE_URL: url })
    expect(command).toMatchObject({ code: 0, out: expect.stringContaining('Epoch 1 begins.') })
    await using owner = await openDatabase(asOwner(restored), SERVICE_SCHEMA)
    expect(await readEpoch(owner.db)).toBe(1)
    const { rows } = await owner.db.execute<{ id: string; events: number }>(
      sql`select id, (select count(*)::int from service.event e where e.payment_id = p.id) as events from service.payment p`,
    )
    const known = rows.map(({ id }) => id)
    expect(before.filter((id) => !known.includes(id))).toEqual([])
    expect(rows.filter(({ events }) => events !== 1)).toEqual([])
    await using original = await openDatabase(asOwner(source), SERVICE_SCHEMA)
    const [ours, theirs] = [await readLedger(owner.db), await readLedger(original.db)]
    // What was paid meanwhile may be missing, and nothing else.
    const newer = after.filter((id) => !known.includes(id))
    const without = (lines: string[] = []) =>
      lines.filter((line) => !newer.some((id) => line.includes(id)))
    for (const table of ['payment', 'event', 'account', 'api_key', 'wallet', 'claim'])
      expect(ours[table], table).toEqual(without(theirs[table]))
  })

  test('a backup as the role at run time names the variable of the owner', async () => {
    const { url } = source as { url: string }
    const file = join(folder, 'refused.dump')
    const { code, err } = await shell(`npm run --silent admin -- backup --file ${file}`, {
      DATABASE_URL: url,
    })
    expect(code).toBe(1)
    expect(err).toContain('Set MIGRATION_DATABASE_URL to the role that owns the tables.')
    expect([existsSync(file), existsSync(`${file}.unfinished`)]).toEqual([false, false])
  })

  test('without pg_dump the refusal says what to install', async () => {
    const file = join(folder, 'refused.dump')
    const { code, err } = await shell(
      `"$NODE" src/service/admin/main.ts backup --file ${file}`,
      { ...databaseVariables(source), NODE: process.execPath },
      join(folder, 'nowhere'),
    )
    expect(code).toBe(1)
    expect(err).toMatch(/^pg_dump cannot be run .* Install the client programs of Postgres/)
    expect(existsSync(file)).toBe(false)
  })

  test('a password is not among the arguments of pg_dump', async () => {
    const shown = join(folder, 'arguments')
    const script = `#!/bin/sh\nprintf '%s\\n' "$@" "$PGPASSWORD" > ${shown}\n`
    const fake = mkdtempSync(join(folder, 'bin-'))
    writeFileSync(join(fake, 'pg_dump'), script, { mode: 0o755 })
    const { code } = await shell(
      `npm run --silent admin -- backup --file ${join(folder, 'empty.dump')}`,
      { DATABASE_URL: 'postgres://owner:se%40cret@db.example:5432/paydesk' },
      `${fake}${delimiter}${env['PATH']}`,
    )
    expect(code).toBe(0)
    const lines = readFileSync(shown, 'utf8').trim().split('\n')
    expect(lines.slice(-2)).toEqual(['postgres://owner@db.example:5432/paydesk', 'se@cret'])
  })

  test('a file that exists is not replaced', async () => {
    const before = readFileSync(join(folder, 'backup.dump'))
    const { code, err } = await shell(
      'npm run --silent admin -- backup --file backup.dump',
      databaseVariables(source),
    )
    expect([code, err]).toEqual([
      1,
      `The file ${folder}/backup.dump exists. Choose another name.\n`,
    ])
    expect(readFileSync(join(folder, 'backup.dump'))).toEqual(before)
  })
})

describe('of the embedded database', () => {
  test('a backup is refused while a program has the folder open; later it is restored equal', async () => {
    const dataDir = join(folder, 'service')
    const takes = COMMANDS.find((command) => command.includes('--file backup.tar.gz')) ?? ''
    const restores = COMMANDS.find((command) => command.includes('tar --extract')) ?? ''
    const inTest = (command: string) => command.replaceAll('.paydesk/service', dataDir)
    let ledger: Record<string, string[]>
    {
      await using live = await openDatabase({ dataDir }, SERVICE_SCHEMA)
      const { id } = await createAccount(live.db, { name: 'Acme', plan: 'premium' })
      for (let made = 0; made < 5; made++) await insertWithEvent(live.db, id)
      ledger = await readLedger(live.db)
      const { code, err } = await shell(takes, { DATA_DIR: dataDir })
      expect([code, err]).toEqual([
        1,
        expect.stringContaining(`is in use by process ${process.pid} `),
      ])
      expect(existsSync(join(folder, 'backup.tar.gz'))).toBe(false)
    }
    expect(await shell(takes, { DATA_DIR: dataDir })).toMatchObject({ code: 0 })
    expect(statSync(join(folder, 'backup.tar.gz')).mode & 0o777).toBe(0o600)
    {
      // What comes after the backup is lost with the restore.
      await using later = await openDatabase({ dataDir }, SERVICE_SCHEMA)
      await createAccount(later.db, { name: 'Later', plan: 'standard' })
    }
    expect(await shell(inTest(restores), {})).toMatchObject({ code: 0 })
    expect(await shell('npm run admin -- restore', { DATA_DIR: dataDir })).toMatchObject({
      code: 0,
    })
    await using opened = await openDatabase({ dataDir }, SERVICE_SCHEMA)
    expect(ledger['payment']).toHaveLength(5)
    expect(await readLedger(opened.db)).toEqual(ledger)
    expect(await readEpoch(opened.db)).toBe(1)
  })

  test('a folder without a database is refused, and none is made', async () => {
    const dataDir = join(folder, 'none')
    const { code, err } = await shell('npm run --silent admin -- backup --file backup.none', {
      DATA_DIR: dataDir,
    })
    expect([code, err]).toEqual([1, `The folder ${dataDir} has no database. Check DATA_DIR.\n`])
    expect(existsSync(dataDir)).toBe(false)
  })
})

/** The blocks of a section of docs/OPERATIONS.md for the shell. */
function shellCommands(heading: string): string[] {
  const document = readFileSync(join(ROOT, 'docs/OPERATIONS.md'), 'utf8')
  const section = document.split(/^## /m).find((part) => part.startsWith(heading)) ?? ''
  return [...section.matchAll(/^( *)```sh\n([^]*?)^ *```$/gm)].map(([, indent = '', body = '']) =>
    body.replaceAll(new RegExp(`^${indent}`, 'gm'), '').trim(),
  )
}
