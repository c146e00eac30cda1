import { mkdirSync, writeFileSync } from 'node:fs'
import { sql } from 'drizzle-orm'
import pg from 'pg'
import * as v from 'valibot'
import { formatAmount } from '#contract/amount.ts'
import { endpoints } from '#contract/endpoints.ts'
import { NATIVE_ETH, type Network } from '#contract/network.ts'
import { foldTallies } from '#service/db/fold-tallies.ts'
import { payment } from '#service/db/schema/payment.ts'
import { readFilters } from '#service/payments/list/filters.ts'
import { readTotal } from '#service/payments/list/history-total.ts'
import { branchesOf } from '#service/payments/list/history-where.ts'
import { readCustomers } from '#service/payments/list/customers.ts'
import { readHistory, readList } from '#service/payments/list/history.ts'
import { readSummary } from '#service/payments/list/summary.ts'
import { openContext, ownWallet } from '#testing/service-context.ts'
import { spread, type Percentiles } from './bench.ts'
import { withoutIndexes } from './rows.ts'

/**
 * Reads pages of a long history on a real Postgres, near and far side by side in one run, and prints their ratios with their bars.
 * `--rows 10000000` for more; `--quick` for a hundredth. Ends with 1 when a bar is missed.
 */

const SELLER = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
const ROUNDS = 60
const argument = process.argv.indexOf('--rows')
const ROWS = process.argv.includes('--quick')
  ? 10_000
  : argument > 0
    ? Number(process.argv[argument + 1])
    : 1_000_000
const FAR = Math.floor(ROWS / 2)

const network: Network = {
  network: 'eip155:31337',
  name: 'bench',
  rpcUrls: ['http://127.0.0.1:9'],
  testnet: true,
  blockTimeMs: 1000,
  confirmations: 1,
  assets: [NATIVE_ETH],
}

await using opened = await openContext([network], { engine: 'postgres' })
const { context, actor } = opened
const { db } = context
// Who pays it is a customer.
await ownWallet(opened, SELLER)

/** A year of payments to one seller, who sends every tenth; 20,000 people pay. */
console.log(`writing ${ROWS.toLocaleString('en')} payments …`)
const target = context.config.database
if (!('url' in target)) throw new Error('This measures a Postgres server.')
const setUp = new pg.Client({ connectionString: target.migrationUrl ?? target.url })
await setUp.connect()
await withoutIndexes(setUp, 'service.payment', () =>
  setUp.query(
    `insert into service.payment (id, account_id, mode, status, network, asset, symbol, decimals, amount, sender, recipient, resource, metadata, signature, created_at, updated_at)
  select 'pay_' || translate(lpad(n::text, 22, 'A'), '0', 'Z'), $1, 'local',
    case when n % 5000 = 0 then 'failed' when n % 40 = 0 then 'expired' else 'finalized' end, 'eip155:31337', $2, 'ETH', 18, 1000000 + n,
    case when n % 10 = 0 then $3 else '0x' || lpad(to_hex(n % 20000), 40, '0') end,
    case when n % 10 = 0 then '0x' || lpad(to_hex(n % 20000), 40, '0') else $3 end,
    'https://shop.example/item/' || (n % 1000), '{"referenceId":"order ' || n || '","description":"' || case when n % 2 = 0 then 'tea' else 'coffee' end
      || case when n % 100 = 0 then ' percent' else '' end || case when n % 20 = 0 then ' twentieth' else '' end
      || case when n % 1000 = 0 then ' thousandth' else '' end || case when n = 77 then ' platypus' else '' end || '"}', '0x' || lpad(to_hex(n), 64, '0'),
    now() - make_interval(secs => n * 31536000.0 / $4), now()
  from generate_series(1, $4::int) n`,
    [actor.accountId, NATIVE_ETH.address, SELLER, ROWS],
  ),
)
while ((await foldTallies(db)) > 0);
// As a database that has been running for a while: its statistics are known and its pages marked.
await setUp.query('vacuum analyze service.payment')
await setUp.query('vacuum analyze service.payment_tally')
await setUp.end()

const list = (query: Record<string, string>, wallets?: string[]) =>
  readList(context, actor, { ...v.parse(endpoints.paymentHistory.query, query), wallets })
