import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { eq, sql } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openDatabase, type Database, type OpenDatabase } from '#postgres/open.ts'
import { asOwner, createTestDatabase, ENGINES, type TestDatabase } from '#testing/postgres.ts'
import { insertLink, setPaymentStatus } from './links.ts'
import { BFF_SCHEMA } from './migrations-folder.ts'
import { linkPayment, type Refunded } from './schema.ts'
import { setRefunded } from './surplus.ts'

const NOW = new Date('2026-11-21T10:00:00Z')
/** How many payments a link takes; `void` is the link of an invoice that is void. */
type Takes = number | null | 'void'

/** The statuses that follow one another, and the refunds. */
const MOVES: Readonly<Record<string, readonly string[]>> = {
  created: ['pending', 'expired', 'confirmed'],
  pending: ['confirmed', 'finalized', 'failed'],
  expired: ['confirmed', 'finalized'],
  confirmed: ['finalized', 'rolled_back'],
  rolled_back: ['confirmed', 'finalized', 'failed'],
  finalized: ['finalized'],
  failed: ['failed'],
}

async function insertPayments(db: Database, link: string, takes: Takes, count: number) {
  await insertLink(db, {
    id: link,
    link,
    code: null,
    short: null,
    expiresAt: null,
    maxPayments: takes === 'void' ? 1 : takes,
    createdBy: 'owner',
    createdAt: NOW,
    withdrawnAt: null,
  })
  if (takes === 'void')
    await db.execute(sql`
      insert into bff.invoice (id, state, due_on, currency, lines, total, link_id, created_by, created_at)
      values (${link}, 'void', '2026-12-31', '{}', '[]', '1', ${link}, 'owner', ${NOW.toISOString()})`)
  for (let index = 0; index < count; index++)
    await db.insert(linkPayment).values({
      id: `${link}-${index}`,
      linkId: link,
      paymentId: `pay-${link}-${index}`,
      status: 'created',
      createdAt: NOW,
    })
}

const readRows = (db: Database, link: string) =>
  db.select().from(linkPayment).where(eq(linkPayment.linkId, link)).orderBy(linkPayment.arrival)

/** What the rule says, in other words than the program. */
async function expectRule(db: Database, link: string, takes: Takes, step: string) {
  const rows = await readRows(db, link)
  const held = rows.filter(
    ({ status, refunded }) => ['confirmed', 'finalized'].includes(status) && refunded === null,
  )
  const owed = takes === null ? [] : held.slice(takes === 'void' ? 0 : takes)
  const stored = rows.filter(({ surplus }) => surplus)
  expect(
    stored.map(({ id }) => id),
    step,
  ).toEqual(owed.map(({ id }) => id))
}

/** Numbers that look random and are the same in each run. */
function randomOf(seed: number) {
  let state = seed
  return <T>(items: readonly T[]): T => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7f_ff_ff_ff
    const item = items[(state >> 8) % items.length]
    if (item === undefined) throw new Error('There is nothing to choose from.')
    return item
  }
}

