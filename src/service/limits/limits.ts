import { sql } from 'drizzle-orm'
import { ProblemError } from '#contract/problem.ts'
import type { Database } from '#postgres/open.ts'

/** The window of every limit. */
const WINDOW_MS = 60_000
/** A leased token can be spent so long after its process asked for it, and no longer. */
export const SPEND_MS = 2_000
/** Charges are kept together that were made within one slot. */
const SLOT_MS = 250
/** A charge counts in its own slot and in so many after it. */
const SLOTS = (WINDOW_MS + SPEND_MS) / SLOT_MS
/** The longest time after which a token that was leased can be leased again. */
export const CHARGED_MS = (SLOTS + 1) * SLOT_MS

/** Unspent tokens and the slot they were charged in. They come back at once. */
type ReturnedTokens = { slot: number; tokens: number }

export type LeaseRequest = {
  /** The name of the limit. */
  pool: string
  /** Requests a minute. */
  capacity: number
  /** Requests that wait for a token. */
  needed: number
  /** Tokens for requests to come; at most a quarter of what is left after `needed` is given for them. */
  extra: number
  back: readonly ReturnedTokens[]
}

type Lease = {
  granted: number
  slot: number
  /** Tokens that are left to lease. */
  available: number
  /** Milliseconds until a token is certainly left to lease; 0 when one is. */
  freeInMs: number
  /** Milliseconds since the latest lease of any process; tokens of a lease younger than `SPEND_MS` may come back. */
  sinceLatestMs: number
  /** Unix milliseconds, by the database's clock, at which the whole capacity is left again. */
  emptyAt: number
}

type LeaseTokens = (requests: readonly LeaseRequest[]) => Promise<Lease[]>

type Row = Record<'granted' | 'slot' | 'available' | 'nowMs' | 'freeAtMs' | 'emptyAtMs', string>

/**
 * Leases tokens out of limits, in one short statement that waits for no disk. Answers in the order of the requests.
 *
 * The invariant: in any 60 seconds at most `capacity` tokens of a limit are spent, by all processes together.
 * A token that is spent at the time x was leased at a time in (x − 2 s, x], because its process counts the 2 seconds from before it asked. So the
 * tokens spent within 60 seconds were leased within less than 62 seconds. The database leases at most `capacity` in that time: a charge counts
 * at least 62 seconds (at most 62.25: slots are whole). A process that dies takes its tokens with it until then; nobody spends them.
 * What it rests on: the database's clock is not set forward, and a crashed database server did not forget its last leases (`synchronous_commit`
 * is off here, so it may forget those of its last moments).
 *
 * @param atMs the time, for tests; the database's clock otherwise
 */
export async function leaseTokens(
  db: Database,
  requests: readonly LeaseRequest[],
  atMs?: number,
): Promise<Lease[]> {
  const list = requests.map(({ pool, capacity, needed, extra, back }, place) => ({
    place,
    pool,
    capacity,
    needed,
    extra,
    slots: back.map(({ slot }) => slot),
    tokens: back.map(({ tokens }) => tokens),
  }))
  // In the order of their names: two processes lock the same rows in the same order.
  const { rows } = await db.execute<Row>(sql`
    select leased.granted::text, leased.slot::text, leased.available::text,
      leased.now_ms::text as "nowMs", leased.free_at_ms::text as "freeAtMs", leased.empty_at_ms::text as "emptyAtMs"
    from (
      select * from json_to_recordset(${JSON.stringify(list)}::json)
        as listed(place int, pool text, capacity int, needed int, extra int, slots bigint[], tokens int[])
      order by pool
    ) as asked
    cross join lateral service.lease_tokens(
      asked.pool, asked.capacity, asked.needed, asked.extra, asked.slots, asked.tokens, ${SLOT_MS}::int, ${SLOTS}::int, ${atMs ?? null}::bigint
    ) as leased
    order by asked.place`)
  return rows.map((row) => {
    const [now, emptyAt] = [Number(row.nowMs), Number(row.emptyAtMs)]
    return {
      granted: Number(row.granted),
      slot: Number(row.slot),
      available: Number(row.available),
      freeInMs: Number(row.freeAtMs) - now,
      sinceLatestMs: now - (emptyAt - CHARGED_MS),
      emptyAt,
    }
  })
}

