import { ProblemError } from '#contract/problem.ts'
import { Buckets } from './bucket.ts'
import type { Quota } from './quota.ts'

/**
 * What a request upstream is for. A person's action comes before the live tail (the state of one payment, a missed event),
 * and that before a page that fills its lists.
 */
export type BudgetClass = 'action' | 'tail' | 'sync'

/** Shares of the plan's minute that one session and one address may use: together less than the plan, so no one visitor empties it. */
const SESSION_SHARE: Readonly<Record<BudgetClass, number>> = { action: 0.15, tail: 0.2, sync: 0.2 }
const ADDRESS_SHARE: Readonly<Record<BudgetClass, number>> = { action: 0.25, tail: 0.3, sync: 0.3 }
/** A class waits while less than this share of the plan is left: lists stop first, an action last. */
const RESERVE: Readonly<Record<BudgetClass, number>> = { action: 0, tail: 0.2, sync: 0.4 }
/** Sign-ins an address may try in a minute; they cost the plan nothing. */
const SIGN_INS_PER_MINUTE = 60
/** Readings and writings of notes an address may make in a minute; they cost the plan nothing. */
const NOTES_PER_MINUTE = 600
/** Requests an address may have relayed in a minute, and all addresses together. */
const RELAYS_PER_MINUTE = { address: 30, fixture: 300 }

type Spender = { sessionId: string | undefined; address: string }

export class Budgets {
  readonly #buckets = new Buckets()
  readonly quota: Quota
  readonly #now: () => Date

  constructor(quota: Quota, now: () => Date) {
    this.quota = quota
    this.#now = now
  }

  /** @throws ProblemError `RATE_LIMIT` with the seconds after which it will be allowed */
  spend(spender: Spender, budget: BudgetClass): void {
    const now = this.#now().getTime()
    const wait = this.quota.waitFor(RESERVE[budget], now)
    if (wait > 0) throw tooMany(budget, 'desk', wait)

    const address = {
      name: `${budget} address ${spender.address}`,
      perMinute: this.#perMinute(ADDRESS_SHARE[budget]),
    }
    const addressWait = this.#buckets.take(address.name, address.perMinute, now)
    if (addressWait > 0) throw tooMany(budget, 'address', addressWait)
    if (!spender.sessionId) return
    const sessionWait = this.#buckets.take(
      `${budget} session ${spender.sessionId}`,
      this.#perMinute(SESSION_SHARE[budget]),
      now,
    )
    if (sessionWait === 0) return
    this.#buckets.giveBack(address.name, address.perMinute)
    throw tooMany(budget, 'session', sessionWait)
  }

  /** @throws ProblemError `RATE_LIMIT` */
  spendSignIn(address: string): void {
    const wait = this.#buckets.take(
      `sign-in ${address}`,
      SIGN_INS_PER_MINUTE,
      this.#now().getTime(),
    )
    if (wait > 0) throw tooMany('sign-in', 'address', wait)
  }

  /** @throws ProblemError `RATE_LIMIT` */
  spendNote(address: string): void {
    const wait = this.#buckets.take(`note ${address}`, NOTES_PER_MINUTE, this.#now().getTime())
    if (wait > 0) throw tooMany('note', 'address', wait)
  }

  /** @throws ProblemError `RATE_LIMIT` */
  spendRelay(address: string): void {
    const now = this.#now().getTime()
    const wait = this.#buckets.take(`relay ${address}`, RELAYS_PER_MINUTE.address, now)
    if (wait > 0) throw tooMany('relay', 'address', wait)
    const deskWait = this.#buckets.take('relay', RELAYS_PER_MINUTE.fixture, now)
    if (deskWait === 0) return
    this.#buckets.giveBack(`relay ${address}`, RELAYS_PER_MINUTE.address)
    throw tooMany('relay', 'desk', deskWait)
  }

  #perMinute(share: number): number {
    return Math.max(1, Math.floor(share * this.quota.limit))
  }
}

function tooMany(
  budget: BudgetClass | 'sign-in' | 'note' | 'relay',
  scope: 'desk' | 'address' | 'session',
  waitMs: number,
): ProblemError {
  return new ProblemError('RATE_LIMIT', {
    retryAfter: Math.ceil(waitMs / 1000),
    details: { budget, scope },
  })
}
