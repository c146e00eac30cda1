import type { Logger } from 'pino'
import * as v from 'valibot'
import { createHash } from 'node:crypto'
import { formatAmount, parseAmount } from '#contract/amount.ts'
import { LosslessNumber, parseJson, stringifyJson } from '#contract/json.ts'
import type { Network } from '#contract/network.ts'
import { differByMore, divideRates, type Rate, RATE_DECIMALS } from '#contract/quote.ts'
import type { CurrentRates } from '#contract/rate-endpoints.ts'
import type { RateRule, RateSourceRule } from '../config/rate-rules.ts'
import type { Exchanger, ExchangeRequest } from '../upstream/exchange.ts'

/** Why a source gives no rate. For the log: it may name an address of the operator. */
export class RateError extends Error {
  override name = 'RateError'
}

type RateReader = {
  networks: readonly Network[]
  exchanger: Exchanger
  now: () => number
}

/** A source takes at most this long, with all its RPC endpoints; a payer waits for it. */
const TIMEOUT_MS = 3000
/** A clock ahead of ours by more than this is not believed: a rate of the future is never stale. */
const AHEAD_MS = 60_000

/**
 * Reads one source.
 * @throws RateError when it cannot be read, is stale, or says what no rate can be
 */
async function readSource(rule: RateSourceRule, reader: RateReader): Promise<Rate> {
  const rate = await READERS[rule.kind](rule, reader)
  const age = reader.now() - rate.observedAt
  if (age < -AHEAD_MS) throw new RateError(`${rate.source} has a time in the future.`)
  if (rule.maxAgeSeconds !== undefined && age > rule.maxAgeSeconds * 1000)
    throw new RateError(`${rate.source} is stale by ${Math.round(age / 1000)} s.`)
  return rate
}

type Readers = {
  [K in RateSourceRule['kind']]: (rule: RateSourceRule, reader: RateReader) => Promise<Rate>
}

/** Gives each reader the rule of its kind. */
function only<K extends RateSourceRule['kind']>(
  kind: K,
  read: (rule: Extract<RateSourceRule, { kind: K }>, reader: RateReader) => Promise<Rate>,
): (rule: RateSourceRule, reader: RateReader) => Promise<Rate> {
  return (rule, reader) => {
    if (rule.kind !== kind) throw new RateError('This rule is of another kind.')
    return read(rule as Extract<RateSourceRule, { kind: K }>, reader)
  }
}

const READERS: Readers = {
  fixed: only('fixed', (rule) =>
    Promise.resolve({
      rate: rule.rate,
      source: 'fixed',
      round: null,
      observedAt: Date.parse(rule.since),
    }),
  ),
  chainlink: only('chainlink', readChainlink),
  pyth: only('pyth', readPyth),
  http: only('http', readHttp),
}

/** `latestRoundData()` and `decimals()` of `AggregatorV3Interface`. */
const LATEST_ROUND_DATA = '0xfeaf968c'
const DECIMALS = '0x313ce567'

async function readChainlink(
  rule: Extract<RateSourceRule, { kind: 'chainlink' }>,
  reader: RateReader,
): Promise<Rate> {
  const call = async (data: string, words: number): Promise<bigint[]> => {
    const value = await callChain(reader, rule.network, {
      method: 'eth_call',
      params: [{ to: rule.address, data }, 'latest'],
    })
    if (typeof value !== 'string' || value.length !== 2 + 64 * words)
      throw new RateError(`${rule.address} does not answer like an aggregator.`)
    return Array.from({ length: words }, (_, at) =>
      BigInt(`0x${value.slice(2 + 64 * at, 66 + 64 * at)}`),
    )
  }
  const [[round = 0n, answer = 0n, , updatedAt = 0n], [decimals = 0n]] = await Promise.all([
    call(LATEST_ROUND_DATA, 5),
    call(DECIMALS, 1),
  ])
  // A round that has begun and has no answer yet has the time 0.
  if (updatedAt === 0n) throw new RateError(`${rule.address} has no complete round.`)
  if (updatedAt > 100_000_000_000n) throw new RateError(`${rule.address} has a time in the future.`)
  return {
    rate: decimalOf(BigInt.asIntN(256, answer), -Number(decimals)),
    source: `chainlink ${rule.network} ${rule.address}`,
    round: round.toString(),
    observedAt: Number(updatedAt) * 1000,
  }
}