/** While another process may give tokens back, a limit without any is asked about again after this long. */
const LOOK_AGAIN_MS = 250

type LimitVerdict = {
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
class TokenPool {
  readonly name: string
  /** Requests a minute. */
  capacity: number
  readonly #lease: LeaseTokens
  readonly #now: () => number
  /** The oldest first. */
  #leased: (ReturnedTokens & { until: number })[] = []
  #available = 0
  #emptyAt = 0
  /** Until then nothing is left to lease, and the database is not asked again. */
  #refusedUntil = 0
  #freeAt = 0
  /** Requests that wait for a lease that is not asked for yet. */
  #waiting = 0
  #requested = false
  #leasing: Promise<void> | undefined
  #leasedAt = -Infinity
  #granted = 0
  #used = 0

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
    for (const lease of this.#leased) if (at < lease.until) tokens += lease.tokens
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
      this.#leased.length === 0 &&
      at - this.#leasedAt > 2 * SPEND_MS &&
      at >= this.#refusedUntil
    )
  }

  spend(at: number): void {
    const lease = this.#leased.find(({ until }) => at < until)
    if (!lease) throw new Error(`The limit ${this.name} has no token to spend.`)
    lease.tokens--
    this.#used++
    if (lease.tokens === 0) this.#leased = this.#leased.filter((other) => other !== lease)
  }

  /** Takes out tokens to give back: those that can no longer be spent at this time. */
  takeUnspent(at: number): ReturnedTokens[] {
    const over = this.#leased.filter(({ until }) => until <= at)
    if (over.length > 0) this.#leased = this.#leased.filter(({ until }) => until > at)
    return over.map(({ slot, tokens }) => ({ slot, tokens }))
  }

  /** Waits for a lease. A request that comes before the database is asked is counted in it. */
  nextLease(): Promise<void> {
    if (!this.#requested) this.#waiting++
    this.#leasing ??= Promise.resolve()
      .then(() => this.#leaseNow())
      .finally(() => {
        this.#leasing = undefined
        this.#requested = false
      })
    return this.#leasing
  }

  async #leaseNow(): Promise<void> {
    const startedAt = this.#now()
    const needed = this.#waiting
    this.#waiting = 0
    this.#requested = true
    const sinceLast = startedAt - this.#leasedAt
    // Fast requests used the last lease up before its time: twice as many. Otherwise as many as were spent of it.
    const expected =
      sinceLast < SPEND_MS ? 2 * this.#granted : sinceLast < 2 * SPEND_MS ? this.#used : 0
    const extra = Math.min(this.capacity, Math.max(0, expected - needed))
    const back = this.takeUnspent(startedAt)
    const [lease] = await this.#lease([
      { pool: this.name, capacity: this.capacity, needed, extra, back },
    ])
    if (!lease) throw new Error('The lease of tokens returned no row.')
    // The time runs from before the question, so that it ends before the database counts it as ended.
    if (lease.granted > 0)
      this.#leased.push({ slot: lease.slot, tokens: lease.granted, until: startedAt + SPEND_MS })
    this.#leasedAt = startedAt
    this.#granted = lease.granted
    this.#used = 0
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

/** Lets through so many a second, with a second's worth at once. For one connection of one process; what counts over processes is in the database. */
export function createMeter(perSecond: number): { take(): boolean } {
  let tokens = perSecond
  let last = performance.now()
  return {
    take() {
      const now = performance.now()
      tokens = Math.min(perSecond, tokens + ((now - last) / 1000) * perSecond)
      last = now
      if (tokens < 1) return false
      tokens -= 1
      return true
    },
  }
}
