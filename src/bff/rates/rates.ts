import type { Logger } from 'pino'
import { differByMore, divideRates, type Rate } from '#contract/quote.ts'
import type { RateRule } from '../config/rate-rules.ts'
import { readSource, type RateReader } from './sources.ts'

/** A rate that was read answers for this long, so that visitors cost the sources nothing. */
const FRESH_MS = 15_000

export type RateRefusal = 'rate_unknown' | 'rate_stale' | 'rate_disputed'
export type RateAnswer = { ok: true; rate: Rate } | { ok: false; reason: RateRefusal }

type Known = { at: number; answer: Promise<RateAnswer> }

/**
 * The rates of the configured pairs. The first source that is not stale gives the rate; the others
 * bound it: when a fresh one differs by more than the rule allows, nothing is quoted.
 */
export class Rates {
  readonly #rules: readonly RateRule[]
  readonly #reader: RateReader
  readonly #log: Logger
  readonly #known = new Map<RateRule, Known>()

  constructor(rules: readonly RateRule[], { log, ...reader }: RateReader & { log: Logger }) {
    this.#rules = rules
    this.#reader = reader
    this.#log = log
  }

  /** The currencies that prices may be in, sorted. A pair such as EUR/USD adds the first one too. */
  get currencies(): string[] {
    const symbols = new Set(
      this.#reader.networks.flatMap(({ assets }) => assets.map(({ symbol }) => symbol)),
    )
    const named = this.#rules.flatMap(({ asset, currency }) =>
      /^[A-Z]{3}$/.test(asset) && !symbols.has(asset) ? [asset, currency] : [currency],
    )
    return [...new Set(named)].sort()
  }

  /**
   * The rate of an asset in a currency: its own pair, or over a currency that both have a pair
   * with (ETH/USD and EUR/USD give ETH/EUR).
   */
  async read(asset: string, currency: string): Promise<RateAnswer> {
    const own = this.#rule(asset, currency)
    if (own) return this.#answer(own)
    for (const first of this.#rules.filter((rule) => rule.asset === asset)) {
      const second = this.#rule(currency, first.currency)
      if (second) return cross(await this.#answer(first), await this.#answer(second))
    }
    return { ok: false, reason: 'rate_unknown' }
  }

  #rule(asset: string, currency: string): RateRule | undefined {
    return this.#rules.find((rule) => rule.asset === asset && rule.currency === currency)
  }

  #answer(rule: RateRule): Promise<RateAnswer> {
    const known = this.#known.get(rule)
    const at = this.#reader.now()
    if (known && at >= known.at && at - known.at < FRESH_MS) return known.answer
    const answer = this.#ask(rule)
    this.#known.set(rule, { at, answer })
    return answer
  }

  async #ask(rule: RateRule): Promise<RateAnswer> {
    const pair = `${rule.asset}/${rule.currency}`
    const read = await Promise.allSettled(
      rule.sources.map((source) => readSource(source, this.#reader)),
    )
    for (const result of read)
      if (result.status === 'rejected')
        this.#log.warn({ err: result.reason, pair }, 'a source gives no rate')
    const [rate, ...others] = read.flatMap((result) =>
      result.status === 'fulfilled' ? [result.value] : [],
    )
    if (!rate) return { ok: false, reason: 'rate_stale' }
    const differing = others.find((other) =>
      differByMore(rate.rate, other.rate, rule.maxDeviationPercent),
    )
    if (!differing) return { ok: true, rate }
    this.#log.error(
      { pair, rates: [rate, differing] },
      'the sources of a rate contradict each other',
    )
    return { ok: false, reason: 'rate_disputed' }
  }
}

function cross(one: RateAnswer, other: RateAnswer): RateAnswer {
  if (!one.ok) return one
  if (!other.ok) return other
  const rounds = [one.rate.round, other.rate.round].filter((round) => round !== null)
  return {
    ok: true,
    rate: {
      rate: divideRates(one.rate.rate, other.rate.rate),
      source: `${one.rate.source} / ${other.rate.source}`.slice(0, 200),
      round: rounds.length === 0 ? null : rounds.join(' / '),
      observedAt: Math.min(one.rate.observedAt, other.rate.observedAt),
    },
  }
}
