import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { BFF_SCHEMA } from '#bff/db/migrations-folder.ts'
import { openDatabase, type Database, type OpenOptions } from '#postgres/open.ts'
import { SchemaVersionError } from '#postgres/schema-version.ts'
import { SERVICE_SCHEMA } from '#service/db/migrations-folder.ts'
import { createAccount } from '#service/keys/accounts.ts'
import { OFFLINE_NETWORKS } from './fixture.ts'
import {
  asOwner,
  createTestDatabase,
  databaseVariables,
  ENGINES,
  executeAsAdmin,
  executeAsOwner,
  type Engine,
  type TestDatabase,
  urlOf,
} from './postgres.ts'
import { insertTestPayment } from './service-app.ts'

/**
 * What the role at run time may do with each table: S(elect), I(nsert), U(pdate), D(elete); the
 * columns where it may update only those. This is the second place that says so; the first grants
 * it. A table without a line here fails.
 */
const RIGHTS: Readonly<Record<string, string>> = {
  'bff.audit_entry': 'SI outcome subject',
  'bff.balance_alert': 'SID name set_at set_by threshold',
  'bff.challenge': 'SID',
  'bff.customer_profile': 'SID email labels name note updated_at updated_by words',
  'bff.file_presenter': 'SID presenter',
  'bff.file_purchase': 'SI delivered_at downloads failed_at reported_at sending_until',
  'bff.file_sale':
    'SID content credential file_name mime_type name ranges size source source_id withdrawn_at',
  'bff.file_ticket': 'SID',
  'bff.hosted_intent': 'SID payment_id signature_hash state taken_at',
  'bff.invitation': 'SID',
  'bff.invoice':
    'SID currency customer_id customer_removed_at due_on issued_on lines link_id note number paid seller sequence state total',
  'bff.invoice_customer': 'SID used_at',
  'bff.invoice_numbering': 'SI last prefix seller',
  'bff.link_key': 'SI',
  'bff.link_payment':
    'SID arrival checked_at lease_until payment_id presenter recorded refunded sender session_id status surplus',
  'bff.mail_address':
    'SID address code code_attempts code_expires_at confirmed_at kinds language unsubscribe_token updated_at',
  'bff.mail_cursor': 'SI events_at lists_at position',
  'bff.mail_item': 'SID message_id',
  'bff.mail_message': 'SID attempts earlier failure next_attempt_at state',
  'bff.payment_contact': 'SID kept',
  'bff.payment_link': 'SI withdrawn_at',
  'bff.payment_note': 'SI labels note reconciled_at updated_at updated_by',
  'bff.postgres_timeline': 'SID timeline',
  'bff.product': 'SI archived_at description image_id name price',
  'bff.product_image': 'SI',
  'bff.session': 'SID cookie_hash expires_at idle_at wallets',
  'bff.session_payment': 'SI',
  'bff.wallet_role': 'SID given_at given_by role',
  'migrations.bff': 'S',
  'migrations.service': 'S',
  'service.account': 'SI facilitators plan scopes',
  'service.api_key': 'SI expires_at last_used_at replaced_by revoked_at',
  'service.attempt': 'SI broadcast_at',
  'service.chain_cursor': 'SI height holder lease_until',
  'service.claim':
    'SID account_id attempt checks consumed_at exclusive fingerprint granted_call lease_until payment_id transaction',
  'service.customer': 'SID first_at last_at payments',
  'service.customer_total': 'SID payments received refunded refunds symbol',
  'service.deployment': 'S epoch restored_at',
  'service.event': 'SI draft number',
  'service.event_numbering': 'S holder last lease_until',
  'service.idempotency': 'SID body created_at fingerprint lease_until status',
  'service.network_affirmation': 'SUI',
  'service.payment':
    'SI block_hash block_height block_time broadcast_at confirmed_at direction draft evidence expires_at failure fee fee_payer last_valid_block_height max_fee metadata nonce ' +
    'payer_nonce payer_signature payment_proof reported_signature resource sender_verified signature status unsigned_transaction updated_at',
  'service.payment_change': 'SID',
  'service.payment_identifier': 'SUID',
  'service.payment_tally': 'SID amount fees payments refunded refunds',
  'service.postgres_timeline': 'SID timeline',
  'service.refund_request': 'SI decline_note declined_at declined_by settled_at',
  'service.refused_payer': 'SUID',
  'service.request_log': 'SID',
  'service.reservation': 'SID amount expires_at',
  'service.settlement_fee': 'SI paid reserved',
  'service.settlement_order': 'SID',
  'service.socket': 'SID lease_until',
  'service.token_pool': 'SUID',
  'service.unmatched_transfer':
    'SID assigned_at assigned_by assigned_note assigned_payment_id block_hash block_height block_time finalized_at matched_payment_id',
  'service.usage': 'SID requests',
  'service.wallet': 'SI',
  'service.wallet_challenge': 'SID',
  'service.wallet_ledger': 'SUI',
  'service.wallet_owner': 'SI released_at',
  'service.webhook_delivery':
    'SID attempts body duration_ms failure last_attempt_at next_attempt_at response_body response_status retry_until state',
  'service.webhook_endpoint': 'SID cursor enabled events holder lease_until secrets url',
}

