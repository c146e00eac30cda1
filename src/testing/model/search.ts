import { drizzle } from 'drizzle-orm/node-postgres'
import pg from 'pg'
import type { Family } from '#contract/address.ts'
import { NATIVE_ETH, NATIVE_SOL, type Network } from '#contract/network.ts'
import { openDatabase } from '#postgres/open.ts'
import type { Chain } from '#service/chains/chain.ts'
import { createLog } from '#service/context/log.ts'
import type { Actor, Context } from '#service/context/context.ts'
import { createRequestLog } from '#service/context/request-log.ts'
import { createUsageLog } from '#service/context/usage-log.ts'
import { SERVICE_SCHEMA } from '#service/db/migrations-folder.ts'
import { sendPayment } from '#service/hosted/send.ts'
import { createAccount } from '#service/keys/accounts.ts'
import { findKey } from '#service/keys/authenticate.ts'
import { KnownCallers } from '#service/keys/known-callers.ts'
import { leaseTokens, Limits } from '#service/limits/limits.ts'
import { pollOnce } from '#service/monitor/poll.ts'
import { createChains } from '#service/service.ts'
import { createWallet } from '#service/wallets/create-wallet.ts'
import { asOwner, createTestDatabase, type TestDatabase } from '../postgres.ts'
import { openTestSigner } from '../test-signer.ts'
import { BranchingDatabase, type CommitFate } from './branching-database.ts'
import {
  ModelEvmNode,
  ModelRpcError,
  type ModelNode,
  type NodeView,
  type SignedAttempt,
} from './evm-node.ts'
import { ModelSolanaNode } from './solana-node.ts'

/**
 * Explicit-state search of hosted payments: every order of sends, polls, blocks, reorgs, dropped pools, fee surges and passing time, up to a depth, with a
 * process that dies or loses its database at each commit and each broadcast, a second process that acts between two commits of the first, and an RPC endpoint
 * that lies. The functions of the service run unchanged, over a real database and JSON-RPC; each state is left and returned to.
 */

export type Violation = { rule: string; trace: string[]; facts: unknown }
export type SearchReport = {
  /** Different states, and the operations and moves that were executed to reach them. */
  states: number
  transitions: number
  depth: number
  /** States at the end of which the chain was settled, and everything had to be decided. */
  settled: number
  complete: boolean
  violations: Violation[]
}

export type ModelSearchOptions = {
  family: Family
  /** How many operations and moves follow one another. */
  depth: number
  /** How many of them may go wrong. */
  faults: number
  maxMs?: number
  /** Sent before the search begins. */
  prefix?: readonly string[]
  /** Ends at the first violation. */
  first?: boolean
  plant?: Plant
}

/** A defect that is put in at an edge, to see it found. */
export type Plant = {
  chain?: (chain: Chain) => Chain
  rewrite?: (text: string, rows: unknown[]) => unknown[]
  /** What a process loses when it dies: all its commits were acknowledged and not written. */
  losesCommits?: true
  /** Executed on the database before the search. */
  statement?: string
  /** Only one endpoint is configured. */
  oneEndpoint?: true
}

type Row = {
  id: string
  idempotency_key: string
  status: string
  nonce: string | null
  signature: string | null
  reported_signature: string | null
  block_height: string | null
  built_height: string | null
  last_valid_block_height: string | null
  failure: string | null
  age: number
}
type AttemptRow = {
  payment_id: string
  number: number
  signature: string
  nonce: string | null
  last_valid_block_height: string | null
  created: number
  sent: number
}

type Rows = { payments: Row[]; attempts: AttemptRow[] }
/** A state, and how it was reached. */
type Reached = { trace: string[]; rows: Rows }

/** One disturbance of one operation, at its effect number `at`: a commit or a broadcast. */
type Fault =
  | { kind: 'none' }
  | { kind: 'commit'; at: number; fate: Exclude<CommitFate, 'made'> }
  | {
      kind: 'broadcast'
      at: number
      fate: 'refused' | 'swallowed' | 'reset_after' | 'dead_after' | 'twice'
    }
  | { kind: 'replica'; at: number; operation: string }
  | { kind: 'view'; view: Exclude<NodeView, 'right'>; both: boolean }

