import { argv } from 'node:process'
import { pause } from '#testing/chaos/command.ts'
import {
  bodyOf,
  buildDraft,
  openDraftPayer,
  sendHosted,
  signAuthorization,
  settle,
  verify,
} from './actions.ts'
import { QUICK, runBench } from './bench.ts'
import { openBenchFixture, type StatementCount } from './fixture.ts'

/**
 * `npm run bench:sql`: database round trips and syncs of the write-ahead log for each action, by
 * `pg_stat_statements` and `pg_stat_wal` of a Postgres with fsync on. `--statements` prints them.
 */

const TIMES = QUICK ? 20 : 100
const IDLE_MS = QUICK ? 5_000 : 20_000
const SHOWN = argv.includes('--statements')

await runBench('sql', async (bench) => {
  await using fixture = await openBenchFixture()
  const { api, statements } = fixture
  await pause(2_000)
  await statements.take()
  await pause(IDLE_MS)
  const idle = await statements.take()
  add('idle, per second', idle, { of: IDLE_MS / 1_000 })

  const perSecond = { statements: idle.statements / IDLE_MS, syncs: idle.syncs / IDLE_MS }
  /** Without what the service asks when nobody calls. */
  async function measure(
    name: string,
    { warmUp = 1, ...bars }: { statements: number; syncs: number; warmUp?: number },
    run: () => Promise<unknown>,
  ): Promise<void> {
    // A limit leases more tokens at once where requests come fast: what counts is the steady state.
    for (let time = 0; time < warmUp; time++) await run()
    await statements.take()
    const started = performance.now()
    for (let time = 0; time < TIMES; time++) await run()
    const ms = performance.now() - started
    const counted = await statements.take()
    add(
      name,
      {
        ...counted,
        statements: Math.max(0, counted.statements - perSecond.statements * ms),
        syncs: Math.max(0, counted.syncs - perSecond.syncs * ms),
      },
      { of: TIMES, ...bars },
    )
  }
  function add(
    name: string,
    count: StatementCount,
    { of, ...bars }: { of: number; statements?: number; syncs?: number },
  ): void {
    for (const unit of ['statements', 'syncs'] as const)
      bench.add({
        name: `${name}, ${unit}`,
        measure: `${name.replace(/, each of .*/, '')}, ${unit}`,
        ours: count[unit] / of,
        value: count[unit] / of,
        // Figures are means, and a timer may run in between.
        most: bars[unit] === undefined ? undefined : bars[unit] + 0.1,
        unit: '',
      })
    if (SHOWN) console.log(count.list)
  }

  await measure('an authenticated request', { statements: 0, syncs: 0, warmUp: TIMES }, () =>
    api.get('/facilitator/supported'),
  )
  const refused = bodyOf(await signAuthorization(fixture))
  const elsewhere = JSON.parse(
    JSON.stringify(refused).replaceAll(fixture.networks[0].network, 'eip155:999'),
  )
  await measure('a refused POST', { statements: 0, syncs: 0, warmUp: TIMES }, () =>
    api.post('/facilitator/verify', elsewhere),
  )
  const proofs = await Promise.all(
    Array.from({ length: TIMES + 1 }, () => signAuthorization(fixture)),
  )
  const waiting = [...proofs]
  await measure('/facilitator/verify', { statements: 1, syncs: 0 }, async () => {
    const proof = waiting.pop()
    if (proof) await verify(api, proof)
  })
  const payers = await Promise.all(
    Array.from({ length: TIMES + 1 }, () => openDraftPayer(fixture, 'ETH')),
  )
  await measure('/transaction/send, ETH', { statements: 1, syncs: 1 }, async () => {
    const payer = payers.pop()
    if (payer !== undefined) await buildDraft(fixture, 'ETH', payer)
  })
  await measure('hosted send until durable, ETH', { statements: 3, syncs: 2 }, () =>
    sendHosted(fixture, 'evm'),
  )
  await pause(3_000)
  await statements.take()
  const settled = await Promise.all(proofs.map((proof) => settle(api, proof)))
  const count = settled.filter(Boolean).length
  add(
    `/facilitator/settle, each of ${proofs.length} at once (${count} settled)`,
    await statements.take(),
    {
      of: proofs.length,
      statements: 3,
      syncs: 3,
    },
  )
})
