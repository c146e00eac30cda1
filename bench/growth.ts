import { argv } from 'node:process'
import { setTimeout as wait } from 'node:timers/promises'
import { browserEndpoints } from '#contract/browser-endpoints.ts'
import { endpoints } from '#contract/endpoints.ts'
import { succeed } from '#testing/api-client.ts'
import { QUICK, runBench, spread } from './bench.ts'
import { SERVICE_CASES, type GrowthCase, type GrowthCases, type Request } from './growth-cases.ts'
import { PROXY_CASES } from './growth-proxy.ts'
import { openShop, type GrowthShop } from './growth-shop.ts'

/**
 * `npm run bench:growth`: every request of the service and of the proxy that goes by an account's rows, at 1,000 payments and at a million, in turn:
 * the p50 of both and their ratio. Then the bytes of each table and its indexes a payment. An endpoint with neither a case nor a reason to
 * have none ends it at its start. `-- --payments 10000000` for more, `-- --quick` for 10,000, `-- --only invoice` for endpoints that begin so.
 */

const option = (name: string) => argv[argv.indexOf(name) + 1 || argv.length]
const SMALL = 1_000
const LARGE = Number(option('--payments') ?? (QUICK ? 10_000 : 1_000_000))
const ONLY = option('--only') ?? ''
const ROUNDS = QUICK ? 4 : 20
const WARM = 2
/** Beside itself when there is little. */
const MOST_RATIO = 2
/** Tables that take less are not printed. */
const LEAST_BYTES = 2

const ALL: Record<string, GrowthCases> = { ...SERVICE_CASES, ...PROXY_CASES }
const TABLE: Record<string, { method: string }> = { ...endpoints, ...browserEndpoints }
const missing = Object.keys(TABLE).filter((name) => ALL[name] === undefined)
if (missing.length > 0)
  throw new Error(
    `Expected a case, or a reason why there is none, for each endpoint in growth-cases.ts or growth-proxy.ts; there is neither for ${missing.join(', ')}.`,
  )

// The orders that writes make are followed for minutes, which takes the processor from whatever comes after.
const isWrite = (name: string) => (TABLE[name]?.method === 'GET' ? 0 : 1)
const readsFirst = Object.entries(ALL).toSorted(([a], [b]) => isWrite(a) - isWrite(b))

/** Repeats a request that the rate limit of the plan refused. @returns the milliseconds of the last request */
async function time(ask: Request): Promise<number> {
  for (;;) {
    const started = performance.now()
    const reply = await ask()
    const took = performance.now() - started
    if (reply.status !== 429) {
      succeed(reply)
      return took
    }
    await wait(Number(reply.headers.get('retry-after') ?? 1) * 1_000)
  }
}

async function measure(one: GrowthCase, shops: readonly [small: GrowthShop, large: GrowthShop]) {
  const times: [number, number][] = []
  for (let turn = 0; turn < WARM + ROUNDS; turn++) {
    const took: [number, number] = [0, 0]
    // What slows the machine down slows both, and neither is always the first.
    for (const side of turn % 2 === 0 ? ([0, 1] as const) : ([1, 0] as const)) {
      const shop = shops[side]
      took[side] = await time(await one.prepare(shop, turn))
    }
    if (turn >= WARM) times.push(took)
  }
  return {
    small: spread(times.map(([small]) => small)),
    large: spread(times.map(([, large]) => large)),
    ratio: spread(times.map(([small, large]) => large / small)),
  }
}

await runBench('growth', async ({ add }) => {
  const refused: string[] = []
  await using small = await openShop(SMALL)
  await using large = await openShop(LARGE)
  for (const [name, cases] of readsFirst) {
    if (typeof cases === 'string' || !name.startsWith(ONLY)) continue
    for (const one of cases) {
      if (name in PROXY_CASES) for (const { proxy } of [small, large]) proxy.passMinute()
      const label = one.name === undefined ? name : `${name}, ${one.name}`
      const figures = await measure(one, [small, large]).catch((error: unknown) => {
        refused.push(`${label}: ${String(error)}`)
      })
      if (!figures) continue
      add({
        name: label,
        peer: figures.small.p50,
        ours: figures.large.p50,
        value: figures.ratio.p50,
        most: MOST_RATIO,
        unit: '×',
        note: `p90 ${figures.large.p90.toFixed(1)} ms`,
      })
      if (one.mostMs !== undefined)
        add({
          name: `${label}, at ${LARGE.toLocaleString('en')}`,
          ours: figures.large.p50,
          value: figures.large.p50,
          most: one.mostMs,
          unit: 'ms',
        })
    }
  }
  for (const { table, bytes, indexes } of large.sizes.filter((each) => each.bytes >= LEAST_BYTES))
    add({
      name: `bytes a payment, ${table}`,
      ours: bytes,
      value: bytes,
      unit: 'bytes',
      note: `${indexes.toFixed(0)} in indexes`,
    })
  const all = large.sizes.reduce((sum, { bytes }) => sum + bytes, 0)
  add({ name: 'bytes a payment, all tables', ours: all, value: all, unit: 'bytes' })
  // After what was measured: an hour's work is not lost for one request.
  if (refused.length > 0) throw new Error(refused.join('\n'))
})
