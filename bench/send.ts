import pg from 'pg'
import { buildDraft, DRAFTS, openDraftPayer, openTokenAccounts } from './actions.ts'
import { QUICK, runBench, spread } from './bench.ts'
import { openBenchFixture } from './fixture.ts'

/**
 * `npm run bench:send`: `/transaction/send` 25 ms away from the RPC endpoint, one at a time, beside
 * one round trip to it and one commit of the same database.
 */

const TIMES = QUICK ? 15 : 60
const FAR_MS = 25
const MARGIN_MS = 2

await runBench('send', async (bench) => {
  await using fixture = await openBenchFixture()
  await openTokenAccounts(fixture)
  const client = new pg.Client({ connectionString: fixture.databaseUrl })
  await client.connect()
  await client.query('create table bench_commit (id bigserial primary key, body text)')
  for (const proxy of Object.values(fixture.rpc)) proxy.delayMs = FAR_MS
  for (const kind of DRAFTS) {
    const url =
      kind.endsWith('EVM') || kind === 'ETH' ? fixture.rpc.evm.url : fixture.rpc.solana.url
    const method = url === fixture.rpc.evm.url ? 'eth_blockNumber' : 'getSlot'
    const payers = await Promise.all(
      Array.from({ length: TIMES + 1 }, () => openDraftPayer(fixture, kind)),
    )
    const least: number[] = []
    const ours: number[] = []
    for (const [place, payer] of payers.entries()) {
      const tripped = await timed(() =>
        fetch(url, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: [] }),
        }).then((answer) => answer.text()),
      )
      const committed = await timed(() =>
        client.query('insert into bench_commit (body) values ($1)', ['x'.repeat(1_000)]),
      )
      const built = await timed(() => buildDraft(fixture, kind, payer))
      if (place === 0) continue
      least.push(tripped + committed)
      ours.push(built)
    }
    const [bound, p50] = [spread(least).p50 + MARGIN_MS, spread(ours).p50]
    bench.add({
      name: `/transaction/send at +${FAR_MS} ms, ${kind}, p50 in ms (peer: round trip + commit + ${MARGIN_MS} ms)`,
      peer: bound,
      ours: p50,
      value: p50 / bound,
      most: 1,
      unit: '×',
    })
  }
  await client.end()
})

async function timed(run: () => Promise<unknown>): Promise<number> {
  const started = performance.now()
  await run()
  return performance.now() - started
}