/** Every table outside of Postgres' own, with what the current role may do. */
const READ_RIGHTS = sql`
  select n.nspname || '.' || c.relname as name,
    concat(
      case when has_table_privilege(c.oid, 'select') then 'S' end,
      case when has_table_privilege(c.oid, 'update') then 'U' end,
      case when has_table_privilege(c.oid, 'insert') then 'I' end,
      case when has_table_privilege(c.oid, 'delete') then 'D' end,
      case when has_table_privilege(c.oid, 'truncate, references, trigger') then ' more' end,
      case when not has_table_privilege(c.oid, 'update') then (
        select string_agg(' ' || a.attname, '' order by a.attname) from pg_attribute a
        where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and has_column_privilege(c.oid, a.attnum, 'update')) end
    ) as rights
  from pg_class c join pg_namespace n on n.oid = c.relnamespace
  where c.relkind in ('r', 'p', 'v', 'm', 'f') and n.nspname not in ('pg_catalog', 'information_schema')
  order by 1`

const PAYMENT = 'pay_1'
const CODES = { denied: '42501', kept: '23000' }

const disposal = new AsyncDisposableStack()
let database: TestDatabase
let db: Database

beforeAll(async () => {
  database = disposal.use(await createTestDatabase('postgres'))
  const opened = disposal.use(await openDatabase(database.target, SERVICE_SCHEMA))
  disposal.use(await openDatabase(database.target, BFF_SCHEMA))
  db = opened.db
  expect(opened.ownsTables).toBe(false)
  await plant(db)
})
afterAll(() => disposal.disposeAsync())

/** One row of each table of the ledger that has rules beside its rights. */
async function plant(on: Database): Promise<void> {
  const account = await createAccount(on, { name: 'Shop', plan: 'standard' })
  await insertTestPayment(on, { id: PAYMENT, accountId: account.id, status: 'confirmed' })
  for (const [key, attempt, consumed] of [
    ['used', 'granted', 'now()'],
    ['assigned', 'assigned', 'now()'],
    ['open', 'one', 'null'],
  ])
    await on.execute(
      `insert into service.claim (scope, exclusive, network, key, account_id, fingerprint, attempt, lease_until, payment_id, consumed_at)
       values ('${account.id}', true, 'eip155:1', '${key}', '${account.id}', '', '${attempt}', now(), '${PAYMENT}', ${consumed})`,
    )
  await on.execute(
    `insert into service.settlement_order (payment_id, account_id, network, key, fingerprint, checks)
     values ('${PAYMENT}', '${account.id}', 'eip155:1', 'used', '', '[]')`,
  )
  await on.execute(
    `insert into service.event (number, account_id, payment_id, status, source) values (1, '${account.id}', '${PAYMENT}', 'confirmed', 'watcher')`,
  )
  for (const [id, finalized] of [
    ['final', 'now()'],
    ['fresh', 'null'],
  ])
    await on.execute(
      `insert into service.unmatched_transfer (id, account_id, network, signature, sender, recipient, asset, symbol, decimals, amount, block_height, finalized_at)
       values ('${id}', '${account.id}', 'eip155:1', '${id}', 'a', 'b', 'c', 'ETH', 18, 1, 1, ${finalized})`,
    )
}

