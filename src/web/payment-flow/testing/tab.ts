import { openJournal, type Journal } from '../journal.ts'
import { browserLocks, type Locks } from '../lock.ts'
import type { PaymentState } from '../machine.ts'
import { PaymentRun } from '../run.ts'
import type { TestDependencies } from './test-dependencies.ts'

/** A browser with tabs over one journal: real IndexedDB calls, real Web Locks, and a way to know when all is still. */
export class TabBrowser {
  readonly dependencies: TestDependencies
  readonly journal: Journal
  readonly #locks: Locks
  #busy = 0

  readonly #turn: () => Promise<void>

  /** `turn`: lets everything that is due run once. */
  constructor(dependencies: TestDependencies, turn: () => Promise<void>) {
    this.dependencies = dependencies
    this.#turn = turn
    // Tests of many files share one process, its databases and its locks; two browsers do not.
    const name = crypto.randomUUID()
    this.journal = this.#counted(openJournal(name))
    const locks = browserLocks()
    this.#locks = { ...locks, attempt: (lock, work) => locks.attempt(`${name}:${lock}`, work) }
  }

  begin(id?: string): PaymentRun {
    return new PaymentRun(this.#ports(), this.dependencies.order(id))
  }

  /** What a freshly loaded page does. */
  async resume(id = 'order-1'): Promise<PaymentRun | undefined> {
    const entry = await this.journal.read(id)
    if (!entry) return undefined
    const run = new PaymentRun(this.#ports(), entry.state.order, entry)
    const locked = await run.resume()
    await this.still()
    return locked ? run : undefined
  }

  /** A review with its simulation done. */
  async reviewed(id?: string): Promise<PaymentRun> {
    const run = this.begin(id)
    await run.build()
    await this.still()
    return run
  }

  /** Resolves when nothing can happen any more until the test does something. */
  async still(): Promise<void> {
    for (let quiet = 0; quiet < 4;) {
      await this.#turn()
      quiet = this.#busy === 0 ? quiet + 1 : 0
    }
  }

  /** Lets blocks pass in small steps, so that everything that waits for time gets its turn. */
  async pass(blocks: number): Promise<void> {
    for (let left = blocks; left > 0; left -= 5) {
      this.dependencies.pass(Math.min(5, left))
      await this.still()
    }
  }

  #ports() {
    const { service, wallet, chain, reader, clock } = this.dependencies
    const breachOf = () => Promise.resolve(this.dependencies.breach)
    const { journal } = this
    return { service, wallet, chain, reader, clock, breachOf, journal, locks: this.#locks }
  }

  #counted(journal: Journal): Journal {
    const counted = async <T>(work: Promise<T>): Promise<T> => {
      this.#busy++
      try {
        return await work
      } finally {
        this.#busy--
      }
    }
    return {
      read: (id) => counted(journal.read(id)),
      write: (entry) => counted(journal.write(entry)),
      listOpen: () => counted(journal.listOpen()),
      list: () => counted(journal.list()),
    }
  }
}

export function stepOf(run: PaymentRun): PaymentState['step'] {
  return run.state().step
}
