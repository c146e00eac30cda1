import { appendFileSync } from 'node:fs'
import { env } from 'node:process'
import { PGlite } from '@electric-sql/pglite'
import pg from 'pg'

/**
 * Every fifth transaction of a program is rolled back as a database does it that orders transactions
 * optimistically, with 40001: in turn at its COMMIT and at its third statement. Every fifth single
 * statement is refused in the same way. The programs know nothing of it.
 *
 * Loaded by `NODE_OPTIONS=--import=…` it does so in a whole process where `ABORT_LOG` names a file,
 * which gets a byte for each. A test calls `abortTransactions` itself.
 */

/** The variable with the file that counts, over all processes of a run. */
export const ABORT_LOG = 'PAYDESK_ABORT_LOG'

/** What a program needs whose transactions are aborted like those of this process. */
export function abortVariables(): Record<string, string> {
  const { [ABORT_LOG]: file, NODE_OPTIONS = '' } = env
  return file === undefined ? {} : { [ABORT_LOG]: file, NODE_OPTIONS }
}

const EVERY = 5
const LATER_STATEMENT = 3
/** The pools of the programs; a migration and what a test asks by itself are left alone. */
const OURS = /^paydesk-(service|bff)$/

type Doomed = { statements: number; abortAt: number; aborted: boolean }
type Restorable = Disposable & { counts: () => { transactions: number; statements: number } }

/** Of the process: the test runner has a second copy of this file, beside the one of NODE_OPTIONS. */
const inProcess: typeof globalThis & { abortedTransactions?: Restorable | undefined } = globalThis

export function abortTransactions(note: () => void = () => {}): Restorable {
  // Twice as many would make every third attempt fail.
  if (inProcess.abortedTransactions)
    return { ...inProcess.abortedTransactions, [Symbol.dispose]() {} }
  const counts = { transactions: 0, statements: 0 }
  const seen = { transactions: 0, statements: 0 }
  const doomed = new WeakMap<object, Doomed>()
  const migrated = new WeakSet<object>()
  const statement = pg.Client.prototype.query
  const single = pg.Pool.prototype.query
  const embedded = PGlite.prototype.transaction

  function abort(kind: keyof typeof counts): Promise<never> {
    counts[kind]++
    note()
    return Promise.reject(serializationFailure())
  }

  function doom(): Doomed | undefined {
    if (++seen.transactions % EVERY !== 0) return undefined
    const abortAt = counts.transactions % 2 === 0 ? Infinity : LATER_STATEMENT
    return { statements: 0, abortAt, aborted: false }
  }

  async function ask(client: object, args: unknown[]): Promise<unknown> {
    const text = textOf(args[0])
    if (text.startsWith('begin')) {
      const next = doom()
      if (next) doomed.set(client, next)
    } else if (text === 'rollback') doomed.delete(client)
    const state = doomed.get(client)
    // The server refuses all that follows a failed statement, up to the rollback.
    if (state?.aborted) throw serializationFailure()
    if (state && text === 'commit') {
      doomed.delete(client)
      await Reflect.apply(statement, client, ['rollback'])
      return abort('transactions')
    }
    if (state && state.statements++ >= state.abortAt) {
      state.aborted = true
      return abort('transactions')
    }
    return Reflect.apply(statement, client, args)
  }

  Object.assign(pg.Client.prototype, {
    query(this: pg.Client, ...args: unknown[]): unknown {
      // What has a callback is a single statement of a pool.
      return OURS.test(nameOf(this)) && args.every((each) => typeof each !== 'function')
        ? ask(this, args)
        : Reflect.apply(statement, this, args)
    },
  })
  Object.assign(pg.Pool.prototype, {
    query(this: pg.Pool, ...args: unknown[]): unknown {
      const ours = OURS.test(this.options.application_name ?? '')
      return ours && ++seen.statements % EVERY === 0
        ? abort('statements')
        : Reflect.apply(single, this, args)
    },
  })
  Object.assign(PGlite.prototype, {
    transaction(this: PGlite, work: Parameters<typeof embedded>[0]): unknown {
      const first = !migrated.has(this)
      migrated.add(this)
      const state = first ? undefined : doom()
      return Reflect.apply(embedded, this, [
        async (tx: Parameters<typeof work>[0]) => {
          const result = await work(tx)
          if (!state) return result
          await tx.rollback()
          return abort('transactions')
        },
      ])
    },
  })
  const begun: Restorable = {
    counts: () => ({ ...counts }),
    [Symbol.dispose]() {
      inProcess.abortedTransactions = undefined
      Object.assign(pg.Client.prototype, { query: statement })
      Object.assign(pg.Pool.prototype, { query: single })
      Object.assign(PGlite.prototype, { transaction: embedded })
    },
  }
  inProcess.abortedTransactions = begun
  return begun
}

function serializationFailure(): Error {
  return Object.assign(new Error('could not serialize access (a test aborts this transaction)'), {
    code: '40001',
  })
}

function textOf(query: unknown): string {
  const text = typeof query === 'object' && query !== null && 'text' in query ? query.text : query
  return String(text).trim().toLowerCase()
}

function nameOf(client: pg.Client): string {
  const parameters: unknown = Reflect.get(client, 'connectionParameters')
  return typeof parameters === 'object' && parameters !== null && 'application_name' in parameters
    ? String(parameters.application_name)
    : ''
}

const log = env[ABORT_LOG]
if (log !== undefined) abortTransactions(() => appendFileSync(log, '.'))
