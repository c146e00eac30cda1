import * as v from 'valibot'
import { formatAmount } from './amount.ts'
import { decimalText } from './quote.ts'

/**
 * Invoices. Money is counted in whole numbers of the smallest unit of the invoice's currency; no
 * function here goes through a double.
 */

export const MOST_LINES = 50

/** A calendar day: `2026-11-25`. Whose days they are is said where one is made. */
export const day = v.pipe(
  v.string(),
  v.regex(/^2[0-9]{3}-[01][0-9]-[0-3][0-9]$/, 'Expected a day such as 2026-11-25.'),
  v.check(
    (text) => new Date(`${text}T00:00:00Z`).toJSON()?.startsWith(text) ?? false,
    'Expected a day of the calendar.',
  ),
)

const quantity = v.pipe(
  decimalText,
  v.regex(/^[0-9]{1,7}(\.[0-9]{1,3})?$/, 'Expected at most 7 digits and 3 decimals.'),
)
const unitPrice = v.pipe(
  decimalText,
  v.regex(/^[0-9]{1,12}(\.[0-9]+)?$/, 'Expected at most 12 digits before the point.'),
)
const taxPercent = v.pipe(
  decimalText,
  v.regex(/^([0-9]{1,2}(\.[0-9]{1,2})?|100)$/, 'Expected 0 to 100 with at most 2 decimals.'),
)

export const InvoiceLine = v.strictObject({
  name: v.pipe(v.string(), v.trim(), v.minLength(1, 'Expected some text.'), v.maxLength(200)),
  quantity,
  unitPrice,
  /** Percent of the line; null: no tax is named. */
  taxPercent: v.nullable(taxPercent),
})
export type InvoiceLine = v.InferOutput<typeof InvoiceLine>

/** The currency of an invoice, and the decimals that its amounts are rounded to. */
export const InvoiceCurrency = v.object({
  kind: v.picklist(['fiat', 'asset']),
  code: v.string(),
  decimals: v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(18)),
})
export type InvoiceCurrency = v.InferOutput<typeof InvoiceCurrency>

/** Who issues an invoice, as the tax authority knows them. An invoice keeps the one that it was issued with. */
export const InvoiceSeller = v.object({
  name: v.string(),
  address: v.nullable(v.string()),
  taxNumber: v.nullable(v.string()),
})
export type InvoiceSeller = v.InferOutput<typeof InvoiceSeller>

/** What a payer sees of an invoice: nothing about the customer. A payment link carries it unchanged. */
export const InvoiceFace = v.object({
  number: v.string(),
  issuedOn: v.string(),
  dueOn: v.string(),
  /** Null: none was set, or it was issued by an earlier version. */
  seller: v.optional(v.nullable(InvoiceSeller), null),
  currency: InvoiceCurrency,
  lines: v.array(InvoiceLine),
})
export type InvoiceFace = v.InferOutput<typeof InvoiceFace>

export type InvoiceTotals = {
  /** Of each line, without tax. */
  nets: string[]
  net: string
  tax: string
  /** By rate, in the order of the lines; each line's tax is rounded by itself. */
  taxes: { percent: string; tax: string }[]
  total: string
}

/** Exact sums. Each line, and the tax of each line, is rounded half up to the currency's decimals. */
export function invoiceTotals(
  lines: readonly InvoiceLine[],
  { decimals }: Pick<InvoiceCurrency, 'decimals'>,
): InvoiceTotals {
  const counted = lines.map((line) => {
    const exact = scale(line.quantity, 3) * scale(line.unitPrice, 18)
    const net = divideHalfUp(exact, 10n ** BigInt(21 - decimals))
    const percent = line.taxPercent === null ? null : formatAmount(scale(line.taxPercent, 2), 2)
    const tax = percent === null ? 0n : divideHalfUp(net * scale(percent, 2), 10_000n)
    return { net, percent, tax }
  })
  const rates = [...new Set(counted.flatMap(({ percent }) => percent ?? []))]
  const net = sum(counted.map((line) => line.net))
  const tax = sum(counted.map((line) => line.tax))
  return {
    nets: counted.map((line) => formatAmount(line.net, decimals)),
    net: formatAmount(net, decimals),
    tax: formatAmount(tax, decimals),
    taxes: rates.map((percent) => {
      const same = counted.filter((line) => line.percent === percent)
      return { percent, tax: formatAmount(sum(same.map((line) => line.tax)), decimals) }
    }),
    total: formatAmount(net + tax, decimals),
  }
}

/**
 * The currencies of ISO 4217 whose smallest unit is not a hundredth, by decimals. `Intl` is not asked: it tells how cash is
 * written, with no decimals for HUF and COP, and other versions of it tell something else.
 */
const OTHER_DECIMALS = [
  [0, 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF'],
  [3, 'BHD IQD JOD KWD LYD OMR TND'],
  [4, 'CLF UYW'],
] as const

/** Decimals that amounts in a fiat currency have: 2 for EUR, 0 for JPY. */
export function fiatDecimals(code: string): number {
  return OTHER_DECIMALS.find(([, codes]) => codes.split(' ').includes(code))?.[0] ?? 2
}

function sum(values: readonly bigint[]): bigint {
  return values.reduce((total, value) => total + value, 0n)
}

/** A decimal that is not below 0, as a whole number of its last decimal. */
function scale(text: string, decimals: number): bigint {
  const [whole = '', fraction = ''] = text.split('.')
  return BigInt(whole + fraction.padEnd(decimals, '0'))
}

function divideHalfUp(dividend: bigint, divisor: bigint): bigint {
  return (dividend * 2n + divisor) / (divisor * 2n)
}

/** The IANA name of a time zone that this program knows. */
export const TimeZone = v.pipe(
  v.string(),
  v.check(
    (text) => {
      try {
        return /^[A-Za-z]/.test(text) && v.is(day, dayIn(text, new Date()))
      } catch {
        return false
      }
    },
    (issue) => `${JSON.stringify(issue.input)} is no known time zone.`,
  ),
)

/** The day of a moment there, such as 2026-04-01. @throws RangeError for a time zone that is not known */
export function dayIn(timeZone: string, at: Date): string {
  // From its parts: how a date is written differs between versions of ICU.
  const parts = new Intl.DateTimeFormat('en', {
    timeZone,
    calendar: 'gregory',
    numberingSystem: 'latn',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
  }).formatToParts(at)
  const part = (type: 'year' | 'month' | 'day', digits: number) =>
    (parts.find((each) => each.type === type)?.value ?? '').padStart(digits, '0')
  return `${part('year', 4)}-${part('month', 2)}-${part('day', 2)}`
}

const DUE_IN_MS = 14 * 86_400_000

/**
 * When an invoice is due that is written at this moment, unless somebody says otherwise: 14 days later by the merchant's days. An old browser may not know the
 * zone's name; then by the days of UTC.
 */
export function dueDay(timeZone: string, at: Date): string {
  const today = dayIn(v.is(TimeZone, timeZone) ? timeZone : 'UTC', at)
  return new Date(Date.parse(`${today}T00:00:00Z`) + DUE_IN_MS).toISOString().slice(0, 10)
}