/** The code that the database refuses a statement with; undefined, and undone, when it runs. */
async function refusalOf(on: Database, statement: string): Promise<string | undefined> {
  const undo = new Error('undo')
  const failed = await on
    .transaction(async (tx) => {
      await tx.execute(statement)
      throw undo
    })
    .catch((error: unknown) => error)
  if (failed === undo) return undefined
  return failed instanceof Error && failed.cause instanceof Error && 'code' in failed.cause
    ? String(failed.cause.code)
    : String(failed)
}

test('the runtime role may do with every table what its line says, and nothing more', async () => {
  const { rows } = await db.execute<{ name: string; rights: string }>(READ_RIGHTS)
  expect(Object.fromEntries(rows.map(({ name, rights }) => [name, rights]))).toEqual(RIGHTS)
})

test('a right that was granted by hand is gone after the next start', async () => {
  const owner = { target: database.target, db }
  await executeAsOwner(owner, 'grant delete on service.payment to paydesk_runtime')
  await executeAsOwner(owner, 'grant update (amount) on service.payment to paydesk_runtime')
  await using _ = await openDatabase(database.target, SERVICE_SCHEMA)
  const { rows } = await db.execute<{ name: string; rights: string }>(READ_RIGHTS)
  expect(rows.find(({ name }) => name === 'service.payment')?.rights).toBe(
    RIGHTS['service.payment'],
  )
})

test.each([
  'delete from service.payment',
  'delete from service.event',
  'delete from service.attempt',
  'delete from service.wallet_ledger',
  'delete from service.wallet',
  'delete from service.account',
  'truncate service.payment cascade',
  'truncate service.claim',
  'update service.payment set amount = 1',
  "update service.payment set recipient = 'x'",
  "update service.payment set account_id = 'x'",
  'update service.payment set created_at = now()',
  "update service.event set status = 'failed'",
  "update service.attempt set signed_transaction = ''",
  "update service.claim set key = 'x'",
  "update service.deployment set id = 'x'",
  "update service.wallet set sealed_secret = ''",
  'alter table service.payment add column x text',
  'alter table service.claim disable trigger all',
  'drop table service.payment cascade',
  'drop trigger claim_kept on service.claim',
  'create or replace function service.keep_row() returns trigger language sql return null',
  'create table service.x (id text)',
  'create schema x',
  'drop schema service cascade',
  'set role paydesk_owner',
  'set local session_replication_role = replica',
  'delete from migrations.service',
  'delete from bff.payment_link',
  'truncate bff.session cascade',
])('the runtime role is refused: %s', async (statement) => {
  expect(await refusalOf(db, statement)).toBe(CODES.denied)
})

describe.each(ENGINES)('rows of the ledger, on %s', (engine: Engine) => {
  let on: Database
  const own = new AsyncDisposableStack()

  beforeAll(async () => {
    if (engine === 'postgres') {
      on = db
      return
    }
    const { target } = own.use(await createTestDatabase(engine))
    on = own.use(await openDatabase(target, SERVICE_SCHEMA)).db
    await plant(on)
  })
  afterAll(() => own.disposeAsync())

  test.each([
    "delete from service.claim where key = 'used'",
    "update service.claim set consumed_at = null where key = 'used'",
    "update service.claim set attempt = 'assigned' where key = 'used'",
    "update service.claim set payment_id = null where key = 'used'",
    "delete from service.unmatched_transfer where id = 'final'",
    "update service.unmatched_transfer set finalized_at = null where id = 'final'",
    'delete from service.settlement_order',
    'update service.event set number = 2 where number = 1',
    'update service.event set number = null where number = 1',
  ])('are kept: %s', async (statement) => {
    expect(await refusalOf(on, statement)).toBe(CODES.kept)
  })

  test.each([
    "delete from service.claim where key = 'open'",
    "delete from service.claim where key = 'assigned'",
    "update service.claim set attempt = 'two' where key = 'used'",
    "delete from service.unmatched_transfer where id = 'fresh'",
  ])('that are none yet can go: %s', async (statement) => {
    expect(await refusalOf(on, statement)).toBeUndefined()
  })
})