/** Pyth's receiver program, which writes price accounts after it has verified them. */
const PYTH_RECEIVER = 'rec5EKMGg6MxZYaMdyBfgwp4d5rB9T1VQH5pJv5LtFJ'
const PRICE_UPDATE = createHash('sha256').update('account:PriceUpdateV2').digest().subarray(0, 8)
/** Borsh: discriminator, authority, then the level of verification. Only a full one is believed. */
const LEVEL_AT = 40
const FULLY_VERIFIED = 1
/** The publishers' own uncertainty may be at most this share of the price. */
const MOST_CONFIDENCE_PERCENT = 2n

const PythAccount = v.object({
  value: v.object({
    owner: v.literal(PYTH_RECEIVER),
    data: v.looseTuple([v.string(), v.literal('base64')]),
  }),
})

async function readPyth(
  rule: Extract<RateSourceRule, { kind: 'pyth' }>,
  reader: RateReader,
): Promise<Rate> {
  const answer = v.safeParse(
    PythAccount,
    await callChain(reader, rule.network, {
      method: 'getAccountInfo',
      params: [rule.account, { encoding: 'base64', commitment: 'confirmed' }],
    }),
  )
  if (!answer.success) throw new RateError(`${rule.account} is not a price account of Pyth.`)
  const bytes = Buffer.from(answer.output.value.data[0], 'base64')
  const at = LEVEL_AT + 1
  if (
    bytes.length < at + 92 ||
    !bytes.subarray(0, 8).equals(PRICE_UPDATE) ||
    bytes[LEVEL_AT] !== FULLY_VERIFIED
  )
    throw new RateError(`${rule.account} holds no fully verified price.`)
  if (bytes.subarray(at, at + 32).toString('hex') !== rule.feed)
    throw new RateError(`${rule.account} holds the price of another feed.`)
  const price = bytes.readBigInt64LE(at + 32)
  const confidence = bytes.readBigUInt64LE(at + 40)
  if (confidence * 100n > price * MOST_CONFIDENCE_PERCENT)
    throw new RateError(`${rule.account} has a price that its publishers do not agree on.`)
  return {
    rate: decimalOf(price, bytes.readInt32LE(at + 48)),
    source: `pyth ${rule.network} ${rule.account}`,
    // The slot in which it was posted.
    round: bytes.readBigUInt64LE(at + 84).toString(),
    observedAt: Number(bytes.readBigInt64LE(at + 52)) * 1000,
  }
}

async function readHttp(
  rule: Extract<RateSourceRule, { kind: 'http' }>,
  reader: RateReader,
): Promise<Rate> {
  const url = new URL(rule.url)
  const answer = await requestJson(reader, {
    method: 'GET',
    url,
    headers: { accept: 'application/json' },
    timeoutMs: TIMEOUT_MS,
  })
  const value = valueAt(answer, rule.path)
  const text = textOf(value)
  const read = parseAmount(text, RATE_DECIMALS)
  if (!read.ok) throw new RateError(`${url.host} has no rate with at most 18 decimals.`)
  return {
    rate: formatAmount(read.atomic, RATE_DECIMALS),
    source: `http ${url.host}`,
    round: null,
    observedAt: rule.timePath ? timeOf(valueAt(answer, rule.timePath), url) : reader.now(),
  }
}

/** The value at the end of a path; undefined where it breaks off. */
function valueAt(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (inner, name) =>
      typeof inner === 'object' && inner !== null && Object.hasOwn(inner, name)
        ? new Map(Object.entries(inner)).get(name)
        : undefined,
    value,
  )
}

function textOf(value: unknown): string {
  if (value instanceof LosslessNumber) return value.value
  return typeof value === 'string' || typeof value === 'number' ? String(value) : ''
}

