import { argv } from 'node:process'
import { sql } from 'drizzle-orm'
import { pause } from '#testing/chaos/command.ts'
import {
  buildDraft,
  DRAFTS,
  openDraftPayer,
  openTokenAccounts,
  sendHosted,
  settle,
  signAuthorization,
  verify,
} from './actions.ts'
import { QUICK, runBench, spread, type Bench } from './bench.ts'
import { addCounts, listMethods, type RpcCount } from './counting-proxy.ts'
import { openBenchFixture, type BenchFixture } from './fixture.ts'

/**
 * `npm run bench:rpc`: how many RPC requests, and methods in them, each action costs, counted by a
 * proxy in front of real nodes. Requests are what a node sees, methods are what a provider bills.
 * `--methods` prints their names.
 */

const TIMES = QUICK ? 5 : 15
const OPEN_DRAFTS = QUICK ? 20 : 100
const WATCH_MS = QUICK ? 10_000 : 30_000
/** How often the monitor looks for payments that have just expired. */
const EXPIRED_EVERY_S = 30
/** How often it looks for one in a day: for two minutes after its deadline each time, then each five minutes, on Solana each hour after the first. */
const LOOKS_OF_A_DAY = { ETH: 4 + 288, SOL: 4 + 12 + 23 }
/** The bar of the cost model is per block. */
const BLOCK_S = { ETH: 1, SOL: 0.4 }
const NAMES = argv.includes('--methods')

await runBench('rpc', async (bench) => {
  await using fixture = await openBenchFixture()
  await openTokenAccounts(fixture)
  await pause(3_000)
  await measureIdle(bench, fixture)
  await measureActions(bench, fixture)
  await measureDrafts(bench, fixture)
})

/** Nothing is monitored; probes come every second, as from a load balancer. */
async function measureIdle(bench: Bench, fixture: BenchFixture): Promise<void> {
  takeAll(fixture)
  await pause(WATCH_MS)
  report(bench, ['idle, both networks, per minute', 0, 0], takeAll(fixture), WATCH_MS / 60_000)
  // As long as an answer of a chain holds, so that the figure is a rate.
  const probes = 30
  for (let probe = 0; probe < probes; probe++) {
    await fetch(`${fixture.service.url}/health/ready`).then((answer) => answer.text())
    await pause(1_000)
  }
  report(bench, ['idle, probed each second, per minute', 20, 40], takeAll(fixture), probes / 60)
}

async function measureActions(bench: Bench, fixture: BenchFixture): Promise<void> {
  const { api } = fixture
  const proofs = await Promise.all(
    Array.from({ length: TIMES + 1 }, () => signAuthorization(fixture)),
  )
  const [first, ...others] = proofs
  if (!first) return
  await verify(api, first)
  const verified = await eachTime(fixture, others, (proof) => verify(api, proof))
  report(bench, ['/facilitator/verify', 1, 1], verified)

  for (const kind of DRAFTS) {
    const payers = await Promise.all(
      Array.from({ length: TIMES }, () => openDraftPayer(fixture, kind)),
    )
    const counted = await eachTime(fixture, payers, (payer) => buildDraft(fixture, kind, payer))
    report(bench, [`/transaction/send, ${kind}`, 1, 4], counted)
    // Drafts of the last kind are not part of the next one's count.
    await endDrafts(fixture)
  }
  for (const family of ['evm', 'solana'])
    report(
      bench,
      [`hosted send until durable, ${family}`, 2, 5],
      await eachTime(fixture, Array.from({ length: TIMES }), () => sendHosted(fixture, family)),
    )
  await endDrafts(fixture)
  await pause(3_000)
  takeAll(fixture)
  const settled = await Promise.all(proofs.map((proof) => settle(api, proof)))
  const count = settled.filter(Boolean).length
  report(
    bench,
    [`/facilitator/settle, each of ${proofs.length} at once (${count} settled)`, 1.3, 2.5],
    takeAll(fixture),
    proofs.length,
  )
}