describe.each(ENGINES)('what the proxy keeps, on %s', (engine: Engine) => {
  test('is the use of a link by a payment, and what an operator signed', async () => {
    await using own = await createTestDatabase(engine)
    await using opened = await openDatabase(own.target, BFF_SCHEMA)
    await opened.db.execute(
      "insert into bff.payment_link (id, link, created_by, created_at) values ('l', '', '', now())",
    )
    await opened.db.execute(
      "insert into bff.link_payment (id, link_id, payment_id, status, created_at) values ('made', 'l', 'p', 'created', now()), ('place', 'l', null, 'building', now())",
    )
    await opened.db.execute(
      `insert into bff.hosted_intent (id, session_id, signer, network, sender, recipient, asset, amount, created_at, expires_at, state)
       values ('signed', '', '', '', '', '', '', 1, now(), now(), 'sent'), ('unsigned', '', '', '', '', '', '', 1, now(), now(), 'open')`,
    )
    const refused = (statement: string) => refusalOf(opened.db, statement)
    expect(await refused("delete from bff.link_payment where id = 'made'")).toBe(CODES.kept)
    expect(await refused("delete from bff.link_payment where id = 'place'")).toBeUndefined()
    expect(await refused("delete from bff.hosted_intent where id = 'signed'")).toBe(CODES.kept)
    expect(await refused("update bff.hosted_intent set state = 'open' where id = 'signed'")).toBe(
      CODES.kept,
    )
    expect(await refused("delete from bff.hosted_intent where id = 'unsigned'")).toBeUndefined()
  })
})

test.each<[string, OpenOptions]>([
  ['service', SERVICE_SCHEMA],
  ['bff', BFF_SCHEMA],
])(
  'without the owner beside it, a runtime role starts on a migrated schema %s and on no other',
  async (name, schema) => {
    await using own = await createTestDatabase('postgres')
    if (!('url' in own.target)) throw new Error('Expected a server.')
    const { url } = own.target
    const failed = await openDatabase({ url }, schema).catch((error: unknown) => error)
    expect(failed).toBeInstanceOf(SchemaVersionError)
    expect(String(failed)).toContain(`Run npm run migrate:${name} with MIGRATION_DATABASE_URL`)
    await using _ = await openDatabase(own.target, schema)
    await using alone = await openDatabase({ url }, schema)
    expect(alone.ownsTables).toBe(false)
  },
)

test('one role for both works, and says that it owns the tables', async () => {
  await using own = await createTestDatabase('postgres')
  await using opened = await openDatabase(asOwner(own.target), SERVICE_SCHEMA)
  expect(opened.ownsTables).toBe(true)
  expect(await refusalOf(opened.db, 'delete from service.payment')).toBeUndefined()
})

