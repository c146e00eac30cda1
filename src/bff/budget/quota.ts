/** The rate-limit headers of one answer of the service. */
export type RateHeaders = { limit: number; remaining: number }

/**
 * What is left of the API key's plan, as the service last told it, with what has come back since. That is an estimate: the service frees a request
 * about a minute after it passed, here the plan comes back evenly. Each answer corrects it, and a refusal (`block`) ends it.
 */
export class Quota {
  #limit: number
  #remaining: number
  #toldAt = 0
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

  end(told: RateHeaders | undefined, now: number): void {
    this.#inFlight--
    if (!told) return
    this.#limit = told.limit
    this.#remaining = told.remaining
    this.#toldAt = now
  }

  /** The plan as the service names it, before a first answer told the figures. */
  expect(requestsPerMinute: number): void {
    if (this.#toldAt > 0) return
    this.#limit = requestsPerMinute
    this.#remaining = requestsPerMinute
  }

  /** The service refused: asking again before then is one more refusal. */
  block(until: number): void {
    this.#blockedUntil = Math.max(this.#blockedUntil, until)
  }

  remaining(now: number): number {
    const refilled = this.#toldAt === 0 ? 0 : ((now - this.#toldAt) / 60_000) * this.#limit
    return Math.max(0, Math.min(this.#limit, this.#remaining + refilled) - this.#inFlight)
  }

  /** Milliseconds until `share` of the plan is left; 0 when it is. */
  waitFor(share: number, now: number): number {
    const blocked = Math.max(0, this.#blockedUntil - now)
    const missing = share * this.#limit - this.remaining(now)
    return Math.max(blocked, missing <= 0 ? 0 : (missing / this.#limit) * 60_000)
  }
}