const history = (query: Record<string, string>) =>
  readHistory(context, actor, {
    params: { walletAddress: SELLER },
    query: v.parse(endpoints.paymentHistory.query, query),
    body: undefined,
  })

async function cursorAt(rows: number): Promise<string> {
  const page = await history({ offset: String(rows), limit: '50' })
  if (!page.nextCursor) throw new Error('The history is shorter than it was written.')
  return page.nextCursor
}

/** Each of both in turn, so that what slows the machine down slows both. */
async function beside(
  near: () => Promise<unknown>,
  far: () => Promise<unknown>,
): Promise<{ near: Percentiles; far: Percentiles; ratio: Percentiles }> {
  const times: [number, number][] = []
  for (let round = -3; round < ROUNDS; round++) {
    const one = await time(near)
    const other = await time(far)
    if (round >= 0) times.push([one, other])
  }
  return {
    near: spread(times.map(([one]) => one)),
    far: spread(times.map(([, other]) => other)),
    ratio: spread(times.map(([one, other]) => other / one)),
  }
}

async function time(run: () => Promise<unknown>): Promise<number> {
  const started = performance.now()
  await run()
  return performance.now() - started
}

const results: {
  name: string
  p50: number
  bar: string
  ok: boolean
  ratio: Percentiles
  near: Percentiles
  far: Percentiles
}[] = []

const searches: ({ q: string; ok: boolean; scans: number } & Percentiles)[] = []

async function measure(
  name: string,
  most: number,
  runs: [() => Promise<unknown>, () => Promise<unknown>],
): Promise<void> {
  const { near, far, ratio } = await beside(...runs)
  const ok = ratio.p50 <= most
  const bar = `≤ ${most}×`
  results.push({ name, p50: ratio.p50, bar, ok, ratio, near, far })
  const ms = (timing: Percentiles) => `${timing.p50.toFixed(2)} ms`
  console.log(
    `${name}: ${ratio.p50.toFixed(2)}× (bar ${bar}) · p10..p90 ${ratio.p10.toFixed(2)}..${ratio.p90.toFixed(2)} · ${ms(near)} → ${ms(far)}${ok ? '' : ' MISSED'}`,
  )
}

const cursor = await cursorAt(FAR)
const first = () => list({})
const firstOfWallet = () => history({})
await measure(`page at offset ${FAR} of the account, against offset 0`, 5, [
  first,
  () => list({ offset: String(FAR) }),
])
await measure(`page at offset ${FAR} of a wallet, sent and received, against offset 0`, 5, [
  firstOfWallet,
  () => history({ offset: String(FAR) }),
])
await measure('page behind a cursor in the middle, sent and received, against the first', 5, [
  firstOfWallet,
  () => history({ cursor }),
])
await measure('first page of a rare status, against the first of all', 5, [
  first,
  () => list({ status: 'failed' }),
])
/** The number of payments beside each page; a count of all is printed beside it. */
const TOTAL_MS = 5
const totals = await beside(
  () =>
    readTotal(
      db,
      readFilters(actor.accountId, v.parse(endpoints.paymentHistory.query, {}), {
        wallets: [SELLER],
        networks: [network],
      }),
    ),
  () =>
    db.execute(
      sql`select count(*) from service.payment where account_id = ${actor.accountId} and (sender = ${SELLER} or recipient = ${SELLER})`,
    ),
)
const totalOk = totals.near.p90 <= TOTAL_MS
console.log(
  `total by tallies: p50 ${totals.near.p50.toFixed(2)} ms, p90 ${totals.near.p90.toFixed(2)} ms (bar ≤ ${TOTAL_MS} ms); count(*) takes ${totals.far.p50.toFixed(2)} ms${totalOk ? '' : ' MISSED'}`,
)

