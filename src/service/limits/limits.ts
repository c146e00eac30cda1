import { ProblemError } from '#contract/problem.ts'
import type { LeaseTokens, ReturnedTokens } from './lease-tokens.ts'
import { TokenPool, type LimitVerdict } from './token-pool.ts'

/** So many requests a minute may pass under one name, over all processes. */
export type Limit = { pool: string; perMinute: number }

/** How many limits a process remembers. One more makes it forget the oldest; the database still counts that one. */
const MOST_POOLS = 10_000
/** How often unspent tokens whose time is over are given back, and idle limits forgotten. */
const SWEEP_MS = 1_000
/** A lease that takes longer than a token may wait leaves nothing to spend. */
const MOST_LEASES = 5

type Unspent = { pool: string; capacity: number; back: ReturnedTokens[] }

type Options = {
  lease: LeaseTokens
  /** Milliseconds of a clock that never goes back. */
  now?: () => number
  onWarning?: (error: unknown) => void
  mostPools?: number
}

/** The limits of one process: it leases tokens from the database, a few ahead where requests come fast, and spends them from memory. */
export class Limits {
  readonly #lease: LeaseTokens
  readonly #now: () => number
  readonly #onWarning: (error: unknown) => void
  readonly #mostPools: number
  /** The one asked about last is the last one. */
  readonly #pools = new Map<string, TokenPool>()
  /** Unspent tokens of limits that were forgotten. */
  #left: Unspent[] = []
  #timer: NodeJS.Timeout | undefined

  constructor({
    lease,
    now = () => performance.now(),
    onWarning = () => {},
    mostPools = MOST_POOLS,
  }: Options) {
    this.#lease = lease
    this.#now = now
    this.#onWarning = onWarning
    this.#mostPools = mostPools
  }

  /** How many limits are remembered. */
  get size(): number {
    return this.#pools.size
  }

  /**
   * Counts one request against all of these limits, or against none when one of them refuses. Tells of the one that leaves the fewest requests, or
   * of the one that refuses.
   * @throws `SERVICE_UNAVAILABLE` when the database leases tokens too slowly for them to be spent; what the database throws
   */
  async take(limits: readonly Limit[]): Promise<LimitVerdict> {
    for (let leases = 0; leases <= MOST_LEASES; leases++) {
      const at = this.#now()
      const pools = limits.map((limit) => this.#open(limit))
      const refusing = pools.find((pool) => pool.refuses(at))
      if (refusing) return refusing.verdict(at, false)
      const lacking = pools.filter((pool) => pool.tokens(at) === 0)
      if (lacking.length === 0) {
        // Nothing happens between this look and the spending, so the tokens are valid and nobody else's.
        for (const pool of pools) pool.spend(at)
        return pools
          .reduce((tightest, pool) => (pool.left(at) < tightest.left(at) ? pool : tightest))
          .verdict(at, true)
      }
      await Promise.all(lacking.map((pool) => pool.nextLease()))
    }
    throw new ProblemError('SERVICE_UNAVAILABLE', {
      message: 'The database answers too slowly. Nothing is decided.',
      retryAfter: 2,
    })
  }

  /** Gives back what can no longer be spent, and forgets limits that nobody asked about of late. */
  async sweep(): Promise<void> {
    const at = this.#now()
    const unspent = this.#takeUnspent(at)
    for (const pool of this.#pools.values()) if (pool.isIdle(at)) this.#pools.delete(pool.name)
    if (this.#pools.size === 0) {
      clearInterval(this.#timer)
      this.#timer = undefined
    }
    await this.#giveBack(unspent)
  }

  /** Gives back all that is leased and not spent. */
  async close(): Promise<void> {
    clearInterval(this.#timer)
    await Promise.allSettled([...this.#pools.values()].flatMap(({ leasing }) => leasing ?? []))
    const unspent = this.#takeUnspent(Infinity)
    this.#pools.clear()
    await this.#giveBack(unspent).catch(this.#onWarning)
  }

  #open({ pool: name, perMinute }: Limit): TokenPool {
    const known = this.#pools.get(name)
    if (!known && this.#pools.size >= this.#mostPools) this.#forgetOldest()
    const pool =
      known ?? new TokenPool(name, { capacity: perMinute, lease: this.#lease, now: this.#now })
    pool.resize(perMinute)
    if (known) this.#pools.delete(name)
    this.#pools.set(name, pool)
    this.#timer ??= setInterval(() => void this.sweep().catch(this.#onWarning), SWEEP_MS).unref()
    return pool
  }

  #forgetOldest(): void {
    for (const pool of this.#pools.values()) {
      if (pool.leasing) continue
      const back = pool.takeUnspent(Infinity)
      if (back.length > 0 && this.#left.length < this.#mostPools)
        this.#left.push({ pool: pool.name, capacity: pool.capacity, back })
      this.#pools.delete(pool.name)
      return
    }
  }

  #takeUnspent(at: number): Unspent[] {
    const unspent = this.#left
    this.#left = []
    for (const pool of this.#pools.values()) {
      const back = pool.leasing ? [] : pool.takeUnspent(at)
      if (back.length > 0) unspent.push({ pool: pool.name, capacity: pool.capacity, back })
    }
    return unspent
  }

  /** In one statement, and once: what is lost on the way is charged until its time is over. */
  async #giveBack(unspent: readonly Unspent[]): Promise<void> {
    if (unspent.length === 0) return
    const leases = await this.#lease(unspent.map((entry) => ({ ...entry, needed: 0, extra: 0 })))
    for (const [index, { pool: name }] of unspent.entries()) {
      const [pool, lease] = [this.#pools.get(name), leases[index]]
      // An answer to a lease that is on its way is newer.
      if (pool && !pool.leasing && lease && lease.available > 0) pool.learn(lease)
    }
  }
}
