/** How many relayed requests one host and the whole proxy have under way: a relay must be no lever against either. */
export class ConcurrencyLimit {
  readonly #perHost: number
  readonly #total: number
  readonly #open = new Map<string, number>()
  #sum = 0

  constructor(limits: { perHost: number; total: number }) {
    this.#perHost = limits.perHost
    this.#total = limits.total
  }

  /** Runs `work` at once, or not at all: false when as many are under way as may be. */
  async pass<T>(
    host: string,
    work: () => Promise<T>,
  ): Promise<{ passed: true; value: T } | { passed: false }> {
    const here = this.#open.get(host) ?? 0
    if (here >= this.#perHost || this.#sum >= this.#total) return { passed: false }
    this.#open.set(host, here + 1)
    this.#sum++
    try {
      return { passed: true, value: await work() }
    } finally {
      this.#sum--
      const left = (this.#open.get(host) ?? 1) - 1
      if (left > 0) this.#open.set(host, left)
      else this.#open.delete(host)
    }
  }
}
