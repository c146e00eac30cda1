import { argv } from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { NODES, startCluster, type Cluster, type NodeName } from '../cluster/cluster.ts'
import { openDatabase } from '#postgres/open.ts'
import { startEpoch } from '#service/db/deployment.ts'
import { SERVICE_SCHEMA } from '#service/db/migrations-folder.ts'
import { readStopped } from '#service/db/wallet-ledger.ts'
import { ApiClient, at } from '../api-client.ts'
import type { OwnDatabase } from '../postgres.ts'
import { startServiceProcess, type ServiceProcess } from '../service-process.ts'
import { runCommand, type ChaosCommand } from './command.ts'
import { newRequestedPayment, type RequestedPayment } from './client.ts'
import { openFaultHarness, untilDone, type FaultHarness } from './fault-harness.ts'
import { runLoad } from './load.ts'
import { checkLoad, countEnded } from './measure.ts'
import type { SeededRng } from './rng.ts'
import { trackEvents } from './track-events.ts'

/**
 * Three Postgres servers under Patroni, two services, haproxy in front of both, and people who pay while nodes are killed, frozen and
 * cut off. A round is a killed Postgres, a killed service, and one of the faults that Patroni has to wait for. With `--asynchronous` no standby is
 * waited for, the log reaches them half a second late, and what is lost is counted.
 */
const SLOW_FAULTS = [
  'the leader is frozen',
  'the leader is cut off',
  'Patroni of the leader is frozen',
  'the synchronous standby is frozen',
  'the synchronous standby is cut off',
] as const
type SlowFault = (typeof SLOW_FAULTS)[number]
type Fault = SlowFault | 'Postgres of the leader is killed' | 'a service is killed'

const KILLED_BAR_S = 10
const SILENT_BAR_S = 30
const FOUND_WITHIN_MS = 60_000
const CALM_MS = 3_000
const REPLICATION_DELAY_MS = 500
/** 150 blocks are 15 s. */
const FAST_SLOT_MS = 100
const CLIENTS = 4
const REFUSED_MS = 10_000
const ASKED_AGAIN_MS = 40_000

type Scene = { cluster: Cluster; services: Services; splits: SplitBrain }

/** Resolves when the fault is over, and writes succeed again. */
async function strike(
  { cluster, services, splits }: Scene,
  fault: Fault,
  rng: SeededRng,
): Promise<void> {
  if (fault === 'a service is killed') return services.restart(rng.pick([0, 1] as const))
  const state = await cluster.untilWhole()
  const leader = state.leader ?? NODES[0]
  const isReplaced = () =>
    cluster.until(
      'another leader',
      FOUND_WITHIN_MS,
      (now) => ![leader, undefined].includes(now.leader),
    )
  if (fault === 'Postgres of the leader is killed') {
    cluster.killPostgres(leader)
    await isReplaced()
    return
  }
  const standby = state.synchronous[0] ?? NODES.find((node) => node !== leader) ?? NODES[0]
  const hit = fault.includes('standby') ? standby : leader
  const isOver = fault.includes('standby')
    ? () =>
        cluster.until(
          'another standby',
          FOUND_WITHIN_MS,
          ({ synchronous: now }) => now.length > 0 && !now.includes(standby),
        )
    : isReplaced
  if (fault.endsWith('cut off')) {
    cluster.links.cut(hit)
    splits.watch(hit)
    await isOver()
    await sleep(CALM_MS)
    await splits.stop()
    cluster.links.join(hit)
    return
  }
  const isPatroniAlone = fault === 'Patroni of the leader is frozen'
  const { thaw } = cluster.freeze(hit, { postgres: !isPatroniAlone })
  if (isPatroniAlone) splits.watch(hit)
  await isOver()
  await sleep(CALM_MS)
  await splits.stop()
  thaw()
}

/** Two services; haproxy reaches whichever lives. */
class Services implements AsyncDisposable {
  readonly #cluster: Cluster
  readonly #env: Record<string, string>
  readonly #running: (ServiceProcess | undefined)[] = []

  constructor(cluster: Cluster, env: Record<string, string>) {
    this.#cluster = cluster
    this.#env = env
  }

  get running(): ServiceProcess[] {
    return this.#running.filter((service) => service !== undefined)
  }

