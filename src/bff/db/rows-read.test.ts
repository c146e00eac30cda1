import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import * as v from 'valibot'
import { openDatabase, type Database, type OpenDatabase } from '#postgres/open.ts'
import { createTestDatabase, executeAsOwner, type TestDatabase } from '#testing/postgres.ts'
import { deleteUnpaidContacts, takeUnsettledContacts } from './contacts.ts'
import { unrecordedPayments } from './files.ts'
import { listInvoices } from './invoices.ts'
import {
  countTaken,
  findLink,
  findLinkPayment,
  listLinks,
  noteStatusEvent,
  takeAbandoned,
  takeUnsettledPayments,
} from './links.ts'
import { allocateLinkUse, findLinkUse } from './link-places.ts'
import { deleteOldMail } from './mail.ts'
import { BFF_SCHEMA } from './migrations-folder.ts'
import { mailItem } from './mail-schema.ts'
import { paymentContact } from './schema.ts'
import { findUnclearRefunds, listSurplus, setRefunded } from './surplus.ts'

/** What anybody may ask for, and what pages ask for again and again, reads little of what was ever paid. */

const ROWS = 20_000
const MOST_READ = 600
const NOW = new Date('2026-11-21T10:00:00Z')
const TODAY = '2026-11-21'

let target: TestDatabase
let opened: OpenDatabase

/** A busy link, one that strangers filled, and many invoices that are paid; few of all else. */
beforeAll(async () => {
  target = await createTestDatabase('postgres', 'bff')
  opened = await openDatabase(target.target, BFF_SCHEMA)
  const statements = [
    `insert into bff.payment_link (id, link, code, max_payments, created_by, created_at)
      select id, id, id, most, 'owner', '2026-01-01' from (values ('busy', 5), ('filled', 1), ('quiet', 1)) as made (id, most)`,
    `insert into bff.payment_link (id, link, code, short, max_payments, created_by, created_at)
      select 'inv' || n, 'inv' || n, 'inv' || n, '{"invoice": {}}', 1, 'owner', '2026-02-01' from generate_series(1, ${ROWS}) n`,
    `insert into bff.link_payment (id, link_id, session_id, request_key, payment_id, status, arrival, created_at)
      select 'busy' || n, 'busy', 'ses', 'key' || n, 'pay_busy' || n, 'finalized', n, '2026-03-01' from generate_series(1, ${ROWS}) n`,
    `insert into bff.link_payment (id, link_id, payment_id, status, created_at)
      select 'filled' || n, 'filled', 'pay_filled' || n, case when n % 2 = 0 then 'created' else 'expired' end, '2026-11-21 09:00Z'
      from generate_series(1, ${ROWS}) n`,
    `insert into bff.link_payment (id, link_id, payment_id, status, created_at)
      values ('quiet', 'quiet', 'pay_quiet', 'pending', '2026-11-21 09:30Z'), ('next', 'busy', 'pay_next', 'pending', '2026-11-21 09:30Z'),
        ('way', 'inv3', 'pay_way', 'pending', now()), ('lost', 'inv4', 'pay_lost', 'expired', '2026-11-01')`,
    `insert into bff.invoice (id, state, sequence, number, due_on, currency, lines, total, link_id, created_by, created_at)
      select 'inv' || n, case n when 1 then 'draft' when 2 then 'void' else 'open' end, n, 'INV-' || n,
        case n when 4 then '2026-02-01' else '2026-12-31' end, '{}', '[]', '1', 'inv' || n, 'owner', '2026-02-01'
      from generate_series(1, ${ROWS}) n`,
    `insert into bff.link_payment (id, link_id, payment_id, status, arrival, created_at)
      select 'inv' || n, 'inv' || n, 'pay_inv' || n, 'finalized', 1, '2026-02-02' from generate_series(6, ${ROWS}) n`,
    `insert into bff.payment_contact (payment_id, email, created_at) values ('pay_lost', 'lost@post.example', '2026-11-01')`,
    `insert into bff.payment_contact (payment_id, email, created_at, kept)
      select 'pay_busy' || n, 'kept@post.example', '2026-03-01', true from generate_series(1, ${ROWS}) n`,
    `insert into bff.mail_item (wallet, key, kind, facts, created_at, message_id)
      select 'owner', 'key' || n, 'payment_confirmed', '{}', '2026-11-20', 'mal' from generate_series(1, ${ROWS}) n`,
    `insert into bff.mail_item (wallet, key, kind, facts, created_at) values ('owner', 'old', 'payment_confirmed', '{}', '2026-10-01')`,
    `update bff.link_payment set recorded = true, surplus = coalesce(arrival > 5, false) where link_id = 'busy' and id <> 'busy7'`,
    'vacuum analyze bff.payment_link, bff.link_payment, bff.invoice, bff.payment_contact, bff.mail_item',
  ]
  for (const statement of statements)
    await executeAsOwner({ target: target.target, db: opened.db }, statement)
})
afterAll(async () => {
  await opened?.[Symbol.asyncDispose]()
  await target?.[Symbol.asyncDispose]()
})

const Read = v.object({ rows: v.pipe(v.string(), v.transform(Number)) })

/** How many entries of tables and indexes this transaction has read. */
async function rowsRead(tx: Database): Promise<number> {
  const { rows } = await tx.execute(sql`
    select sum(pg_stat_get_xact_tuples_returned(oid)) as rows from pg_class
    where relnamespace = 'bff'::regnamespace and relkind in ('r', 'i')`)
  return v.parse(Read, rows[0]).rows
}