describe.each(ENGINES)('who pays a link, on %s', (engine) => {
  let target: TestDatabase
  let opened: OpenDatabase
  let db: Database
  beforeAll(async () => {
    target = await createTestDatabase(engine, 'bff')
    opened = await openDatabase(target.target, BFF_SCHEMA)
    db = opened.db
  })
  afterAll(async () => {
    await opened?.[Symbol.asyncDispose]()
    await target?.[Symbol.asyncDispose]()
  })

  test.each<[string, Takes]>([
    ['one payment', 1],
    ['two', 2],
    ['three', 3],
    ['any number', null],
    ['none, as its invoice is void', 'void'],
  ])(
    'is settled with each payment that arrives, is dropped or goes back, where it takes %s',
    async (name, takes) => {
      const link = `${engine} ${name}`
      await insertPayments(db, link, takes, 6)
      const choose = randomOf(name.length)
      for (let step = 0; step < 200; step++) {
        const row = choose(await readRows(db, link))
        if (choose([true, true, false])) {
          const status = choose(MOVES[row.status] ?? [])
          await setPaymentStatus(db, row, status)
        } else if (row.arrival !== null && row.refunded !== 'final') {
          const next: readonly (Refunded | null)[] =
            row.refunded === 'full' ? [null, 'final', null] : ['full', null, 'full', 'final']
          await setRefunded(db, row, choose(step % 9 === 0 ? next : next.slice(0, 2)))
        }
        await expectRule(db, link, takes, `${row.id} in step ${step}`)
      }
    },
  )

  test('is the payment after the one that went back in full; then nothing is owed', async () => {
    const link = `${engine} refunded first`
    await insertPayments(db, link, 1, 2)
    const surplus = async () =>
      (await readRows(db, link)).flatMap((row) => (row.surplus ? [row.paymentId] : []))
    for (const row of await readRows(db, link)) await setPaymentStatus(db, row, 'finalized')
    const [first] = await readRows(db, link)
    if (!first) throw new Error('There is no payment.')
    expect(await surplus()).toEqual([`pay-${link}-1`])
    await setRefunded(db, first, 'full')
    expect(await surplus()).toEqual([])
    // A reorganization drops the refund.
    await setRefunded(db, { ...first, refunded: 'full' }, null)
    expect(await surplus()).toEqual([`pay-${link}-1`])
  })

  test('is settled once where twenty payments arrive and go back at once', async () => {
    const link = `${engine} at once`
    await insertPayments(db, link, 3, 20)
    const made = await readRows(db, link)
    await Promise.all(made.map((row) => setPaymentStatus(db, row, 'confirmed')))
    await expectRule(db, link, 3, 'arrived')
    const arrived = await readRows(db, link)
    expect(arrived.map(({ arrival }) => arrival)).toEqual(made.map((_, index) => index + 1))
    await Promise.all(
      arrived.map((row, index) =>
        index % 2 === 0 ? setRefunded(db, row, 'full') : setPaymentStatus(db, row, 'rolled_back'),
      ),
    )
    await expectRule(db, link, 3, 'gone')
    const gone = await readRows(db, link)
    await Promise.all([
      ...gone.map((row) => setRefunded(db, row, null)),
      ...gone.map((row) => setPaymentStatus(db, row, 'finalized')),
    ])
    await expectRule(db, link, 3, 'back')
    expect((await readRows(db, link)).filter(({ surplus }) => surplus)).toHaveLength(17)
  })
})

test('payments from before the upgrade are settled by the same rule', async () => {
  await using disposal = new AsyncDisposableStack()
  const folder = mkdtempSync(join(tmpdir(), 'paydesk-surplus-'))
  disposal.defer(() => rmSync(folder, { recursive: true }))
  cpSync(BFF_SCHEMA.migrations, folder, { recursive: true })
  const file = join(folder, 'meta/_journal.json')
  const journal: { entries: { tag: string }[] } = JSON.parse(readFileSync(file, 'utf8'))
  const last = journal.entries.findIndex(({ tag }) => tag === '0021_leased_places_of_links')
  writeFileSync(file, JSON.stringify({ ...journal, entries: journal.entries.slice(0, last + 1) }))
  const { target } = disposal.use(await createTestDatabase('postgres'))
  {
    await using old = await openDatabase(asOwner(target), { ...BFF_SCHEMA, migrations: folder })
    for (const [link, most] of [
      ['one', 1],
      ['two', 2],
      ['any', null],
      ['void', 1],
    ] as const)
      await old.db.execute(sql`
        insert into bff.payment_link (id, link, max_payments, created_by, created_at)
        values (${link}, ${link}, ${most}, 'owner', now())`)
    await old.db.execute(sql`
      insert into bff.invoice (id, state, due_on, currency, lines, total, link_id, created_by, created_at)
      values ('void', 'void', '2026-12-31', '{}', '[]', '1', 'void', 'owner', now())`)
    // The last one has no number, as payments from before there were any.
    await old.db.execute(sql`
      insert into bff.link_payment (id, link_id, payment_id, status, arrival, created_at)
      select link || n, link, 'pay' || link || n, case n when 1 then 'rolled_back' when 4 then 'created' else 'finalized' end,
        case when n < 4 then 4 - n end, now() + n * interval '1 minute'
      from unnest(array['one', 'two', 'any', 'void']) as link, generate_series(1, 5) as n`)
  }
  await using opened = await openDatabase(target, BFF_SCHEMA)
  const rows = await opened.db.select().from(linkPayment).orderBy(linkPayment.id)
  const owed = rows.filter(({ surplus }) => surplus).map(({ id }) => id)
  expect(owed).toEqual(['one2', 'one5', 'two5', 'void2', 'void3', 'void5'])
  expect(rows.find(({ id }) => id === 'one5')?.arrival).toBe(4)
})
