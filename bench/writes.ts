import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { createPaymentId } from '#contract/payment.ts'
import { openDatabase, type Database } from '#postgres/open.ts'
import { SERVICE_SCHEMA } from '#service/db/migrations-folder.ts'
import { payment } from '#service/db/schema/payment.ts'
import { createAccount } from '#service/keys/accounts.ts'
import { examples } from '#service/openapi/examples.ts'
import { QUICK, runBench, spread, type Bench } from './bench.ts'
import { openPostgres } from './fixture.ts'
import { startSlowCommits } from './slow-commits.ts'

/**
 * `npm run bench:writes`: changes of status a second, each a commit with its event, where a commit
 * takes 20 ms longer; beside 1 / commit latency, which is what one lock around every commit leaves.
 */

export type StatusWork = {
  payments: {
    id: string
    signature: string
    sender: string
    recipient: string
    asset: string
    amount: string
  }[]
  workers: number
  ms: number
}
export type StatusWorkDone = { changes: number; ms: number; cpuMs: number }

/** With the longer one a processor of two cores is not what limits two replicas. */
const [DELAY_MS, LONG_DELAY_MS] = [20, 100]
const WORKERS = 16
const ACCOUNTS = 16
const [ROUNDS, MS] = QUICK ? [3, 2_000] : [8, 4_000]
/** More than one replica can change in that time. */
const PAYMENTS = MS / 2
const COMMITS = 20

type Replica = Disposable & {
  run: (work: Omit<StatusWork, 'workers' | 'ms'>) => Promise<StatusWorkDone>
}
type Round = { one: number; many: number; two: number; commit: number; cpu: number }

await runBench('writes', async (bench) => {
  await using postgres = await openPostgres()
  await using opened = await openDatabase({ url: postgres.url }, { ...SERVICE_SCHEMA })
  const { db } = opened
  await using slow = await startSlowCommits(postgres.url, DELAY_MS)
  const accounts: string[] = []
  for (let index = 0; index < ACCOUNTS; index++)
    accounts.push((await createAccount(db, { name: `Shop ${index}`, plan: 'premium' })).id)
  using first = await startReplica(slow.url)
  using second = await startReplica(slow.url)
  const write = async (replicas: Replica[], of: readonly string[]) => {
    const works = []
    for (const replica of replicas) works.push({ replica, payments: await insertPayments(db, of) })
    const done = await Promise.all(works.map(({ replica, payments }) => replica.run({ payments })))
    return {
      perSecond: done.reduce((sum, { changes, ms }) => sum + changes / (ms / 1_000), 0),
      cpu:
        done.reduce((sum, { cpuMs }) => sum + cpuMs, 0) /
        done.reduce((sum, { changes }) => sum + changes, 0),
    }
  }
  await write([first, second], accounts)
  async function measureRound(forwards: boolean): Promise<Round> {
    const kinds = [
      async () => ({ commit: await measureCommit(slow.url) }),
      async () => ({ one: (await write([first], accounts.slice(0, 1))).perSecond }),
      async () => {
        const { perSecond, cpu } = await write([first], accounts)
        return { many: perSecond, cpu }
      },
      async () => ({ two: (await write([first, second], accounts)).perSecond }),
    ]
    const found: Partial<Round> = {}
    for (const kind of forwards ? kinds : kinds.toReversed()) Object.assign(found, await kind())
    return found as Round
  }
  for (const delayMs of [DELAY_MS, LONG_DELAY_MS]) {
    slow.delayMs = delayMs
    const rounds: Round[] = []
    for (let round = 0; round < ROUNDS; round++) rounds.push(await measureRound(round % 2 === 0))
    addRows(bench, rounds, delayMs)
  }
})

function addRows(bench: Bench, rounds: readonly Round[], delayMs: number): void {
  const judged = delayMs === DELAY_MS
  const add = (name: string, least: number, of: (round: Round) => [ours: number, peer: number]) =>
    bench.add({
      name,
      peer: spread(rounds.map((round) => of(round)[1])).p50,
      ours: spread(rounds.map((round) => of(round)[0])).p50,
      value: spread(rounds.map((round) => of(round)[0] / of(round)[1])).p10,
      ...(judged && { least }),
      unit: '×',
    })
  const at = `+${delayMs} ms`
  add(
    `changes of status a second, ${ACCOUNTS} accounts, ${at}, beside 1 / commit latency`,
    8,
    ({ many, commit }) => [many, commit],
  )
  add(`… one account, ${at}`, 4, ({ one, commit }) => [one, commit])
  add(`… two replicas, ${at}, beside one`, 1.7, ({ two, many }) => [two, many])
  const cpu = spread(rounds.map((round) => round.cpu)).p50
  const latency = 1_000 / spread(rounds.map(({ commit }) => commit)).p50
  bench.add({
    name: `… CPU of a change in the service, ${at}, ms`,
    ours: cpu,
    value: cpu,
    unit: 'ms',
  })
  bench.add({ name: `… latency of a commit, ${at}`, ours: latency, value: latency, unit: 'ms' })
}

async function startReplica(url: string): Promise<Replica> {
  const child = fork(fileURLToPath(new URL('peers/status-writer.ts', import.meta.url)), {
    env: { DATABASE_URL: url },
  })
  await answerOf(child)
  return {
    async run({ payments }) {
      const done = answerOf(child)
      child.send({ payments, workers: WORKERS, ms: MS } satisfies StatusWork)
      return (await done) as StatusWorkDone
    },
    [Symbol.dispose]: () => child.disconnect(),
  }
}

async function answerOf(child: ChildProcess): Promise<unknown> {
  const over = new AbortController()
  const ended = once(child, 'exit', over).then(([code]) => {
    throw new Error(`A replica ended with ${code}.`)
  })
  const message = once(child, 'message', over).then(([answer]) => answer as unknown)
  return Promise.race([message, ended]).finally(() => {
    over.abort()
    for (const left of [message, ended]) left.catch(() => {})
  })
}

/** Commits of one connection, one after the other, a second. */
async function measureCommit(url: string): Promise<number> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const times: number[] = []
  for (let index = 0; index < COMMITS; index++) {
    await client.query('begin')
    await client.query(
      `update service.account set name = 'Shop' where id = (select id from service.account order by id limit 1)`,
    )
    const from = performance.now()
    await client.query('commit')
    times.push(performance.now() - from)
  }
  await client.end()
  return 1_000 / spread(times).p50
}

/** Confirmed payments that wait for finality, spread over accounts. */
async function insertPayments(
  db: Database,
  accounts: readonly string[],
): Promise<StatusWork['payments']> {
  const { network, asset, symbol, decimals, amountAtomic, sender, recipient } =
    examples.paymentStatus.reply
  const amount = BigInt(amountAtomic)
  const rows = Array.from({ length: PAYMENTS }, (_, index) => {
    const id = createPaymentId()
    return {
      id,
      accountId: accounts[index % accounts.length] ?? '',
      mode: 'local' as const,
      status: 'confirmed' as const,
      network,
      asset,
      symbol,
      decimals,
      amount,
      sender,
      recipient,
      signature: `0x${id}`,
      evidence: 'sender' as const,
      builtHeight: 0,
      blockHeight: 1,
      confirmedAt: new Date(),
    }
  })
  for (let from = 0; from < rows.length; from += 500)
    await db.insert(payment).values(rows.slice(from, from + 500))
  return rows.map(({ id, signature }) => ({
    id,
    signature,
    sender,
    recipient,
    asset,
    amount: amountAtomic,
  }))
}
