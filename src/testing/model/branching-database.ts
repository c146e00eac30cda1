import type { PGlite, QueryOptions, Results } from '@electric-sql/pglite'
import { drizzle } from 'drizzle-orm/pglite'
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

type Client = Pick<PGlite, 'query' | 'transaction'>
type Statement = {
  text: string
  parameters: unknown[] | undefined
  options: QueryOptions | undefined
}

const WRITES = /^\s*(insert|update|delete)/i

export class BranchingDatabase {
  readonly #client: PGlite
  #depth = 0
  /** Rewrites rows that a query returns: for planted defects. */
  rewrite: ((text: string, rows: unknown[]) => unknown[]) | undefined

  constructor(client: PGlite) {
    this.#client = client
  }

  /** Leaves the present state behind: what comes after it can be undone. */
  async mark(): Promise<number> {
    const mark = ++this.#depth
    await this.#client.exec(`savepoint m${mark}`)
    return mark
  }

  async returnTo(mark: number): Promise<void> {
    await this.#client.exec(`rollback to savepoint m${mark}; release savepoint m${mark}`)
    this.#depth = mark - 1
  }

  async query<T>(text: string, parameters?: unknown[]): Promise<T[]> {
    return (await this.#client.query<T>(text, parameters)).rows
  }

  /** The database as one process sees it; `alive` is read before each statement, and `before` runs before each commit begins. */
  open(process: { alive: () => boolean; before: () => Promise<void>; gate: CommitGate }): Database {
    let last: Promise<unknown> = Promise.resolve()
    const oneByOne = <T>(work: () => Promise<T>): Promise<T> => {
      const turn = last.then(work, work)
      last = turn.catch(() => {})
      return turn
    }
    const run = async <T>({ text, parameters, options }: Statement): Promise<Results<T>> => {
      if (!process.alive()) throw new CrashError('This process has died.')
      const results = await this.#client.query<T>(text, parameters, options)
      return this.rewrite ? { ...results, rows: this.rewrite(text, results.rows) as T[] } : results
    }
    const commit = <T>(work: () => Promise<T>, writes: boolean): Promise<T> =>
      oneByOne(async () => {
        if (!process.alive()) throw new CrashError('This process has died.')
        if (writes) await process.before()
        const mark = await this.mark()
        try {
          const result = await work()
          const fate = writes ? await process.gate() : 'made'
          if (fate === 'dead_before') throw new CrashError('The process died before a commit.')
          if (fate === 'lost_before') throw new ConnectionLostError('The connection is gone.')
          await this.#client.exec(`release savepoint m${mark}`)
          this.#depth = mark - 1
          if (fate === 'dead_after') throw new Committed(new CrashError('It died after a commit.'))
          if (fate === 'lost_after') throw new Committed(new ConnectionLostError('It is gone.'))
          return result
        } catch (error) {
          if (error instanceof Committed) throw error.cause
          await this.returnTo(mark)
          throw error
        }
      })
    const query = <T>(text: string, parameters?: unknown[], options?: QueryOptions) =>
      commit(() => run<T>({ text, parameters, options }), WRITES.test(text))
    const inner = {
      query: <T>(text: string, parameters?: unknown[], options?: QueryOptions) =>
        run<T>({ text, parameters, options }),
    }
    const transaction = <T>(work: (tx: typeof inner) => Promise<T>) => {
      return commit(() => work(inner), true)
    }
    return asDatabase({ query, transaction } as unknown as Client)
  }
}

class Committed extends Error {
  constructor(cause: Error) {
    super('committed', { cause })
  }
}

/** drizzle uses no more of the client than these two functions. */
function asDatabase(client: Client): Database {
  return drizzle(client as PGlite, { casing: 'snake_case' })
}
