import { serverNow } from '../api/clock.ts'
import type { Journal, JournalEntry } from './journal.ts'
import { browserLocks, paymentLock, walletLock, type Locks } from './lock.ts'
import type { WalletPaymentIntent } from '../payment-intent/intent.ts'
import type { Ports } from './dependencies.ts'
import type { Clock } from '../payment-intent/ports.ts'
import { PaymentRun } from './run.ts'

/** The external ports of a run: who builds, who signs, and the chain. The rest is this tab's. */
export type RunDependencies = Omit<Ports, 'journal' | 'locks' | 'clock'>

const clock: Clock = {
  now: serverNow,
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, ms)
      signal.addEventListener('abort', () => {
        clearTimeout(timer)
        resolve()
      })
    }),
}

let shared: Locks | undefined

/** Created on first use: without Web Locks every page still works, only paying does not. */
function locks(): Locks {
  shared ??= browserLocks()
  return shared
}

/** What the payments of a page need of the other pages. */
type TabPorts = Pick<Ports, 'otherJournals' | 'breachOf'>

/**
 * The payments of one journal that this tab owns. They outlive the page: a person who opens another
 * page while the wallet is open or a block is pending returns to the same run, and no answer is
 * lost.
 */
export class TabRuns {
  readonly #journal: Journal
  readonly #more: TabPorts
  readonly #runs = new Map<string, PaymentRun>()
  readonly #opening = new Map<string, Promise<PaymentRun | 'held' | undefined>>()

  constructor(journal: Journal, more: TabPorts = {}) {
    this.#journal = journal
    this.#more = more
  }

  /** A new payment, not built yet. */
  begin(order: WalletPaymentIntent, dependencies: RunDependencies): PaymentRun {
    const run = new PaymentRun(this.#ports(dependencies), order)
    this.#runs.set(order.id, run)
    return run
  }

  /**
   * The payment of an id: this tab's, or the journal's, resumed; `held` when another tab has it.
   * `openDependencies` returns the ports for an entry, or nothing if it should not be resumed. Concurrent
   * calls open one run: otherwise the second would find the first one's lock and take it for
   * another tab's.
   */
  resume(
    id: string,
    openDependencies: (entry: JournalEntry) => Promise<RunDependencies | undefined>,
  ): Promise<PaymentRun | 'held' | undefined> {
    const known = this.#runs.get(id)
    if (known) return Promise.resolve(known)
    const opening =
      this.#opening.get(id) ??
      this.#resume(id, openDependencies).finally(() => this.#opening.delete(id))
    this.#opening.set(id, opening)
    return opening
  }

  async #resume(
    id: string,
    openDependencies: (entry: JournalEntry) => Promise<RunDependencies | undefined>,
  ): Promise<PaymentRun | 'held' | undefined> {
    const entry = await this.#journal.read(id)
    const dependencies = entry && (await openDependencies(entry))
    if (!dependencies) return undefined
    const run = new PaymentRun(this.#ports(dependencies), entry.state.order, entry)
    if (!(await run.resume())) return 'held'
    this.#runs.set(id, run)
    return run
  }

  #ports(dependencies: RunDependencies): Ports {
    return { ...dependencies, ...this.#more, journal: this.#journal, locks: locks(), clock }
  }
}

/**
 * Waits until no other tab holds a payment, for callers that got `held`; false when `signal` was
 * aborted before.
 */
export function untilLetGo(id: string, signal: AbortSignal): Promise<boolean> {
  return locks().untilFree(paymentLock(id), signal)
}

/** I7, for a request outside of a run: null while another tab has one open in this wallet. */
export async function requestFromWallet<T>(
  { family, walletName }: { family: string; walletName: string },
  request: () => Promise<T>,
): Promise<T | null> {
  const attempt = await locks().attempt(walletLock(family, walletName), request)
  return attempt.acquired ? attempt.value : null
}
