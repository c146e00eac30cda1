import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import * as v from 'valibot'
import { endpoints } from '#contract/endpoints.ts'
import { SEARCH_COUNTED } from '#contract/payment-search.ts'
import { NATIVE_ETH } from '#contract/network.ts'
import { executeAsOwner } from '#testing/postgres.ts'
import { openContext, type OpenedContext } from '#testing/service-context.ts'
import { payment } from '../../db/schema/payment.ts'
import { searchExpressions } from '../../db/schema/columns.ts'
import { LANDED, readFilters, type Filters } from './filters.ts'
import { searchBranches, wordsOf, branchesOf, timeOf } from './history-where.ts'
import { readList } from './history.ts'

/**
 * What Postgres expects of a search decides what it reads. Taken for common, a text that few payments have is looked for in all of them, newest first:
 * at a million that is longer than a statement may take.
 */

const ROWS = 10_000
const MOST_EXPECTED = 5

let opened: OpenedContext

beforeAll(async () => {
  opened = await openContext([], { engine: 'postgres' })
  const { context, actor } = opened
  await context.db.execute(sql`
    insert into service.payment (id, account_id, mode, status, network, asset, symbol, decimals, amount, sender, recipient, resource, metadata)
    select 'pay_' || n, ${actor.accountId}, 'local', case when n % 1000 = 0 then 'failed' else 'finalized' end, 'eip155:31337', ${NATIVE_ETH.address}, 'ETH', 18, n, 'a', 'b',
      'https://shop.example/item/' || n, '{"referenceId":"order ' || n || '"}'
    from generate_series(1, ${sql.raw(String(ROWS))}) n`)
  await context.db.execute(sql`
    insert into service.payment (id, account_id, mode, status, network, asset, symbol, decimals, amount, sender, recipient, refund_of)
    select 'pay_back' || n, ${actor.accountId}, 'local', 'finalized', 'eip155:31337', ${NATIVE_ETH.address}, 'ETH', 18, n, 'b', 'a', 'pay_' || n
    from generate_series(1, ${sql.raw(String(ROWS))}, 100) n`)
  await executeAsOwner(
    { target: context.config.database, db: context.db },
    'vacuum analyze service.payment',
  )
})
afterAll(() => opened?.[Symbol.asyncDispose]())

/** What reads payments, and by which index. */
async function indexesOf(filters: Partial<Filters>): Promise<string[]> {
  const { context, actor } = opened
  const none = {
    wallets: undefined,
    statuses: undefined,
    network: undefined,
    assets: undefined,
    by: 'created' as const,
    since: undefined,
    until: undefined,
  }
  const all = {
    ...none,
    accountId: actor.accountId,
    type: 'all' as const,
    drafts: false,
    minAmount: undefined,
    maxAmount: undefined,
    text: undefined,
    parties: [],
    from: undefined,
    to: undefined,
    searched: false,
    ...filters,
  }
  const read: string[] = []
  for (const branch of branchesOf(all, { rows: 51 })) {
    const { rows } = await context.db.execute<{ 'QUERY PLAN': string }>(
      sql`explain select ${payment.id} from ${payment} where ${branch} order by ${timeOf(all)} desc, ${payment.id} desc limit 51`,
    )
    const text = rows.map((row) => row['QUERY PLAN']).join('\n')
    read.push(/ using (\w+) on payment/.exec(text)?.[1] ?? text)
  }
  return read
}

test('pages of a list are read from the indexes that leave drafts out', async () => {
  expect(await indexesOf({})).toEqual(['payment_account'])
  expect(await indexesOf({ statuses: ['failed'] })).toEqual(['payment_status'])
  expect(await indexesOf({ type: 'internal' })).toEqual(['payment_direction'])
  expect(await indexesOf({ wallets: ['a'] })).toEqual(['payment_sender', 'payment_recipient'])
  expect(await indexesOf({ wallets: ['a'], type: 'sent' })).toEqual(['payment_sender'])
  const landed = { by: 'landed', statuses: LANDED } as const
  expect(await indexesOf(landed)).toEqual(['payment_landed'])
  expect(await indexesOf({ ...landed, since: new Date(0) })).toEqual(['payment_landed'])
  expect(await indexesOf({ drafts: true })).toEqual(['payment_draft'])
  // The first branches are those of the text.
  const named = await indexesOf({ text: 'nowhere', parties: ['a'] })
  expect(named.slice(-2)).toEqual(['payment_sender', 'payment_recipient'])
})

test('what refunds return is read from the index of refunds', async () => {
  const ids = sql.join(
    ['pay_1', 'pay_2'].map((id) => sql`${id}`),
    sql`, `,
  )
  const { rows } = await opened.context.db.execute<{ 'QUERY PLAN': string }>(
    sql`explain select refund_of, sum(amount) from service.payment where refund_of in (${ids}) group by refund_of`,
  )
  expect(rows.map((row) => row['QUERY PLAN']).join('\n')).toContain('payment_refund')
})

test('refunded payments are found from the refunds of the account, however many others there are', async () => {
  for (const status of ['refunded', 'partly_refunded'] as const)
    expect(await indexesOf({ statuses: [status] })).toEqual(['payment_refunded'])
})

const Plan = v.object({
  'QUERY PLAN': v.tuple([v.object({ Plan: v.object({ 'Plan Rows': v.number() }) })]),
})