function timeOf(value: unknown, url: URL): number {
  const text = textOf(value)
  if (!/^[0-9]{10,13}(\.[0-9]+)?$/.test(text)) throw new RateError(`${url.host} has no time.`)
  const whole = Number(text.split('.')[0])
  return whole > 100_000_000_000 ? whole : whole * 1000
}

/** A whole number shifted by a power of ten, as a decimal. */
function decimalOf(value: bigint, exponent: number): string {
  if (value <= 0n || exponent < -36 || exponent > 18)
    throw new RateError('Expected a rate above 0.')
  const scaled =
    exponent + RATE_DECIMALS >= 0
      ? value * 10n ** BigInt(exponent + RATE_DECIMALS)
      : value / 10n ** BigInt(-exponent - RATE_DECIMALS)
  if (scaled === 0n) throw new RateError('Expected a rate with at most 18 decimals.')
  return formatAmount(scaled, RATE_DECIMALS)
}

type RpcRequest = { method: string; params: readonly unknown[] }

/** The first endpoint of a network that answers. */
async function callChain(
  reader: RateReader,
  networkId: string,
  { method, params }: RpcRequest,
): Promise<unknown> {
  const urls = reader.networks.find((known) => known.network === networkId)?.rpcUrls ?? []
  const timeoutMs = TIMEOUT_MS / urls.length
  let last: unknown
  for (const text of urls) {
    try {
      const body = stringifyJson({ jsonrpc: '2.0', id: 1, method, params })
      const headers = { 'content-type': 'application/json' }
      const url = new URL(text)
      const request = { method: 'POST', url, headers, body, timeoutMs }
      const answer = await requestJson(reader, request)
      const result = valueAt(answer, ['result'])
      if (result !== undefined) return result
      last = new RateError(`The RPC endpoint refused ${method}.`)
    } catch (error) {
      last = error
    }
  }
  throw new RateError(`No RPC endpoint of ${networkId} answered.`, { cause: last })
}

async function requestJson({ exchanger }: RateReader, request: ExchangeRequest): Promise<unknown> {
  const answer = await exchanger.send(request)
  if (answer.status !== 200) throw new RateError(`${request.url.host} answered ${answer.status}.`)
  return parseJson(answer.text)
}

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
    const symbols = this.#symbols
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
      if (second) return cross(...(await Promise.all([this.#answer(first), this.#answer(second)])))
    }
    return { ok: false, reason: 'rate_unknown' }
  }

  /**
   * What one whole unit of each asset is worth in the first pair's currency, for people to read. An asset without a usable
   * rate is left out.
   */
  async readAll(): Promise<CurrentRates> {
    const currency = this.#rules[0]?.currency ?? null
    if (currency === null) return { currency, rates: {} }
    const read = await Promise.all(
      [...this.#symbols].map(async (symbol) => {
        try {
          const answer = await this.read(symbol, currency)
          return answer.ok ? [[symbol, answer.rate.rate] as const] : []
        } catch (err) {
          // The other assets keep theirs.
          this.#log.error({ err, pair: `${symbol}/${currency}` }, 'a rate cannot be computed')
          return []
        }
      }),
    )
    return { currency, rates: Object.fromEntries(read.flat()) }
  }

  /** Of the assets of all networks. */
  get #symbols(): Set<string> {
    return new Set(
      this.#reader.networks.flatMap(({ assets }) => assets.map(({ symbol }) => symbol)),
    )
  }

  #rule(asset: string, currency: string): RateRule | undefined {
    return this.#rules.find((rule) => rule.asset === asset && rule.currency === currency)
  }

  #answer(rule: RateRule): Promise<RateAnswer> {
    const known = this.#known.get(rule)
    const at = this.#reader.now()
    if (known && at >= known.at && at - known.at < FRESH_MS) return known.answer
    const answer = this.#fetchRate(rule)
    this.#known.set(rule, { at, answer })
    return answer
  }

  async #fetchRate(rule: RateRule): Promise<RateAnswer> {
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