type Effect = 'commit' | 'broadcast'
type Ran = { effects: Effect[]; failed: boolean; paymentId?: string | undefined }

const NODES = ['http://node-one.invalid', 'http://node-two.invalid'] as const
const PAYEES = {
  evm: '0x90F79bf6EB2c4f870365E785982E1f101E93b906',
  solana: '6sbzC1eH4FTujJXWj51eQe25cYvr4xfXbJ1vAj7j2k5J',
} as const
const AMOUNTS: Record<string, string> = { a: '0.01', b: '0.02' }
const MAX_ROUNDS = 40

export async function search(options: ModelSearchOptions): Promise<SearchReport> {
  await using run = await ModelRun.open(options)
  return await run.search()
}

class ModelRun {
  readonly #options: ModelSearchOptions
  readonly #stored: TestDatabase
  readonly #connection: pg.Client
  readonly #database: BranchingDatabase
  readonly #context: Omit<Context, 'db' | 'chains'>
  readonly #actor: Actor
  readonly #sender: string
  readonly #network: Network
  readonly #restoreFetch: () => void
  #node: ModelNode
  #time = Date.parse('2026-01-01T00:00:00Z')
  #views: NodeView[] = ['right', 'right']
  #onBroadcast: (() => Promise<Extract<Fault, { kind: 'broadcast' }>['fate'] | 'right'>) | undefined
  /** With how many faults left, and to which depth, each state was explored. */
  readonly #visited = new Map<string, { faults: number; depth: number }[]>()
  readonly #promised = new Map<string, string>()
  readonly #report: SearchReport
  #until = Infinity
  #alive = (): boolean => true

