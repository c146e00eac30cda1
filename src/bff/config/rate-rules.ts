import * as v from 'valibot'
import { parseAddress } from '#contract/address.ts'
import { familyOf, type Network } from '#contract/network.ts'

const decimalText = v.pipe(v.string(), v.regex(/^(0|[1-9][0-9]{0,29})(\.[0-9]{1,18})?$/))
const maxAgeSeconds = v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(31 * 86_400))

/** Where a rate is read. In this order of preference as configured: the first that is not stale. */
export const RateSourceRule = v.variant('kind', [
  /** An aggregator with the interface of Chainlink on an EVM network of `NETWORKS`. */
  v.strictObject({
    kind: v.literal('chainlink'),
    network: v.string(),
    address: v.string(),
    maxAgeSeconds,
  }),
  /** An account `PriceUpdateV2` of Pyth on a Solana network of `NETWORKS`. */
  v.strictObject({
    kind: v.literal('pyth'),
    network: v.string(),
    account: v.string(),
    /** The price feed, 64 hex digits: an account could hold another one. */
    feed: v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/, 'Expected 64 lower-case hex digits.')),
    maxAgeSeconds,
  }),
  /** A JSON document. Without `timePath` the time of the answer counts. */
  v.strictObject({
    kind: v.literal('http'),
    url: v.pipe(v.string(), v.regex(/^https?:\/\//), v.url()),
    /** Names and indexes that lead to the rate: a number, or a decimal in text. */
    path: v.pipe(v.array(v.string()), v.maxLength(10)),
    /** The same to a time in Unix seconds or milliseconds. */
    timePath: v.optional(v.pipe(v.array(v.string()), v.maxLength(10))),
    maxAgeSeconds,
  }),
  /** A rate that the operator sets by hand. */
  v.strictObject({
    kind: v.literal('fixed'),
    rate: decimalText,
    /** When it was set, ISO 8601 with a time zone. */
    since: v.pipe(v.string(), v.isoTimestamp()),
    maxAgeSeconds: v.optional(maxAgeSeconds),
  }),
])
export type RateSourceRule = v.InferOutput<typeof RateSourceRule>

/** The rate of one asset, or of another fiat currency, in a currency. */
export const RateRule = v.strictObject({
  asset: v.pipe(v.string(), v.minLength(1), v.maxLength(12)),
  currency: v.pipe(v.string(), v.regex(/^[A-Z]{3}$/, 'Expected three capital letters.')),
  sources: v.pipe(v.array(RateSourceRule), v.minLength(1), v.maxLength(5)),
  /** Fresh sources that differ by more refuse to quote. */
  maxDeviationPercent: v.optional(decimalText, '2'),
})
export type RateRule = v.InferOutput<typeof RateRule>

/** What is wrong with the rules, against the networks that they name. */
export function rateProblems(rules: readonly RateRule[], networks: readonly Network[]): string[] {
  return rules.flatMap((rule, index) => {
    const name = `${rule.asset}/${rule.currency}`
    const twice = rules.slice(0, index).some((other) => `${other.asset}/${other.currency}` === name)
    const problems = rule.sources.flatMap((source) => sourceProblem(source, networks) ?? [])
    return [...(twice ? ['this pair is listed twice.'] : []), ...problems].map(
      (problem) => `${name}: ${problem}`,
    )
  })
}

/** Who can change an answer on its way would set the price. */
function urlProblem({ protocol, hostname, host }: URL): string | undefined {
  return protocol === 'https:' || hostname === '127.0.0.1' || hostname === '[::1]'
    ? undefined
    : `${host} is asked over http. Expected https, or an address of this machine.`
}

function sourceProblem(source: RateSourceRule, networks: readonly Network[]): string | undefined {
  if (source.kind === 'fixed')
    return /[1-9]/.test(source.rate) ? undefined : 'expected a rate above 0.'
  if (source.kind === 'http') return urlProblem(new URL(source.url))
  const family = source.kind === 'chainlink' ? 'evm' : 'solana'
  const network = networks.find((known) => known.network === source.network)
  if (!network || familyOf(network.network) !== family)
    return `${source.network} is not a configured ${family === 'evm' ? 'EVM' : 'Solana'} network.`
  const written = source.kind === 'chainlink' ? source.address : source.account
  const read = parseAddress(written)
  return read.ok && read.family === family
    ? undefined
    : `${written} is not an address on ${network.name}.`
}