/** Drafts that nobody signs: while they are open, and after they have expired. */
async function measureDrafts(bench: Bench, fixture: BenchFixture): Promise<void> {
  await endDrafts(fixture)
  for (const kind of ['ETH', 'SOL'] as const) {
    const network = kind === 'ETH' ? 'evm' : 'solana'
    for (let draft = 0; draft < OPEN_DRAFTS; draft++)
      await buildDraft(fixture, kind, await openDraftPayer(fixture, kind))
    // The blocks that were mined to fund the payers are not the drafts'.
    await pause(5_000)
    takeAll(fixture)
    await pause(WATCH_MS)
    const open = fixture.rpc[network].take()
    report(
      bench,
      [`${OPEN_DRAFTS} open drafts, ${kind}, per second`, 3 / BLOCK_S[kind], 6 / BLOCK_S[kind]],
      open,
      WATCH_MS / 1_000,
    )
    await expireDrafts(fixture)
    // The first look after an expiry reads what is left of the blocks.
    await pause(EXPIRED_EVERY_S * 1_000 + 2_000)
    takeAll(fixture)
    const rounds = QUICK ? 1 : 2
    await pause(rounds * EXPIRED_EVERY_S * 1_000)
    const after = fixture.rpc[network].take()
    await endDrafts(fixture)
    takeAll(fixture)
    await pause(5_000)
    const idle = fixture.rpc[network].take()
    // What the idle network asks anyway is not the drafts'.
    const own = after.requests - (idle.requests / 5) * rounds * EXPIRED_EVERY_S
    const life = (Math.max(0, own) / rounds / OPEN_DRAFTS) * LOOKS_OF_A_DAY[kind]
    bench.add({
      name: `an abandoned draft, ${kind}, in the 24 hours after it expired (extrapolated, give or take a round), requests`,
      ours: life,
      value: life,
      most: 1,
      unit: '',
    })
  }
}

async function endDrafts({ db }: BenchFixture): Promise<void> {
  await db.execute(
    sql`update service.payment set status = 'failed' where status in ('created', 'expired') and mode = 'local'`,
  )
}

async function expireDrafts({ db }: BenchFixture): Promise<void> {
  await db.execute(
    sql`update service.payment set status = 'expired' where status = 'created' and mode = 'local'`,
  )
}

function takeAll({ rpc }: BenchFixture): RpcCount {
  return addCounts([rpc.evm.take(), rpc.solana.take()])
}

/** The median of each figure: a round of the monitor in between is not the action's. */
async function eachTime<T>(
  fixture: BenchFixture,
  items: readonly T[],
  run: (item: T) => Promise<unknown>,
): Promise<RpcCount> {
  const counts: RpcCount[] = []
  for (const item of items) {
    takeAll(fixture)
    await run(item)
    counts.push(takeAll(fixture))
  }
  const byMethod: Record<string, number> = {}
  for (const name of Object.keys(addCounts(counts).byMethod)) {
    const median = spread(counts.map((count) => count.byMethod[name] ?? 0)).p50
    if (median > 0) byMethod[name] = median
  }
  return {
    requests: spread(counts.map(({ requests }) => requests)).p50,
    methods: spread(counts.map(({ methods }) => methods)).p50,
    byMethod,
  }
}

function report(
  bench: Bench,
  [name, mostRequests, mostMethods]: readonly [string, number, number],
  count: RpcCount,
  of = 1,
): void {
  const rows = [
    ['requests', count.requests / of, mostRequests],
    ['methods', count.methods / of, mostMethods],
  ] as const
  for (const [unit, value, most] of rows)
    bench.add({
      name: `${name}, ${unit}`,
      measure: `${name.replace(/, each of .*/, '')}, ${unit}`,
      ours: value,
      value,
      most,
      unit: '',
      note: NAMES && unit === 'methods' ? listMethods(count, of) : undefined,
    })
}
