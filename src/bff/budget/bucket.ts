const MINUTE_MS = 60_000
/** Above this many, those that are full again are forgotten. */
const SWEEP_ABOVE = 10_000

/** Token buckets by name, in memory (GCRA): a minute's worth at once, then evenly. */
export class Buckets {
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