  async start(index: 0 | 1): Promise<void> {
    const PORT = String(this.#cluster.portsOf('service')[index])
    // Its operator starts it again where the database is away.
    const service = await untilDone(() => startServiceProcess({ ...this.#env, PORT }))
    this.#running[index] = service
  }

  /** Whether one starts that nobody waits for. */
  async canStart(index: 0 | 1): Promise<boolean> {
    const PORT = String(this.#cluster.portsOf('service')[index])
    try {
      await (await startServiceProcess({ ...this.#env, PORT })).kill()
      return true
    } catch {
      return false
    }
  }

  async restart(index: 0 | 1): Promise<void> {
    const service = this.#running[index]
    this.#running[index] = undefined
    await service?.kill()
    await this.start(index)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.running.map((service) => service.kill()))
  }
}

const PROBE_EVERY_MS = 100
const PROBE_PATIENCE_MS = 5_000
const PROBES_AT_ONCE = 20

type Probe = {
  readonly written: number
  describe: () => string
  /** Waits for a write that began after this moment. */
  untilWritten: (since: number, withinMs: number) => Promise<void>
  /** The longest time from one write to the next, since the last one before this moment. */
  longestGapMs: (since: number) => number
  end: () => Promise<void>
}

/** Asks all along for the challenge of a wallet, which is one row in the database. */
function startProbe(url: string, key: string): Probe {
  const { address } = privateKeyToAccount(generatePrivateKey())
  const writes: { begun: number; ended: number }[] = []
  const told = new Map<string, number>()
  const open = new Set<Promise<void>>()
  async function write(): Promise<void> {
    const begun = performance.now()
    const response = await fetch(`${url}/wallets/payout/challenge`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ walletAddress: address }),
      signal: AbortSignal.timeout(PROBE_PATIENCE_MS),
    })
    await response.arrayBuffer()
    if (response.ok) writes.push({ begun, ended: performance.now() })
    const name = String(response.status)
    told.set(name, (told.get(name) ?? 0) + 1)
  }
  const asking = setInterval(() => {
    if (open.size >= PROBES_AT_ONCE) return
    const one = write()
      .catch(() => void told.set('no answer', (told.get('no answer') ?? 0) + 1))
      .finally(() => open.delete(one))
    open.add(one)
  }, PROBE_EVERY_MS)
  return {
    get written() {
      return writes.length
    },
    describe: () => [...told].map(([name, times]) => `${times} × ${name}`).join(', '),
    async untilWritten(since, withinMs) {
      while (!writes.some(({ begun }) => begun > since)) {
        if (performance.now() > since + withinMs)
          throw new Error(`No write in ${withinMs / 1_000} s; ${this.describe()}`)
        await sleep(PROBE_EVERY_MS)
      }
    },
    longestGapMs(since) {
      const times = writes.map(({ ended }) => ended).toSorted((a, b) => a - b)
      const first = Math.max(
        0,
        times.findLastIndex((time) => time <= since),
      )
      return Math.max(
        0,
        ...times.slice(first + 1).map((time, at) => time - (times[first + at] ?? 0)),
      )
    },
    async end() {
      clearInterval(asking)
      await Promise.allSettled(open)
    },
  }
}

/** Writes to a node that may take itself for the leader, past haproxy, and counts what it acknowledged and the cluster does not have. */
class SplitBrain {
  readonly #cluster: Cluster
  readonly #acknowledged: number[] = []
  #stopped = true
  #writing = Promise.resolve()
  tried = 0

  constructor(cluster: Cluster) {
    this.#cluster = cluster
  }

  watch(node: NodeName): void {
    this.#stopped = false
    this.#writing = this.#write(node)
  }

  async stop(): Promise<void> {
    this.#stopped = true
    await this.#writing
  }

  async countLost(): Promise<number> {
    const { leader = NODES[0] } = await this.#cluster.untilWhole()
    const client = await this.#cluster.connectTo(leader)
    const { rows } = await client.query<{ id: number }>('select id from public.split_brain')
    await client.end()
    const there = new Set(rows.map(({ id }) => id))
    return this.#acknowledged.filter((id) => !there.has(id)).length
  }

  async #write(node: NodeName): Promise<void> {
    while (!this.#stopped) {
      await sleep(PROBE_EVERY_MS)
      await this.#writeOnce(node).catch(() => {})
    }
  }

  async #writeOnce(node: NodeName): Promise<void> {
    const client = await this.#cluster.connectTo(node)
    try {
      const id = ++this.tried
      await client.query('insert into public.split_brain values ($1)', [id])
      this.#acknowledged.push(id)
    } finally {
      await client.end()
    }
  }
}

function shuffle<T>(rng: SeededRng, list: readonly T[]): T[] {
  return list
    .map((item) => ({ item, at: rng.next() }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ item }) => item)
}

async function payUnderFaults({ rounds, rng, measure }: ChaosCommand): Promise<void> {
  await using cluster = await startCluster({ synchronous: true })
  await using harness = await openFaultHarness({
    rng,
    database: databaseOf(cluster),
  })
  await using services = new Services(cluster, harness.env)
  await services.start(0)
  await services.start(1)
  console.log('the cluster and both services run')
  const probe = startProbe(cluster.urls.service, harness.key)
  await probe.untilWritten(performance.now(), FOUND_WITHIN_MS)
  const tracker = trackEvents({ key: harness.key, target: () => cluster.urls.service })
  const schedule = rng.fork('failover')
  const splits = new SplitBrain(cluster)
  const gaps = new Map<Fault, number[]>()
  const load = await runLoad(
    harness,
    {
      target: () => cluster.urls.service,
      rng,
      clients: { sends: 3, orders: 1, proofs: 2 },
      // A service that dies in the middle of an answer: haproxy says so.
      alsoRepeat: (status) => status === 502,
    },
    async () => {
      let slow: SlowFault[] = []
      for (let round = 0; round < rounds; round++) {
        if (slow.length === 0) slow = shuffle(schedule, SLOW_FAULTS)
        const [next = SLOW_FAULTS[0]] = slow.splice(0, 1)
        for (const fault of shuffle(schedule, [
          'Postgres of the leader is killed',
          'a service is killed',
          next,
        ] as const)) {
          await sleep(CALM_MS)
          const begun = performance.now()
          console.log(`${fault} …`)
          await strike({ cluster, services, splits }, fault, schedule)
          // A node that comes back may interrupt again.
          await cluster.untilWhole()
          await probe.untilWritten(performance.now(), FOUND_WITHIN_MS)
          const gapS = probe.longestGapMs(begun) / 1_000
          gaps.set(fault, [...(gaps.get(fault) ?? []), gapS])
          console.log(`${fault}: no write for ${gapS.toFixed(1)} s`)
        }
      }
      await cluster.untilWhole()
    },
  )
  await probe.end()
  for (const [fault, seconds] of gaps) {
    const bar = fault.endsWith('killed') ? KILLED_BAR_S : SILENT_BAR_S
    const most = Math.max(...seconds)
    measure(`no write while ${fault}`, `${most.toFixed(1)} s`, `at most ${bar} s`, most <= bar)
  }
  console.log(`the probe was told: ${probe.describe()}`)
  measure('writes of the probe', probe.written, 'at least 100', probe.written >= 100)
  const lost = await splits.countLost()
  measure('acknowledged by a former leader, and lost', lost, `0 of ${splits.tried}`, lost === 0)
  const ended = await countEnded(services.running)
  measure('service processes that ended by themselves', ended, '0', ended === 0)
  await checkLoad(measure, harness, load)
  await tracker.compare(harness, measure)
}

/** What a failover loses where no standby is waited for, and what happens when every key is asked again. */
async function loseAcknowledged({ rounds, rng, measure }: ChaosCommand): Promise<void> {
  let [acknowledgedKeys, lostKeys, startedEarly, paidTwice] = [0, 0, 0, 0]
  for (let round = 0; round < rounds; round++) {
    await using cluster = await startCluster({ synchronous: false })
    await using harness = await openFaultHarness({
      rng: rng.fork(`round ${round}`),
      database: databaseOf(cluster),
      slotMs: FAST_SLOT_MS,
    })
    await using services = new Services(cluster, harness.env)
    await services.start(0)
    await services.start(1)
    const probe = startProbe(cluster.urls.service, harness.key)
    await probe.untilWritten(performance.now(), FOUND_WITHIN_MS)
    const { leader = NODES[0] } = await cluster.untilWhole()
    cluster.links.replicationDelayMs = REPLICATION_DELAY_MS
    const requested: RequestedPayment[] = []
    const acknowledged = new Map<string, string>()
    const over = { yes: false }
    const clients = Array.from({ length: CLIENTS }, async () => {
      while (!over.yes) {
        const next = newRequestedPayment(harness.tills, rng.int)
        requested.push(next)
        const { paymentId } = await ask(cluster, harness, next)
        if (paymentId !== undefined) acknowledged.set(next.key, paymentId)
      }
    })
    await sleep(rng.int(4_000, 6_000))
    cluster.killPostgres(leader)
    over.yes = true
    await Promise.all(clients)
    await cluster.until('another leader', FOUND_WITHIN_MS, (now) =>
      [leader, undefined].every((former) => now.leader !== former),
    )
    cluster.links.replicationDelayMs = 0
    const refused = await askAgain(cluster, harness, { requested, forMs: REFUSED_MS })
    // What docs/OPERATIONS.md has the operator do.
    await using later = await untilDone(() =>
      openDatabase(cluster.target, { ...SERVICE_SCHEMA, declaresRestore: true }),
    )
    const { rows } = await later.db.execute<{ id: string }>('select id from service.payment')
    const there = new Set(rows.map(({ id }) => id))
    const lost = [...acknowledged.values()].filter((id) => !there.has(id))
    await services[Symbol.asyncDispose]()
    if (await services.canStart(0)) startedEarly++
    await startEpoch(later.db)
    await services.start(0)
    await services.start(1)
    const answers = await askAgain(cluster, harness, { requested, forMs: ASKED_AGAIN_MS })
    await sleep(CALM_MS)
    let transfers = 0
    for (const { address } of harness.tills) transfers += await harness.payments(address)
    const stopped = await readStopped(later.db)
    console.log(
      `round ${round + 1}: ${acknowledged.size} acknowledged of ${requested.length} keys, ${lost.length} lost; ${transfers} transfers; asked again: ${refused}; after the restart: ${answers}; stopped: ${stopped.map(({ network, stopReason }) => `${network} ${stopReason}`).join('; ') || 'none'}`,
    )
    acknowledgedKeys += acknowledged.size
    lostKeys += lost.length
    paidTwice += Math.max(0, transfers - requested.length)
    await probe.end()
  }
  measure('acknowledged payments', acknowledgedKeys, 'at least 1', acknowledgedKeys > 0)
  measure('of these lost by the failover', lostKeys, 'told, not judged', true)
  measure(
    'services that started before the restore was declared',
    startedEarly,
    '0',
    startedEarly === 0,
  )
  measure('paid twice', paidTwice, '0', paidTwice === 0)
}

type AskedAgain = { requested: readonly RequestedPayment[]; forMs: number }

/** @returns how often each answer came */
async function askAgain(
  cluster: Cluster,
  harness: FaultHarness,
  { requested, forMs }: AskedAgain,
): Promise<string> {
  const answers = new Map<string, number>()
  const until = performance.now() + forMs
  while (performance.now() < until)
    for (const each of requested) {
      const { told } = await ask(cluster, harness, each)
      answers.set(told, (answers.get(told) ?? 0) + 1)
    }
  return [...answers].map(([told, times]) => `${times} × ${told}`).join(', ')
}

async function ask(
  cluster: Cluster,
  { key }: FaultHarness,
  { key: idempotencyKey, till, amount }: RequestedPayment,
): Promise<{ paymentId?: string; told: string }> {
  const api = new ApiClient(cluster.urls.service, key)
  const body = { walletAddress: till.address, recipientAddress: till.payee, amount: Number(amount) }
  const headers = { 'idempotency-key': idempotencyKey, prefer: 'respond-async' }
  try {
    const reply = await api.send({ method: 'POST', path: '/payment/send', body, headers })
    const code = at(reply.body, 'error.code')
    const paymentId = at(reply.body, 'paymentId')
    const told = code === undefined ? String(reply.status) : `${reply.status} ${String(code)}`
    return typeof paymentId === 'string' ? { paymentId, told } : { told }
  } catch {
    return { told: 'no answer' }
  }
}

function databaseOf({ target }: Cluster): Pick<OwnDatabase, 'target' | 'restart'> {
  return { target, restart: () => Promise.reject(new Error('A cluster restarts by itself.')) }
}

await runCommand('chaos:failover', { short: 1, long: 10 }, (command) =>
  argv.includes('--asynchronous') ? loseAcknowledged(command) : payUnderFaults(command),
)
