import { ProblemError } from '#contract/problem.ts'
import { ConcurrencyLimit } from './concurrency.ts'

/** The rate-limit headers of one answer of the service. */
export type RateHeaders = { limit: number; remaining: number }

/**
 * What is left of the API key's plan, as the service last told it, with what has come back since. That is an estimate: the service frees a request
 * about a minute after it passed, here the plan comes back evenly. Each answer corrects it, and a refusal (`block`) ends it.
 */
export class Quota {
  #limit: number
  #remaining: number
  #reportedAt = 0
  #inFlight = 0
  #blockedUntil = 0

  constructor(requestsPerMinute: number) {
    this.#limit = requestsPerMinute
    this.#remaining = requestsPerMinute
  }

  get limit(): number {
    return this.#limit
  }

  begin(): void {
    this.#inFlight++
  }

  end(reported: RateHeaders | undefined, now: number): void {
    this.#inFlight--
    if (!reported) return
    this.#limit = reported.limit
    this.#remaining = reported.remaining
    this.#reportedAt = now
  }

  /** The plan as the service names it, before a first answer told the figures. */
  expect(requestsPerMinute: number): void {
    if (this.#reportedAt > 0) return
    this.#limit = requestsPerMinute
    this.#remaining = requestsPerMinute
  }

  /** The service refused: asking again before then is one more refusal. */
  block(until: number): void {
    this.#blockedUntil = Math.max(this.#blockedUntil, until)
  }

  remaining(now: number): number {
    const refilled = this.#reportedAt === 0 ? 0 : ((now - this.#reportedAt) / 60_000) * this.#limit
    return Math.max(0, Math.min(this.#limit, this.#remaining + refilled) - this.#inFlight)
  }

  /** Milliseconds until `share` of the plan is left; 0 when it is. */
  waitFor(share: number, now: number): number {
    const blocked = Math.max(0, this.#blockedUntil - now)
    const missing = share * this.#limit - this.remaining(now)
    return Math.max(blocked, missing <= 0 ? 0 : (missing / this.#limit) * 60_000)
  }
}

const MINUTE_MS = 60_000
/** Above this many, those that are full again are forgotten. */
const SWEEP_ABOVE = 10_000

/** Token buckets by name, in memory (GCRA): a minute's worth at once, then evenly. */
class Buckets {
  readonly #arrivals = new Map<string, number>()

  /** Takes one; otherwise tells after how many milliseconds one will be there, and takes nothing. */
  take(name: string, perMinute: number, now: number): number {
    const interval = MINUTE_MS / perMinute
    const arrival = Math.max(this.#arrivals.get(name) ?? 0, now)
    const wait = arrival + interval - (now + MINUTE_MS)
    if (wait > 0) return wait
    this.#arrivals.set(name, arrival + interval)
    if (this.#arrivals.size > SWEEP_ABOVE) this.#sweep(now)
    return 0
  }

  /** Gives back what was taken for nothing. */
  giveBack(name: string, perMinute: number): void {
    const arrival = this.#arrivals.get(name)
    if (arrival !== undefined) this.#arrivals.set(name, arrival - MINUTE_MS / perMinute)
  }

  #sweep(now: number): void {
    for (const [name, arrival] of this.#arrivals) if (arrival <= now) this.#arrivals.delete(name)
  }
}

/**
 * What a request upstream is for. A person's action comes before the live tail (the state of one payment, a missed event),
 * and that before a page that fills its lists.
 */
export type BudgetClass = 'action' | 'tail' | 'sync'

/** Who asks: a person of the account, somebody who proved a wallet, or anybody. A wallet costs nothing. */
export type Standing = 'member' | 'wallet' | 'anonymous'

type Shares = Readonly<Record<BudgetClass, number>>

/** Shares of the plan's minute that one session and one address may use: together less than the plan, so no one visitor empties it. */
const SESSION_SHARE: Shares = { action: 0.15, tail: 0.2, sync: 0.2 }
const ADDRESS_SHARE: Shares = { action: 0.2, tail: 0.2, sync: 0.2 }
const MEMBER_ADDRESS_SHARE: Shares = { action: 0.25, tail: 0.3, sync: 0.3 }
/** What all visitors without a proven wallet may use together, of each class. */
const ANONYMOUS_SHARE: Shares = { action: 0.5, tail: 0.5, sync: 0.5 }
/** A class waits while less than this share of the plan is left: lists stop first, an action last. */
const RESERVE: Shares = { action: 0, tail: 0.2, sync: 0.4 }
/**
 * What a visitor leaves besides, from however many addresses: the merchant's own servers have the
 * same plan, and come before all visitors.
 */
const LEFT_TO_OTHERS: Readonly<Record<Standing, number>> = {
  member: 0,
  wallet: 0.1,
  anonymous: 0.2,
}
/** Sign-ins an address may try in a minute; they cost the plan nothing. */
const SIGN_INS_PER_MINUTE = 60
/** Readings and writings of notes an address may make in a minute; they cost the plan nothing. */
const NOTES_PER_MINUTE = 600
/** Requests about payment links and files that an address may make in a minute: a code has 70 random bits. */
const LINKS_PER_MINUTE = 120
/**
 * Orders an address may have built in a minute without a session that has proven the payer: the service looks for each on the chain for a day, and no payer or
 * payee that such an order names may be kept from paying because of it.
 */
const DRAFTS_PER_MINUTE = 60
/** Requests for a refund that an address may hand in, in a minute, and that may be handed in for one payment. */
const REFUND_REQUESTS_PER_MINUTE = 10
/** Requests an address may have relayed in a minute, and all addresses together. */
const RELAYS_PER_MINUTE = { address: 30, total: 300 }
/**
 * Calls that may wait long at the service for a chain, under way at once: half of the connections to
 * the service, so that all other requests have the other half. While half of these places are taken,
 * each address has one of the others: who takes all of them needs twenty addresses.
 */
const WAITING_AT_ONCE = { address: 4, merchant: 16 }
const WAITING_BESIDE = { address: 1, merchant: 16 }
const WAITING_RETRY_MS = 2_000

type Scope = 'merchant' | 'address' | 'session'
export type BudgetSpender = { sessionId: string | undefined; address: string; standing: Standing }

export class Budgets {
  readonly #buckets = new Buckets()
  readonly #waiting = new ConcurrencyLimit(WAITING_AT_ONCE)
  readonly #beside = new ConcurrencyLimit(WAITING_BESIDE)
  readonly quota: Quota
  readonly #now: () => Date

  constructor(quota: Quota, now: () => Date) {
    this.quota = quota
    this.#now = now
  }

  /** @throws ProblemError `RATE_LIMIT` with the seconds after which it will be allowed */
  spend({ sessionId, address, standing }: BudgetSpender, budget: BudgetClass): void {
    const now = this.#now().getTime()
    const wait = this.quota.waitFor(RESERVE[budget] + LEFT_TO_OTHERS[standing], now)
    if (wait > 0) throw tooMany(budget, 'merchant', wait)

    const member = standing === 'member'
    const limits: { name: string; share: number; scope: Scope }[] = [
      {
        name: `${member ? 'member ' : ''}address ${networkOf(address)}`,
        share: (member ? MEMBER_ADDRESS_SHARE : ADDRESS_SHARE)[budget],
        scope: 'address',
      },
    ]
    if (sessionId)
      limits.push({ name: `session ${sessionId}`, share: SESSION_SHARE[budget], scope: 'session' })
    if (standing === 'anonymous')
      limits.push({ name: 'anonymous', share: ANONYMOUS_SHARE[budget], scope: 'merchant' })
    const taken: { name: string; perMinute: number }[] = []
    for (const { name, share, scope } of limits) {
      const bucket = { name: `${budget} ${name}`, perMinute: this.#perMinute(share) }
      const bucketWait = this.#buckets.take(bucket.name, bucket.perMinute, now)
      if (bucketWait === 0) {
        taken.push(bucket)
        continue
      }
      for (const each of taken) this.#buckets.giveBack(each.name, each.perMinute)
      throw tooMany(budget, scope, bucketWait)
    }
  }

  /** @throws ProblemError `RATE_LIMIT` */
  spendSignIn(address: string): void {
    const wait = this.#buckets.take(
      `sign-in ${networkOf(address)}`,
      SIGN_INS_PER_MINUTE,
      this.#now().getTime(),
    )
    if (wait > 0) throw tooMany('sign-in', 'address', wait)
  }

  /** @throws ProblemError `RATE_LIMIT` */
  spendNote(address: string): void {
    const wait = this.#buckets.take(
      `note ${networkOf(address)}`,
      NOTES_PER_MINUTE,
      this.#now().getTime(),
    )
    if (wait > 0) throw tooMany('note', 'address', wait)
  }

  /** @throws ProblemError `RATE_LIMIT` */
  spendLink(address: string): void {
    const wait = this.#buckets.take(
      `link ${networkOf(address)}`,
      LINKS_PER_MINUTE,
      this.#now().getTime(),
    )
    if (wait > 0) throw tooMany('link', 'address', wait)
  }

  /** @throws ProblemError `RATE_LIMIT` */
  spendDraft(address: string): void {
    const wait = this.#buckets.take(
      `draft ${networkOf(address)}`,
      DRAFTS_PER_MINUTE,
      this.#now().getTime(),
    )
    if (wait > 0) throw tooMany('draft', 'address', wait)
  }

  /** @throws ProblemError `RATE_LIMIT` */
  spendRefundRequest(address: string, paymentId: string): void {
    const now = this.#now().getTime()
    for (const name of [networkOf(address), paymentId]) {
      const wait = this.#buckets.take(`refund request ${name}`, REFUND_REQUESTS_PER_MINUTE, now)
      if (wait > 0) throw tooMany('refund request', 'address', wait)
    }
  }

  /** @throws ProblemError `RATE_LIMIT` */
  spendRelay(address: string): void {
    const now = this.#now().getTime()
    const name = `relay ${networkOf(address)}`
    const wait = this.#buckets.take(name, RELAYS_PER_MINUTE.address, now)
    if (wait > 0) throw tooMany('relay', 'address', wait)
    const totalWait = this.#buckets.take('relay', RELAYS_PER_MINUTE.total, now)
    if (totalWait === 0) return
    this.#buckets.giveBack(name, RELAYS_PER_MINUTE.address)
    throw tooMany('relay', 'merchant', totalWait)
  }

  /**
   * Makes a call of an unknown caller that may wait long at the service.
   * @throws ProblemError `RATE_LIMIT` where too many of them are under way
   */
  async whileWaiting<T>(address: string, call: () => Promise<T>): Promise<T> {
    const names = { address: networkOf(address), merchant: '' }
    let passed = await this.#waiting.pass(names, call)
    if (passed.refused === 'merchant') passed = await this.#beside.pass(names, call)
    if (passed.refused !== null) throw tooMany('action', passed.refused, WAITING_RETRY_MS)
    return passed.value
  }

  #perMinute(share: number): number {
    return Math.max(1, Math.floor(share * this.quota.limit))
  }
}

/** What one line has: an IPv4 address, or the /56 of an IPv6 address, which has 256 of the /64 that `addressKey` tells apart. */
export function networkOf(address: string): string {
  return address.replace(/([0-9a-f]+)::\/64$/, (_, group: string) => {
    const wide = Number.parseInt(group, 16) & 0xff00
    return `${wide.toString(16)}::/56`
  })
}

function tooMany(
  budget: BudgetClass | 'sign-in' | 'note' | 'link' | 'draft' | 'refund request' | 'relay',
  scope: Scope,
  waitMs: number,
): ProblemError {
  return new ProblemError('RATE_LIMIT', {
    retryAfter: Math.ceil(waitMs / 1000),
    details: { budget, scope },
  })
}