test.each([
  ['a reference', 'order 5000'],
  ['a resource', 'shop.example/item/5000'],
  ['what nothing has', 'nowhere'],
])('%s is known to be rare', async (_, text) => {
  const { context, actor } = opened
  for (const branch of searchBranches(text)) {
    const { rows } = await context.db.execute(
      sql`explain (format json) select id from service.payment where account_id = ${actor.accountId} and ${branch} order by created_at desc, id desc limit 51`,
    )
    expect(v.parse(Plan, rows[0])['QUERY PLAN'][0].Plan['Plan Rows']).toBeLessThanOrEqual(
      MOST_EXPECTED,
    )
  }
})

/** The plan of a page of what has these words, with what was executed. */
async function planOf(text: string): Promise<string> {
  const { context, actor } = opened
  const { networks } = context.config
  const filters = readFilters(actor.accountId, v.parse(endpoints.paymentList.query, { q: text }), {
    wallets: undefined,
    networks,
  })
  const [words] = branchesOf(filters, { rows: 51 })
  const { rows } = await context.db.execute<{ 'QUERY PLAN': string }>(
    sql`explain (analyze, timing off) select id from ${payment} where ${words} order by created_at desc, id desc limit 51`,
  )
  return rows.map((row) => row['QUERY PLAN']).join('\n')
}

const FROM_INDEX = /Bitmap Index Scan on payment_words .*actual/

test.each([['nowhere'], ['order 5000'], ['platypus'], ['0x70']])(
  'payments with the rare words of %s are read from the index of words',
  async (text) => {
    const plan = await planOf(text)
    expect(plan).toMatch(FROM_INDEX)
    expect(plan).not.toMatch(/Filter: .*payment_words/)
  },
)

test('payments with a common word are found among the newest, and the index of words is not read', async () => {
  const plan = await planOf('order')
  expect(plan).not.toMatch(FROM_INDEX)
  expect(plan).toContain('never executed')
})

test('a row at hand has the same words as the index says, however they are written', async () => {
  const { context, actor } = opened
  const texts = [
    'Two cups, one saucer',
    'line one\nline two\ttab',
    'C:\\new\\nested "quoted"',
    'Ünïcödé ΣΊΣΥΦΟΣ İstanbul straße',
    '北京 商店😀订单',
    `${'long'.repeat(40)} end`,
    'a-b_c.d/e?f=g&h#i%j',
    'tab\tnl\nnew',
    "it's 100% (sure) [yes] {no} ^ ~ ` |",
  ]
  for (const [index, description] of texts.entries())
    await context.db.execute(sql`
      insert into service.payment (id, account_id, mode, status, network, asset, symbol, decimals, amount, sender, recipient, signature, metadata)
      values (${`pay_words${index}`}, ${actor.accountId}, 'local', 'finalized', 'eip155:31337', ${NATIVE_ETH.address}, 'ETH', 18, 1, '0xAbCd', '0xEf01', ${`0xFEED${index}`}, ${JSON.stringify({ description })})`)
  const found = texts.flatMap((text) => text.split(/[\s,]+/))
  const asked = [
    ...found,
    ...found.map((word) => word.slice(0, 3)),
    'nnew',
    'up',
    'cups saucer',
    '0xab',
    'feed',
    '0xfeed3',
    'description',
    'n',
    't',
    'long'.repeat(30),
  ]
  let matches = 0
  for (const text of new Set(asked)) {
    const words = wordsOf(actor.accountId, text)
    if (!words) continue
    const { rows } = await context.db.execute<{ id: string; indexed: boolean; hand: boolean }>(
      sql`select id, ${words.indexed} as indexed, ${words.within(sql.raw(searchExpressions.written))} as hand from service.payment where id like 'pay\\_words%'`,
    )
    for (const { id, indexed, hand } of rows) {
      expect(hand, `${text} in ${id}`).toBe(indexed)
      if (indexed) matches++
    }
  }
  expect(matches).toBeGreaterThan(60)
})

test('a word that was common once is read in the order of the list, without collecting all that have it', async () => {
  const { context, actor } = opened
  // In parts: together they may take longer than a statement may.
  for (let first = 1; first <= 20_050; first += 4_010)
    await context.db.execute(sql`
      insert into service.payment (id, account_id, mode, status, network, asset, symbol, decimals, amount, sender, recipient, metadata, created_at)
      select 'pay_' || translate(lpad(n::text, 22, 'W'), '0', 'Z'), ${actor.accountId}, 'local', 'finalized', 'eip155:31337', ${NATIVE_ETH.address}, 'ETH', 18, n, 'a', 'b',
        '{"description":"winter"}', now() - interval '300 days' - make_interval(secs => n) from generate_series(${first}::int, ${first + 4_009}::int) n`)
  const page = await readList(context, actor, {
    ...v.parse(endpoints.paymentList.query, { q: 'winter', limit: '20' }),
  })
  expect(page.payments.map(({ amountAtomic }) => Number(amountAtomic))).toEqual(
    Array.from({ length: 20 }, (_, index) => index + 1),
  )
  expect(page.total).toBe(SEARCH_COUNTED)
  const { nextCursor } = page
  const next = await readList(context, actor, {
    ...v.parse(endpoints.paymentList.query, { q: 'winter', limit: '20', cursor: nextCursor ?? '' }),
  })
  expect(next.payments[0]?.amountAtomic).toBe('21')
})
