import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import * as v from 'valibot'
import { NATIVE_ETH } from '#contract/network.ts'
import { openContext, type OpenedContext } from '#testing/service-context.ts'
import { searchBranches } from './filters-search.ts'

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
    select 'pay_' || n, ${actor.accountId}, 'local', 'finalized', 'eip155:31337', ${NATIVE_ETH.address}, 'ETH', 18, n, 'a', 'b',
      'https://shop.example/item/' || n, '{"referenceId":"order ' || n || '"}'
    from generate_series(1, ${sql.raw(String(ROWS))}) n`)
  await context.db.execute(sql`vacuum analyze service.payment`)
})
afterAll(() => opened?.[Symbol.asyncDispose]())

const Plan = v.object({ 'QUERY PLAN': v.tuple([v.object({ Plan: v.object({ 'Plan Rows': v.number() }) })]) })

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
    expect(v.parse(Plan, rows[0])['QUERY PLAN'][0].Plan['Plan Rows']).toBeLessThanOrEqual(MOST_EXPECTED)
  }
})
