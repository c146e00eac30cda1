import * as v from 'valibot'
import { formatAmount, MAX_ATOMIC, parseAmount } from './amount.ts'
import { timestamp } from './fields.ts'

/**
 * Prices in fiat. A rate only fixes how many atomic units are asked for; whether a payment is valid
 * is decided by atomic units alone. No function here goes through a double.
 */

/** Decimals that prices and rates are computed with. */
export const RATE_DECIMALS = 18
/** How long the payer may take from opening a link to having the payment built. */
export const QUOTE_LASTS_MS = 15 * 60_000
/**
 * A quote ends early when the rate has fallen by more than this since, in percent of the quoted one: then the payer
 * refreshes the price. It bounds what a payer gains who opens a link often and uses the best quote.
 */
export const MOST_FALL_PERCENT = '2'
/** The most pieces that one payment of a link may buy. */
export const MOST_PIECES = 1000

export const decimalText = v.pipe(
  v.string(),
  v.maxLength(60),
  v.regex(/^(0|[1-9][0-9]*)(\.[0-9]{1,18})?$/, 'Expected a decimal number.'),
)

/** The value of one whole unit of an asset in a fiat currency, and where it comes from. */
export const Rate = v.object({
  /** Fiat for one whole unit of the asset, with at most 18 decimals. */
  rate: decimalText,
  /** Names the source, and what it was read from. */
  source: v.pipe(v.string(), v.maxLength(200)),
  /** The round of an oracle; null for a source without rounds. */
  round: v.nullable(v.pipe(v.string(), v.maxLength(100))),
  /** When the source says that it was true, Unix milliseconds. */
  observedAt: timestamp,
})
export type Rate = v.InferOutput<typeof Rate>

/** What a payment carries of its quote, in `metadata.quote`. Its age is `quotedAt - observedAt`. */
export const RateQuote = v.object({
  /** ISO 4217. */
  currency: v.pipe(v.string(), v.regex(/^[A-Z]{3}$/)),
  /** The whole price in fiat, all pieces together. */
  amount: decimalText,
  ...Rate.entries,
  quotedAt: timestamp,
  /** A payment that landed later counts at the quoted amount, and is marked late. */
  expiresAt: timestamp,
})
export type RateQuote = v.InferOutput<typeof RateQuote>

/** The quote of a payment; undefined where it has none, or one that is not written by this program. */
export function quoteOf(metadata: Record<string, unknown> | null): RateQuote | undefined {
  const read = v.safeParse(RateQuote, metadata?.['quote'])
  return read.success ? read.output : undefined
}

/**
 * Whether the block of a payment was made after its quote expired. When the service noticed it says
 * nothing about that; a payment without a known block time is not called late.
 */
export function isLate(quote: RateQuote, blockTime: number | undefined): boolean {
  return blockTime !== undefined && blockTime > quote.expiresAt
}

/** Whether a text is a decimal above 0 with at most 18 decimals. */
export function isPrice(text: string): boolean {
  return v.is(decimalText, text) && /[1-9]/.test(text)
}

/** @throws RangeError when the text is no decimal above 0 with at most 18 decimals */
function scaled(text: string): bigint {
  const read = parseAmount(text, RATE_DECIMALS)
  if (!read.ok) throw new RangeError(`Expected a decimal above 0, received ${text}.`)
  return read.atomic
}

/** A rounded amount is worth at most this much more of the currency, as a power of ten. */
const MOST_MORE_DECIMALS = 4
/** … and at most this share of the price more, as a power of ten. */
const MOST_MORE_SHARE_DECIMALS = 5

/**
 * The atomic units that a price in fiat asks for, rounded up to few digits, so that people can
 * read and compare it: in the merchant's favour, by less than 0.0001 of the currency and less than
 * a 100,000th of the price for all pieces together, or by less than one atomic unit.
 * @param price of one piece, a decimal
 * @param rate fiat for one whole unit of the asset, a decimal
 * @throws RangeError when a decimal cannot be read, or the amount fits no transfer
 */
export function amountAtRate(
  price: string,
  rate: string,
  { pieces, decimals }: { pieces: number; decimals: number },
): bigint {
  const unit = 10n ** BigInt(decimals)
  const [numerator, divisor] = [scaled(price) * BigInt(pieces) * unit, scaled(rate)]
  const exact = divideUp(numerator, divisor)
  const worthLittle = (10n ** BigInt(RATE_DECIMALS - MOST_MORE_DECIMALS) * unit) / divisor
  const smallShare = exact / 10n ** BigInt(MOST_MORE_SHARE_DECIMALS)
  const most = worthLittle < smallShare ? worthLittle : smallShare
  const step = most === 0n ? 1n : 10n ** BigInt(most.toString().length - 1)
  const atomic = divideUp(exact, step) * step
  if (atomic > MAX_ATOMIC) throw new RangeError('The amount fits no transfer.')
  return atomic
}

/**
 * What atomic units are worth at a rate, rounded up: no less than what is paid.
 * @param rate fiat for one whole unit of the asset, a decimal
 * @returns a decimal with at most `digits` decimals
 */
export function worthAtRate(
  atomic: bigint,
  rate: string,
  { decimals, digits }: { decimals: number; digits: number },
): string {
  const step = 10n ** BigInt(RATE_DECIMALS - digits)
  const worth = divideUp(atomic * scaled(rate), 10n ** BigInt(decimals))
  return formatAmount(divideUp(worth, step) * step, RATE_DECIMALS)
}

function divideUp(dividend: bigint, divisor: bigint): bigint {
  return (dividend + divisor - 1n) / divisor
}

/** The price of several pieces, exact. */
export function priceOf(price: string, pieces: number): string {
  return formatAmount(scaled(price) * BigInt(pieces), RATE_DECIMALS)
}

/**
 * `one / other`, rounded down at 18 decimals: a lower rate asks for more of the asset, so that the
 * merchant never gets less than the price.
 * @throws RangeError when nothing is left of it
 */
export function divideRates(one: string, other: string): string {
  const rate = (scaled(one) * 10n ** BigInt(RATE_DECIMALS)) / scaled(other)
  if (rate === 0n) throw new RangeError('The rate is too small.')
  return formatAmount(rate, RATE_DECIMALS)
}

/** Whether the rate has fallen so far since it was quoted that the quote ends. */
export function isOutrun(quoted: string, current: string): boolean {
  const before = scaled(quoted)
  return isMoreThan(before - scaled(current), before, MOST_FALL_PERCENT)
}

/** Whether two rates differ by more than a share, in percent of the smaller one. With 0 they must be equal. */
export function differByMore(one: string, other: string, percent: string): boolean {
  const [a, b] = [scaled(one), scaled(other)]
  return a < b ? isMoreThan(b - a, a, percent) : isMoreThan(a - b, b, percent)
}

function isMoreThan(part: bigint, whole: bigint, percent: string): boolean {
  const share = /[1-9]/.test(percent) ? scaled(percent) : 0n
  return part * 100n * 10n ** BigInt(RATE_DECIMALS) > whole * share
}