async function countRead<T>(
  ask: (tx: Database) => Promise<T>,
): Promise<{ answer: T; read: number }> {
  return opened.db.transaction(async (tx) => {
    const before = await rowsRead(tx)
    const answer = await ask(tx)
    return { answer, read: (await rowsRead(tx)) - before }
  })
}

const payer = {
  id: 'new',
  sessionId: 'ses',
  requestKey: 'key7',
  senderVerified: false,
  presenter: 'here',
  now: NOW,
}
const invoicesIn = async (
  tx: Database,
  state: 'draft' | 'void' | 'confirming' | 'overdue' | 'open',
) => {
  const filter = { state, q: undefined, withEmails: true, before: undefined, limit: 51 }
  return (await listInvoices(tx, { today: TODAY, ...filter })).map(({ row }) => row.id)
}
const statusOf = async (tx: Database, paymentId: string) => {
  const { rows } = await tx.execute<{ status: string; arrival: number | null }>(
    sql`select status, arrival from bff.link_payment where payment_id = ${paymentId}`,
  )
  return rows[0]
}

test.each<[string, unknown, (tx: Database) => Promise<unknown>]>([
  [
    'a request for a payment that is repeated under its key',
    'busy7',
    async (tx) => (await findLinkUse(tx, 'busy', payer))?.id,
  ],
  [
    'whether a link is used up',
    true,
    async (tx) => (await countTaken(tx, { id: 'busy', maxPayments: 5 })) >= 5,
  ],
  [
    'the place of a payment on a link that strangers filled',
    'new',
    async (tx) => {
      const link = await findLink(tx, 'filled')
      return link && (await allocateLinkUse(tx, link, payer))?.id
    },
  ],
  [
    'the number of arrival of a payment',
    { status: 'confirmed', arrival: ROWS + 1 },
    async (tx) => {
      await noteStatusEvent(tx, 'pay_next', 'confirmed')
      return statusOf(tx, 'pay_next')
    },
  ],
  [
    'who pays a link that was paid much too often',
    true,
    async (tx) => {
      const row = await findLinkPayment(tx, 'pay_busy3')
      return row && (await setRefunded(tx, row, 'full'))
    },
  ],
  [
    'a page of what is owed back',
    51,
    async (tx) => (await listSurplus(tx, { after: 'pay_busy9000', limit: 51 })).length,
  ],
  [
    'what the service is asked about refunds',
    [100, 100],
    async (tx) => [
      (await findUnclearRefunds(tx, 'all', 100)).length,
      (await findUnclearRefunds(tx, ['busy', 'quiet'], 100)).length,
    ],
  ],
  [
    'the links that are older than many invoices',
    ['quiet', 'filled', 'busy'],
    async (tx) => (await listLinks(tx, 500)).map(({ id }) => id),
  ],
  ['the drafts among many invoices', ['inv1'], (tx) => invoicesIn(tx, 'draft')],
  ['the void ones among many invoices', ['inv2'], (tx) => invoicesIn(tx, 'void')],
  ['the confirming ones among many invoices', ['inv3'], (tx) => invoicesIn(tx, 'confirming')],
  ['the overdue ones among many invoices', ['inv4'], (tx) => invoicesIn(tx, 'overdue')],
  ['the open ones among many invoices', ['inv5'], (tx) => invoicesIn(tx, 'open')],
  [
    'the orders that nobody signed, where strangers filled a link',
    [100, 'created'],
    async (tx) => {
      const later = new Date(NOW.getTime() + 1)
      const taken = await takeAbandoned(tx, { now: later, most: 100 })
      return [taken.length, taken[0]?.status]
    },
  ],
  [
    'what the service is asked about, where strangers filled a link',
    [50, true],
    async (tx) => {
      const links = ['filled', 'quiet']
      const taken = await takeUnsettledPayments(tx, links, { now: NOW, most: 100 })
      const ofFilled = taken.filter(({ linkId }) => linkId === 'filled')
      return [ofFilled.length, taken.some(({ linkId }) => linkId === 'quiet')]
    },
  ],
  [
    'which payments of a file are no purchase yet',
    ['pay_busy7'],
    async (tx) => (await unrecordedPayments(tx, ['busy'], 50)).map(({ paymentId }) => paymentId),
  ],
  [
    'whose e-mail address is to be erased',
    undefined,
    async (tx) => {
      await takeUnsettledContacts(tx, NOW, { now: NOW, most: 100 })
      await deleteUnpaidContacts(tx, NOW)
    },
  ],
  ['which e-mails are to be forgotten', undefined, (tx) => deleteOldMail(tx, NOW)],
])('%s is read without what was paid before', async (_, expected, ask) => {
  const { answer, read } = await countRead(ask)
  expect(answer).toEqual(expected)
  expect(read).toBeLessThanOrEqual(MOST_READ)
})

test('what is over is removed, and nothing else', async () => {
  await deleteUnpaidContacts(opened.db, NOW)
  await deleteOldMail(opened.db, NOW)
  expect([await opened.db.$count(paymentContact), await opened.db.$count(mailItem)]).toEqual([
    ROWS,
    ROWS,
  ])
})

test('all that is read is counted', async () => {
  const { read } = await countRead((tx) =>
    tx.execute(sql`select max(link) from bff.payment_link where created_by <> ''`),
  )
  expect(read).toBeGreaterThanOrEqual(ROWS)
})