/** The overview, whatever the history: its sums are tallied, its rankings of the newest payments only. */
const OVERVIEW_MS = 50
/** A page that a person waits for. */
const MOST_MS = 100
const customers: ({ name: string; ok: boolean } & Percentiles)[] = []
const overviews: ({ name: string; ok: boolean } & Percentiles)[] = []
for (const [name, wallets] of [
  ['account', undefined],
  ['wallet', [SELLER]],
] as const) {
  for (const days of [7, 30, 90]) {
    const times: number[] = []
    for (let round = -3; round < 30; round++) {
      const took = await time(() =>
        readSummary(context, actor, { wallets: wallets && [...wallets], days }),
      )
      if (round >= 0) times.push(took)
    }
    const timing = spread(times)
    const ok = timing.p50 <= OVERVIEW_MS
    overviews.push({ name: `${name}, ${days} days`, ok, ...timing })
    console.log(
      `overview of the ${name}, ${days} days: p10 ${timing.p10.toFixed(1)} ms, p50 ${timing.p50.toFixed(1)} ms, p90 ${timing.p90.toFixed(1)} ms (bar ≤ ${OVERVIEW_MS} ms)${ok ? '' : ' MISSED'}`,
    )
  }
}

/** 20,000 people of a million payments: a page of them, with their totals. */
const people = await readCustomers(context, actor, v.parse(endpoints.customerList.query, {}))
if (people.customers.length === 0) throw new Error('The payments have no customers.')
for (const sort of ['last', 'first', 'payments'] as const) {
  const times: number[] = []
  for (let round = -3; round < 15; round++) {
    const took = await time(() =>
      readCustomers(context, actor, v.parse(endpoints.customerList.query, { sort })),
    )
    if (round >= 0) times.push(took)
  }
  const timing = spread(times)
  const ok = timing.p90 <= MOST_MS
  customers.push({ name: sort, ok, ...timing })
  console.log(
    `customers by ${sort}: p50 ${timing.p50.toFixed(1)} ms, p90 ${timing.p90.toFixed(1)} ms (bar ≤ ${MOST_MS} ms)${ok ? '' : ' MISSED'}`,
  )
}

/** Each is one page and its total. What Postgres reads for it is kept below: no scan of all payments. */
const SEARCHES = [
  'platypus',
  'platy',
  'thousandth',
  'percent',
  'twentieth',
  'tea',
  'tea percent',
  'nothing',
  `order ${FAR}`,
  `0x${FAR.toString(16).padStart(64, '0').slice(0, 64)}`,
  `0x${FAR.toString(16).padStart(64, '0').slice(0, 63)}`,
  '0x0000000000000000000000000000000000000005',
  '0x00000000000000000000000000000000000000',
  '0x709979',
  'amount:>1 status:failed',
  `amount:>${formatAmount(BigInt(999_900 + ROWS), 18)}`,
  'amount:>0.000000000001',
  'tea amount:<0.000000000001',
  'status:failed',
  'tea status:failed',
  'thousandth asset:ETH',
  'from:0x0000000000000000000000000000000000000005 coffee',
  `to:${SELLER} platypus`,
]
for (const q of SEARCHES) {
  const times: number[] = []
  for (let round = -2; round < 15; round++) {
    const took = await time(() => list({ q }))
    if (round >= 0) times.push(took)
  }
  const timing = spread(times)
  const filters = readFilters(actor.accountId, v.parse(endpoints.paymentList.query, { q }), {
    wallets: undefined,
    networks: [network],
  })
  let scans = 0
  for (const branch of branchesOf(filters, { rows: 51 })) {
    const { rows } = await db.execute<{ 'QUERY PLAN': string }>(
      sql`explain (analyze, timing off) select ${payment.id} from ${payment} where ${branch} order by ${payment.createdAt} desc, ${payment.id} desc limit 51`,
    )
    // A plan holds ways that are not taken.
    const taken = rows.filter((row) => !row['QUERY PLAN'].includes('never executed'))
    if (taken.some((row) => row['QUERY PLAN'].includes('Seq Scan'))) scans++
  }
  const ok = timing.p90 <= MOST_MS && scans === 0
  searches.push({ q, ok, scans, ...timing })
  console.log(
    `search ${q}: p50 ${timing.p50.toFixed(1)} ms, p90 ${timing.p90.toFixed(1)} ms, sequential scans ${scans}${ok ? '' : ' MISSED'}`,
  )
}

mkdirSync('bench/out', { recursive: true })
writeFileSync(
  'bench/out/history.json',
  JSON.stringify({ rows: ROWS, results, totals, searches, overviews, customers }, null, 2),
)
process.exitCode = [...results, ...searches, ...overviews, ...customers].every(({ ok }) => ok)
  ? 0
  : 1