test('the statements of the document make roles that work, and neither program reads the other’s tables', async () => {
  const document = readFileSync(new URL('../../docs/OPERATIONS.md', import.meta.url), 'utf8')
  const statements = [...(/```sql\n([^`]+)```/.exec(document)?.[1] ?? '').matchAll(/\S.*;/g)]
  expect(statements).toHaveLength(4)
  await using own = await createTestDatabase('postgres')
  const name = `documented_${crypto.randomUUID().slice(0, 8)}`
  const urlAs = (role: string) => urlOf(own, `${name}_${role}`, name)
  try {
    for (const [statement] of statements)
      await executeAsAdmin(own, statement.replaceAll('paydesk', name))
    const [service, proxy] = [
      { url: urlAs('service'), migrationUrl: urlAs('owner') },
      { url: urlAs('proxy'), migrationUrl: urlAs('owner') },
    ]
    await using opened = await openDatabase(service, SERVICE_SCHEMA)
    await using other = await openDatabase(proxy, BFF_SCHEMA)
    expect([opened.ownsTables, other.ownsTables]).toEqual([false, false])
    await createAccount(opened.db, { name: 'Shop', plan: 'standard' })
    expect(await refusalOf(opened.db, 'select 1 from bff.session')).toBe(CODES.denied)
    expect(await refusalOf(other.db, 'select 1 from service.payment')).toBe(CODES.denied)
    expect(await refusalOf(opened.db, `set role ${name}_proxy`)).toBe(CODES.denied)
  } finally {
    await executeAsAdmin(own, `drop database if exists ${name} with (force)`)
    for (const role of ['owner', 'service', 'proxy'])
      await executeAsAdmin(own, `drop role if exists ${name}_${role}`)
  }
})

const PROGRAMS = { service: '../service/main.ts', bff: '../bff/main.ts' }

const OWNS = 'the role of DATABASE_URL owns the tables and may delete them'

/** What a program has logged when it listens. */
async function startLog(name: keyof typeof PROGRAMS, env: Record<string, string>): Promise<string> {
  const program = fileURLToPath(new URL(PROGRAMS[name], import.meta.url))
  const folder = mkdtempSync(join(tmpdir(), 'paydesk-role-'))
  const child = spawn(process.execPath, [program], {
    env: {
      ...env,
      PORT: '0',
      NETWORKS: JSON.stringify(OFFLINE_NETWORKS),
      VAULT_KEY_FILE: join(folder, 'vault.key'),
      SERVICE_URL: 'http://127.0.0.1:1',
      SERVICE_API_KEY: 'never-used-in-this-test',
      ALLOWED_ORIGINS: 'http://localhost:1',
      SELLER_WALLETS: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(async () => {
    child.kill('SIGKILL')
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
    rmSync(folder, { recursive: true, force: true })
  })
  let said = ''
  for await (const text of child.stdout) {
    said += String(text)
    if (said.includes('"listening"')) return said
  }
  throw new Error(`The program ended: ${said}`)
}

test.each(['service', 'bff'] as const)(
  'the program %s logs when its role owns the tables, and only then',
  async (name) => {
    await using own = await createTestDatabase('postgres')
    expect(await startLog(name, databaseVariables(own.target))).not.toContain(OWNS)
    expect(await startLog(name, databaseVariables(asOwner(own.target)))).toContain(OWNS)
  },
)

test.each(['service', 'bff'] as const)(
  'the command migrate:%s migrates, sets the rights, and ends',
  async (name) => {
    await using own = await createTestDatabase('postgres')
    const program = fileURLToPath(new URL(PROGRAMS[name], import.meta.url))
    const child = spawn(process.execPath, [program, 'migrate'], {
      env: databaseVariables(own.target),
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    onTestFinished(() => void child.kill('SIGKILL'))
    let said = ''
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (text: Buffer) => (said += String(text)))
    const [code] = await once(child, 'close')
    expect([code, said]).toEqual([
      0,
      `The database of the ${name === 'bff' ? 'proxy' : 'service'} is migrated.\n`,
    ])
    if (!('url' in own.target)) throw new Error('Expected a server.')
    const schema = name === 'bff' ? BFF_SCHEMA : SERVICE_SCHEMA
    await using alone = await openDatabase({ url: own.target.url }, schema)
    const { rows } = await alone.db.execute<{ name: string; rights: string }>(READ_RIGHTS)
    for (const each of rows) expect(each.rights).toBe(RIGHTS[each.name])
    expect(rows.length).toBeGreaterThan(8)
  },
)
