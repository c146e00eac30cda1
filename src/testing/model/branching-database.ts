import { drizzle } from 'drizzle-orm/node-postgres'
import type { Client, QueryResult, QueryResultRow } from 'pg'
import type { Database } from '#postgres/open.ts'

/**
 * A real database of which every state can be left and returned to: all of it is one transaction that never ends, and what a service commits is a
 * savepoint. Every commit passes a gate, where a process may die or lose its connection.
 */

/** What becomes of a commit: it is made; the process dies or loses the database before it, or after it. */
export type CommitFate = 'made' | 'dead_before' | 'dead_after' | 'lost_before' | 'lost_after'
export type CommitGate = () => Promise<CommitFate>

/** A process that died executes nothing more. */
export class CrashError extends Error {}

/** As the driver says it when the server goes away. */
class ConnectionLostError extends Error {
  readonly code = '08006'
}

/** A statement as drizzle gives it to the driver. */
type Statement = { text: string; types?: unknown; rowMode?: unknown }
type ServiceProcess = {
  /** Read before each statement. */
  alive: () => boolean
  /** What another process does now, which ends before this one executes anything. */
  paused: () => Promise<void> | undefined
  /** Runs before each commit begins. */
  before: () => Promise<void>
  gate: CommitGate
}

type OpenTransaction = { mark: number; writes: boolean; committed: boolean }

const WRITES = /^\s*(insert|update|delete)/i
const READS = /^\s*select\b(?!.*\bfor update\b)/is

export class BranchingDatabase {
  readonly #client: Client
  #depth = 0
  /** Rewrites rows that a query returns: for planted defects. */
  rewrite: ((text: string, rows: unknown[]) => unknown[]) | undefined

  constructor(client: Client) {
    this.#client = client
  }

  /** Leaves the present state behind: what comes after it can be undone. */
  async mark(): Promise<number> {
    const mark = ++this.#depth
    await this.#client.query(`savepoint m${mark}`)
    return mark
  }

  async returnTo(mark: number): Promise<void> {
    await this.#client.query(`rollback to savepoint m${mark}; release savepoint m${mark}`)
    this.#depth = mark - 1
  }

  async commit(mark: number): Promise<void> {
    await this.#client.query(`release savepoint m${mark}`)
    this.#depth = mark - 1
  }

  /** Two statements without parameters, in one round trip. */
  async queryBoth<A extends QueryResultRow, B extends QueryResultRow>(
    first: string,
    second: string,
  ): Promise<[A[], B[]]> {
    // Its types say nothing of several statements, whose results are a list.
    const results: unknown = await this.#client.query(`${first}; ${second}`)
    const [one, two] = results as [QueryResult<A>, QueryResult<B>]
    return [one.rows, two.rows]
  }

  async run(statement: Statement, parameters?: unknown[]): Promise<QueryResult> {
    // Its types are drizzle's; the driver takes them as they are.
    const results = await this.#client.query(statement as { text: string }, parameters)
    if (this.rewrite) results.rows = this.rewrite(statement.text, results.rows) as QueryResultRow[]
    return results
  }

  /** The database as one process sees it. */
  open(process: ServiceProcess): Database {
    // drizzle uses no more of a pool than its two functions.
    const pool = new BranchingPool(this, process) as unknown as Client
    return drizzle(pool, { casing: 'snake_case' })
  }
}

/** The connections of one process. drizzle takes one from what has `Pool` in its name for each transaction. */
class BranchingPool {
  readonly #database: BranchingDatabase
  readonly #process: ServiceProcess
  #last: Promise<unknown> = Promise.resolve()

  constructor(database: BranchingDatabase, process: ServiceProcess) {
    this.#database = database
    this.#process = process
  }

  /** One statement, which commits by itself. */
  async query(statement: Statement, parameters?: unknown[]): Promise<QueryResult> {
    const release = await this.#turn()
    try {
      if (READS.test(statement.text)) return await this.#run(statement, parameters)
      const open = await this.#begin(WRITES.test(statement.text))
      try {
        const result = await this.#run(statement, parameters)
        await this.#commit(open)
        return result
      } catch (error) {
        await this.#undo(open)
        throw error
      }
    } finally {
      release()
    }
  }

  /** A connection for one transaction; the next one waits until it is released. */
  async connect() {
    const release = await this.#turn()
    let open: OpenTransaction | undefined
    const query = async (statement: Statement, parameters?: unknown[]) => {
      const { text } = statement
      if (text.startsWith('begin')) {
        // drizzle releases no connection on which a transaction did not begin.
        open = await this.#begin(true).catch((error: unknown) => {
          release()
          throw error
        })
        return NOTHING
      }
      if (text === 'commit') {
        if (!open) throw new Error('A transaction was committed that never began.')
        await this.#commit(open)
        return NOTHING
      }
      if (text === 'rollback') {
        if (open) await this.#undo(open)
        return NOTHING
      }
      return this.#run(statement, parameters)
    }
    return { query, release }
  }

  async #turn(): Promise<() => void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const before = this.#last
    this.#last = promise
    await before
    await this.#process.paused()
    return resolve
  }

  async #begin(writes: boolean): Promise<OpenTransaction> {
    this.#requireAlive()
    if (writes) await this.#process.before()
    return { mark: await this.#database.mark(), writes, committed: false }
  }

  async #commit(open: OpenTransaction): Promise<void> {
    const fate = open.writes ? await this.#process.gate() : 'made'
    if (fate === 'dead_before') throw new CrashError('The process died before a commit.')
    if (fate === 'lost_before') throw new ConnectionLostError('The connection is gone.')
    await this.#database.commit(open.mark)
    open.committed = true
    if (fate === 'dead_after') throw new CrashError('The process died after a commit.')
    if (fate === 'lost_after') throw new ConnectionLostError('The connection is gone.')
  }

  /** What was committed and then answered with an error stays. */
  async #undo({ mark, committed }: OpenTransaction): Promise<void> {
    if (!committed) await this.#database.returnTo(mark)
  }

  async #run(statement: Statement, parameters?: unknown[]): Promise<QueryResult> {
    this.#requireAlive()
    return this.#database.run(statement, parameters)
  }

  #requireAlive(): void {
    if (!this.#process.alive()) throw new CrashError('This process has died.')
  }
}

const NOTHING = { rows: [], rowCount: 0 }
