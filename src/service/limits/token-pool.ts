import {
  CHARGED_MS,
  SPEND_MS,
  type Lease,
  type LeaseTokens,
  type ReturnedTokens,
} from './lease-tokens.ts'

/** While another process may give tokens back, a limit without any is asked about again after this long. */
const LOOK_AGAIN_MS = 250

export type LimitVerdict = {
  allowed: boolean
  limit: number
  /** Requests that are left in the minute, without those that other processes hold tokens for. */
  remaining: number
  /** Unix seconds at which the whole limit is left again. */
  reset: number
  /** Seconds until one more request certainly passes; 0 when this one did. */
  retryAfter: number
}

/** What one process holds of one limit: tokens to spend, and what the database last said of the rest. Times are of a clock that never goes back. */
export class TokenPool {
  readonly name: string
  /** Requests a minute. */
  capacity: number
  readonly #lease: LeaseTokens
  readonly #now: () => number
  /** The oldest first. */
  #held: (ReturnedTokens & { until: number })[] = []
  #available = 0
  #emptyAt = 0
  /** Until then nothing is left to lease, and the database is not asked again. */
  #refusedUntil = 0
  #freeAt = 0
  /** Requests that wait for a lease that is not asked for yet. */
  #waiting = 0
  #asked = false
  #leasing: Promise<void> | undefined
  #leasedAt = -Infinity
  #granted = 0
  #spent = 0

  constructor(
    name: string,
    { capacity, lease, now }: { capacity: number; lease: LeaseTokens; now: () => number },
  ) {
    this.name = name
    this.capacity = capacity
    this.#lease = lease
    this.#now = now
  }

  get leasing(): Promise<void> | undefined {
    return this.#leasing
  }

  /** The plan was changed: what the database said was about the old one. */
  resize(capacity: number): void {
    if (this.capacity === capacity) return
    this.capacity = capacity
    this.#available = 0
    this.#refusedUntil = 0
  }

  tokens(at: number): number {
    let tokens = 0
    for (const held of this.#held) if (at < held.until) tokens += held.tokens
    return tokens
  }

  /** Requests that are left, as far as this process knows. */
  left(at: number): number {
    return this.#available + this.tokens(at)
  }

  /** Whether it is certain that a request would be refused. */
  refuses(at: number): boolean {
    return at < this.#refusedUntil && this.tokens(at) === 0
  }

  isIdle(at: number): boolean {
    return (
      !this.#leasing &&
      this.#held.length === 0 &&
      at - this.#leasedAt > 2 * SPEND_MS &&
      at >= this.#refusedUntil
    )
  }

  spend(at: number): void {
    const held = this.#held.find(({ until }) => at < until)
    if (!held) throw new Error(`The limit ${this.name} has no token to spend.`)
    held.tokens--
    this.#spent++
    if (held.tokens === 0) this.#held = this.#held.filter((other) => other !== held)
  }

  /** Takes out tokens to give back: those that can no longer be spent at this time. */
  takeUnspent(at: number): ReturnedTokens[] {
    const over = this.#held.filter(({ until }) => until <= at)
    if (over.length > 0) this.#held = this.#held.filter(({ until }) => until > at)
    return over.map(({ slot, tokens }) => ({ slot, tokens }))
  }

  /** Waits for a lease. A request that comes before the database is asked is counted in it. */
  nextLease(): Promise<void> {
    if (!this.#asked) this.#waiting++
    this.#leasing ??= Promise.resolve()
      .then(() => this.#leaseNow())
      .finally(() => {
        this.#leasing = undefined
        this.#asked = false
      })
    return this.#leasing
  }

  async #leaseNow(): Promise<void> {
    const startedAt = this.#now()
    const needed = this.#waiting
    this.#waiting = 0
    this.#asked = true
    const sinceLast = startedAt - this.#leasedAt
    // Fast requests used the last lease up before its time: twice as many. Otherwise as many as were spent of it.
    const expected =
      sinceLast < SPEND_MS ? 2 * this.#granted : sinceLast < 2 * SPEND_MS ? this.#spent : 0
    const extra = Math.min(this.capacity, Math.max(0, expected - needed))
    const back = this.takeUnspent(startedAt)
    const [lease] = await this.#lease([
      { pool: this.name, capacity: this.capacity, needed, extra, back },
    ])
    if (!lease) throw new Error('The lease of tokens returned no row.')
    // The time runs from before the question, so that it ends before the database counts it as ended.
    if (lease.granted > 0)
      this.#held.push({ slot: lease.slot, tokens: lease.granted, until: startedAt + SPEND_MS })
    this.#leasedAt = startedAt
    this.#granted = lease.granted
    this.#spent = 0
    this.learn(lease)
  }

  learn({ available, emptyAt, freeInMs, sinceLatestMs }: Lease): void {
    const at = this.#now()
    this.#available = available
    this.#emptyAt = emptyAt
    this.#freeAt = at + freeInMs
    const mayComeBack = sinceLatestMs <= SPEND_MS + LOOK_AGAIN_MS
    this.#refusedUntil =
      available > 0 ? 0 : at + (mayComeBack ? Math.min(LOOK_AGAIN_MS, freeInMs) : freeInMs)
  }

  verdict(at: number, allowed: boolean): LimitVerdict {
    return {
      allowed,
      limit: this.capacity,
      remaining: allowed ? this.left(at) : 0,
      reset: Math.ceil(this.#emptyAt / 1000),
      retryAfter: allowed
        ? 0
        : Math.max(1, Math.ceil(Math.min(CHARGED_MS, this.#freeAt - at) / 1000)),
    }
  }
}