  private constructor(
    options: ModelSearchOptions,
    parts: {
      stored: TestDatabase
      connection: pg.Client
      database: BranchingDatabase
      context: Omit<Context, 'db' | 'chains'>
      actor: Actor
      sender: string
      network: Network
      node: ModelNode
    },
  ) {
    this.#options = options
    this.#stored = parts.stored
    this.#connection = parts.connection
    this.#database = parts.database
    this.#context = { ...parts.context, now: () => new Date(this.#time) }
    this.#actor = parts.actor
    this.#sender = parts.sender
    this.#network = parts.network
    this.#node = parts.node
    this.#report = {
      states: 0,
      transitions: 0,
      depth: options.depth,
      settled: 0,
      complete: true,
      violations: [],
    }
    const original = globalThis.fetch
    globalThis.fetch = (input, init) => this.#fetch(input, init)
    this.#restoreFetch = () => {
      globalThis.fetch = original
    }
  }

  static async open(options: ModelSearchOptions): Promise<ModelRun> {
    const stored = await createTestDatabase('postgres', 'service')
    const migrated = await openDatabase(stored.target, SERVICE_SCHEMA)
    await migrated[Symbol.asyncDispose]()
    const owner = asOwner(stored.target)
    if (!('url' in owner)) throw new Error('Expected a server.')
    const connection = new pg.Client({ connectionString: owner.url })
    await connection.connect()
    const db = drizzle(connection, { casing: 'snake_case' })
    const limits = new Limits({ lease: (requests) => leaseTokens(db, requests) })
    const node = options.family === 'evm' ? new ModelEvmNode() : new ModelSolanaNode()
    const network: Network = {
      network: node.network,
      name: 'Model',
      rpcUrls: options.plant?.oneEndpoint ? [NODES[0]] : [...NODES],
      testnet: true,
      blockTimeMs: 1_000,
      confirmations: 2,
      assets: [options.family === 'evm' ? NATIVE_ETH : NATIVE_SOL],
    }
    const signer = openTestSigner()
    const account = await createAccount(db, { name: 'Model', plan: 'premium' })
    const { address } = await createWallet(
      { db, signer, now: new Date() },
      { accountId: account.id, family: options.family, name: 'till' },
    )
    const database = new BranchingDatabase(connection)
    database.rewrite = options.plant?.rewrite
    if (options.plant?.statement !== undefined) await connection.query(options.plant.statement)
    await connection.query('begin')
    return new ModelRun(options, {
      stored,
      connection,
      database,
      context: {
        config: {
          host: '127.0.0.1',
          port: 0,
          trustedProxyHops: 0,
          database: stored.target,
          networks: [network],
          logLevel: 'silent',
          signer: { socket: 'unused' },
        },
        signer,
        log: createLog('silent'),
        usage: createUsageLog(db),
        requests: createRequestLog(db),
        limits,
        callers: new KnownCallers({ read: (hash, now) => findKey(db, hash, now) }),
        now: () => new Date(),
      },
      actor: { accountId: account.id, keyId: 'key_model', scopes: new Set(), plan: 'premium' },
      sender: address,
      network,
      node,
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#restoreFetch()
    await this.#context.limits.close()
    await this.#context.signer[Symbol.asyncDispose]()
    await this.#connection.query('rollback')
    await this.#connection.end()
    await this.#stored[Symbol.asyncDispose]()
  }

  async search(): Promise<SearchReport> {
    const { depth, faults, maxMs, prefix = [] } = this.#options
    this.#until = performance.now() + (maxMs ?? Infinity)
    for (const move of prefix) await this.#execute(move, { kind: 'none' })
    await this.#explore(depth, faults, { trace: [...prefix], rows: await this.#rows() })
    return this.#report
  }

  get #over(): boolean {
    const late = performance.now() > this.#until
    if (late) this.#report.complete = false
    return late || (this.#options.first === true && this.#report.violations.length > 0)
  }

  /** Everything that can follow this state; deeper first. */
  async #explore(depth: number, faults: number, { trace, rows }: Reached): Promise<void> {
    const state = this.#describe(rows)
    const explored = this.#visited.get(state) ?? []
    if (explored.length === 0) this.#report.states++
    // What can follow with fewer faults or fewer moves was among what followed then.
    if (explored.some((one) => one.faults >= faults && one.depth >= depth)) return
    this.#visited.set(state, [...explored, { faults, depth }])
    if (depth === 0) return this.#settle({ trace, rows })
    for (const move of this.#moves()) {
      if (this.#over) return
      const effects = await this.#branch(move, { kind: 'none' }, { depth, faults, trace })
      if (faults === 0 || !isOperation(move)) continue
      for (const fault of faultsOf(effects)) {
        if (this.#over) return
        await this.#branch(move, fault, { depth, faults: faults - 1, trace })
      }
    }
  }

  /** One move and all that follows it, and back. */
  async #branch(
    move: string,
    fault: Fault,
    { depth, faults, trace }: { depth: number; faults: number; trace: string[] },
  ): Promise<Effect[]> {
    const [mark, node, time] = [await this.#database.mark(), this.#node, this.#time]
    const promised = new Map(this.#promised)
    this.#node = node.copy()
    const next = [...trace, describeMove(move, fault)]
    try {
      const { effects } = await this.#execute(move, fault)
      this.#report.transitions++
      const reached = { trace: next, rows: await this.#rows() }
      if (this.#check(reached)) await this.#explore(depth - 1, faults, reached)
      return effects
    } finally {
      await this.#database.returnTo(mark)
      this.#node = node
      this.#time = time
      this.#promised.clear()
      for (const [key, id] of promised) this.#promised.set(key, id)
    }
  }

  #moves(): string[] {
    return ['send a', 'send b', 'poll', ...this.#node.moves(), 'wait']
  }

  async #execute(move: string, fault: Fault): Promise<Ran> {
    if (isOperation(move)) return this.#operate(move, fault)
    if (move === 'wait') this.#time += 40_000
    else if (move === 'wait long') this.#time += 700_000
    else this.#node.move(move, this.#sender)
    return { effects: [], failed: false }
  }

  /** A process begins, does one thing, and is gone. */
  async #operate(move: string, fault: Fault): Promise<Ran> {
    const effects: Effect[] = []
    let alive = true
    const die = () => {
      alive = false
    }
    let replica: Promise<void> | undefined
    const replicate = async (operation: string) => {
      const [views, onBroadcast, isAlive] = [this.#views, this.#onBroadcast, this.#alive]
      this.#views = ['right', 'right']
      await this.#operate(operation, { kind: 'none' })
      this.#views = views
      this.#onBroadcast = onBroadcast
      this.#alive = isAlive
    }
    const between = async () => {
      if (fault.kind === 'replica' && fault.at === effects.length)
        replica ??= replicate(fault.operation)
      await replica
    }
    this.#alive = () => alive
    if (fault.kind === 'view') this.#views = [fault.view, fault.both ? fault.view : 'right']
    this.#onBroadcast = async () => {
      // The polls of a process broadcast side by side: another one acts there only before a commit.
      if (move !== 'poll') await between()
      const at = effects.push('broadcast') - 1
      if (fault.kind !== 'broadcast' || fault.at !== at) return 'right'
      if (fault.fate === 'dead_after') die()
      return fault.fate
    }
    const db = this.#database.open({
      alive: () => alive,
      // A broadcast that takes long goes on beside the process that sent it.
      paused: () => replica,
      before: between,
      gate: () => {
        const at = effects.push('commit') - 1
        if (fault.kind !== 'commit' || fault.at !== at) return Promise.resolve('made')
        if (fault.fate.startsWith('dead')) die()
        return Promise.resolve(fault.fate)
      },
    })
    const [opened] = createChains([this.#network]).values()
    if (!opened) throw new Error('There is no chain.')
    const chain = this.#options.plant?.chain?.(opened) ?? opened
    const context: Context = {
      ...this.#context,
      db,
      chains: new Map([[this.#network.network, chain]]),
    }
    const mark = this.#options.plant?.losesCommits ? await this.#database.mark() : undefined
    let ran: Ran
    try {
      ran = { effects, failed: false, ...(await this.#perform(context, chain, move)) }
    } catch (error) {
      if (isDefect(error)) throw error
      ran = { effects, failed: true }
    }
    await replica
    this.#views = ['right', 'right']
    this.#onBroadcast = undefined
    this.#alive = () => true
    if (mark !== undefined && !alive) await this.#database.returnTo(mark)
    const key = /^send (\w)$/.exec(move)?.[1]
    if (key !== undefined && ran.paymentId !== undefined && alive)
      this.#promised.set(key, ran.paymentId)
    return ran
  }

  async #perform(
    context: Context,
    chain: Chain,
    move: string,
  ): Promise<{ paymentId?: string; failed?: boolean }> {
    const key = /^send (\w)$/.exec(move)?.[1]
    if (key === undefined) {
      const { failures } = await pollOnce(context, chain, { expiredToo: true })
      for (const failure of failures) if (isDefect(failure)) throw failure
      return { failed: failures.length > 0 }
    }
    const { paymentId } = await sendPayment(context, this.#actor, {
      body: {
        walletAddress: this.#sender,
        recipientAddress: PAYEES[this.#options.family],
        amount: AMOUNTS[key] ?? '',
      },
      idempotency: { key, fingerprint: key },
      waitMs: 0,
    })
    return { paymentId }
  }

  /** Nothing goes wrong any more: everything is decided, and as the chain shows it. */
  async #settle({ trace, rows: reached }: Reached): Promise<void> {
    this.#report.settled++
    const [mark, node, time] = [await this.#database.mark(), this.#node, this.#time]
    this.#node = node.copy()
    let rows = reached
    try {
      for (let round = 0; round < MAX_ROUNDS; round++) {
        if (rows.payments.every(({ status }) => DECIDED.has(status))) return
        this.#time += 40_000
        const { failed } = await this.#operate('poll', { kind: 'none' })
        rows = await this.#rows()
        if (failed) return this.#violate('a poll failed though nothing went wrong', trace, rows)
        this.#node.calm()
        if (!this.#check({ trace: [...trace, `settle ${round}`], rows })) return
      }
      this.#violate('a payment is never decided though the chain is settled', trace, rows)
    } finally {
      await this.#database.returnTo(mark)
      this.#node = node
      this.#time = time
    }
  }

  /** Whether this state keeps every promise. */
  #check({ trace, rows: { payments, attempts } }: Reached): boolean {
    const landed = new Set(this.#node.landed())
    const before = this.#report.violations.length
    const state = { payments, attempts, chain: this.#node.describe() }
    const counted = new Map<string, number>()
    for (const row of payments) {
      const signed = attempts.filter(({ payment_id }) => payment_id === row.id)
      const hits = signed.filter(({ signature }) => landed.has(signature)).length
      counted.set(row.idempotency_key, (counted.get(row.idempotency_key) ?? 0) + hits)
      const open = signed.filter((attempt) => this.#node.canLand(toAttempt(attempt, this.#sender)))
      if (
        new Set(open.map((attempt) => this.#node.placeOf(toAttempt(attempt, this.#sender)))).size >
        1
      )
        this.#violate('two signed transactions of one intent can both land', trace, state)
      if (ENDED.has(row.status) && open.length > 0)
        this.#violate(`a payment is ${row.status} and can still land`, trace, state)
      if (row.status === 'finalized' && !landed.has(row.signature ?? ''))
        this.#violate('a payment is finalized and is not on the chain', trace, state)
    }
    const names = new Set(attempts.map(({ signature }) => signature))
    for (const [key, count] of counted)
      if (count > 1) this.#violate(`the intent ${key} was paid twice`, trace, state)
    const foreign = [...this.#signedByWallet()].filter((signature) => !names.has(signature))
    if (foreign.length > 0)
      this.#violate('signed bytes left that no row knows', trace, { ...state, foreign })
    const places = Map.groupBy(
      attempts.filter(({ nonce }) => nonce !== null),
      ({ nonce }) => String(nonce),
    )
    for (const [nonce, users] of places)
      if (new Set(users.map(({ payment_id }) => payment_id)).size > 1)
        this.#violate(`the nonce ${nonce} was used for two intents`, trace, state)
    for (const [key, id] of this.#promised)
      if (!payments.some((row) => row.id === id && row.idempotency_key === key))
        this.#violate('an acknowledged payment is not found', trace, state)
    return this.#report.violations.length === before
  }

  #signedByWallet(): Iterable<string> {
    return this.#node.namesOf(this.#sender)
  }

  #violate(rule: string, trace: string[], facts: unknown): void {
    this.#report.violations.push({ rule, trace: [...trace], facts })
  }

  async #rows(): Promise<Rows> {
    const at = `'${new Date(this.#time).toISOString()}'::timestamptz`
    const [payments, attempts] = await this.#database.queryBoth<Row, AttemptRow>(
      `select id, idempotency_key, status, nonce::text, signature, reported_signature, block_height::text,
         built_height::text, last_valid_block_height::text, failure,
         least(15, floor(extract(epoch from ${at} - created_at) / 40))::int as age
       from service.payment order by idempotency_key`,
      `select payment_id, number, attempt.signature, attempt.nonce::text,
         attempt.last_valid_block_height::text,
         least(1, floor(extract(epoch from ${at} - attempt.created_at) / 30))::int as created,
         least(1, floor(extract(epoch from ${at} - attempt.broadcast_at) / 2))::int as sent
       from service.attempt join service.payment on payment.id = payment_id
       order by idempotency_key, number`,
    )
    return { payments, attempts }
  }

  /** The state without what no decision depends on: ids become the keys of the requests. */
  #describe({ payments, attempts }: Rows): string {
    let text = JSON.stringify([payments, attempts, this.#node.describe()])
    for (const { payment_id, number, signature } of attempts) {
      const key = payments.find(({ id }) => id === payment_id)?.idempotency_key ?? ''
      text = text.replaceAll(signature, `${key}${number}`)
    }
    for (const { id, idempotency_key } of payments) text = text.replaceAll(id, idempotency_key)
    return text
  }

  async #fetch(input: string | URL | Request, init?: RequestInit): Promise<Response> {
    const request = new Request(input, init)
    const index = NODES.findIndex((url) => request.url.startsWith(url))
    if (index === -1) throw new TypeError(`The model asks nobody at ${request.url}.`)
    const view = this.#views[index] ?? 'right'
    if (view === 'down' || !this.#alive()) throw new TypeError('fetch failed')
    const asked = JSON.parse(await request.text()) as RpcQuestion | RpcQuestion[]
    if (!Array.isArray(asked)) return Response.json(await this.#answer(asked, view))
    return Response.json(await Promise.all(asked.map((each) => this.#answer(each, view))))
  }

  async #answer({ id, method, params = [] }: RpcQuestion, view: NodeView): Promise<object> {
    const fate = BROADCASTS.has(method) ? await this.#onBroadcast?.() : 'right'
    const reply = (body: object) => ({ jsonrpc: '2.0', id, ...body })
    if (fate === 'refused') return reply({ error: { code: -32_000, message: 'busy' } })
    if (fate === 'swallowed') return reply({ result: this.#node.nameOf(params) })
    try {
      const result = await this.#node.answer(method, params, view)
      if (fate === 'twice') await this.#node.answer(method, params, view).catch(() => {})
      if (fate === 'reset_after' || fate === 'dead_after') throw new TypeError('fetch failed')
      return reply({ result })
    } catch (error) {
      if (!(error instanceof ModelRpcError)) throw error
      return reply({ error: { code: error.code, message: error.message } })
    }
  }
}

type RpcQuestion = { id: unknown; method: string; params?: unknown[] }

const BROADCASTS = new Set(['eth_sendRawTransaction', 'sendTransaction'])
const DECIDED = new Set(['finalized', 'failed'])
const ENDED = new Set(['failed', 'expired'])

function isOperation(move: string): boolean {
  return move === 'poll' || move.startsWith('send ')
}

/** An error that no disturbance explains. */
function isDefect(error: unknown): boolean {
  return (
    error instanceof ReferenceError ||
    (error instanceof TypeError && error.message !== 'fetch failed') ||
    (error instanceof Error && /the method .* does not exist|The model/.test(String(error.cause)))
  )
}

/** Every disturbance of an operation that had these effects. */
function faultsOf(effects: readonly Effect[]): Fault[] {
  const views = (['stale', 'forgets', 'down'] as const).map((view): Fault => ({
    kind: 'view',
    view,
    both: view === 'down',
  }))
  return [
    ...views,
    ...effects.flatMap((effect, at): Fault[] =>
      effect === 'commit'
        ? (['dead_before', 'dead_after', 'lost_before', 'lost_after'] as const).map((fate) => ({
            kind: 'commit',
            at,
            fate,
          }))
        : (['refused', 'swallowed', 'reset_after', 'dead_after', 'twice'] as const).map((fate) => ({
            kind: 'broadcast',
            at,
            fate,
          })),
    ),
    ...effects.flatMap((_, at) =>
      ['poll', 'send a', 'send b'].map((operation): Fault => ({ kind: 'replica', at, operation })),
    ),
  ]
}

function toAttempt(row: AttemptRow, sender: string): SignedAttempt {
  const { signature, nonce, last_valid_block_height: height } = row
  return {
    signature,
    sender,
    nonce: nonce === null ? null : Number(nonce),
    lastValidBlockHeight: height === null ? null : Number(height),
  }
}

function describeMove(move: string, fault: Fault): string {
  switch (fault.kind) {
    case 'none':
      return move
    case 'view':
      return `${move} (RPC ${fault.view}${fault.both ? ', both' : ''})`
    case 'replica':
      return `${move} (replica: ${fault.operation} before effect ${fault.at})`
    default:
      return `${move} (${fault.kind} ${fault.at}: ${fault.fate})`
  }
}
