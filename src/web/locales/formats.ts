import { getPreferences } from '../local-data/preferences.ts'
import { i18n } from './i18n.ts'
import { isLanguage, regionOf } from '../local-data/languages.ts'

/** How numbers are written for this reader: a BCP 47 tag for `Intl`. */
export function numberLocale(): string {
  const { numbers } = getPreferences()
  return numbers === 'auto' ? languageLocale() : numbers
}

/** The reader's language in their own regional variant: for words that `Intl` makes. */
export function languageLocale(): string {
  return isLanguage(i18n.locale) ? regionOf(i18n.locale, navigator.languages) : i18n.locale
}

/** A count or a measure, never money: `12,345`. */
export function formatNumber(value: number, options?: Intl.NumberFormatOptions): string {
  const locale = numberLocale()
  return memo(
    `number ${locale} ${JSON.stringify(options)}`,
    () => new Intl.NumberFormat(locale, options),
  ).format(value)
}

/**
 * A price with its currency, exact: `€12.50`. The text is a decimal, and never becomes a double.
 * @param currency ISO 4217, or the symbol of an asset
 */
export function formatPrice(amount: string, currency: string): string {
  const locale = numberLocale()
  const fiat = /^[A-Z]{3}$/.test(currency) && FIAT.has(currency)
  const options: Intl.NumberFormatOptions = {
    maximumFractionDigits: 18,
    ...(fiat && { style: 'currency' as const, currency }),
  }
  const format = memo(
    `price ${locale} ${fiat ? currency : ''}`,
    () => new Intl.NumberFormat(locale, options),
  )
  const written = isDecimal(amount) ? format.format(amount) : amount
  return fiat ? written : `${written} ${currency}`
}

const FIAT = new Set(Intl.supportedValuesOf('currency'))

function isDecimal(text: string): text is `${number}` {
  return /^[0-9]+(\.[0-9]+)?$/.test(text)
}

/** A day or a time as the reader chose to have them written; ui/format-time.ts knows the usual ways. `locale` is for tests. */
export function formatDate(
  at: number | Date,
  options: Intl.DateTimeFormatOptions,
  locale?: string,
): string {
  const { dates, hours } = getPreferences()
  const chosen = {
    ...options,
    ...(hours !== 'auto' && (options.hour || options.timeStyle) && { hourCycle: hours }),
  }
  // Sweden writes its dates as ISO 8601 does; month names go, as the standard has none.
  const iso = dates === 'iso' && !locale
  const tag = iso ? 'sv-SE' : (locale ?? languageLocale())
  const formatOptions =
    iso && chosen.month
      ? ({ ...chosen, year: 'numeric', month: '2-digit', day: '2-digit' } as const)
      : chosen
  return memo(
    `date ${tag} ${JSON.stringify(formatOptions)}`,
    () =>
      new Intl.DateTimeFormat(
        tag,
        iso && formatOptions.dateStyle ? { ...formatOptions, dateStyle: 'short' } : formatOptions,
      ),
  ).format(at)
}

/** `2 hr. ago`, `in 40 sec.`, `1 day ago`. A day is 24 hours here, and "yesterday" would be one of the calendar. */
export function formatDistance(
  value: number,
  unit: Intl.RelativeTimeFormatUnit,
  locale: string = languageLocale(),
): string {
  const numeric = unit === 'day' ? 'always' : 'auto'
  return memo(
    `distance ${locale} ${numeric}`,
    () => new Intl.RelativeTimeFormat(locale, { numeric, style: 'short' }),
  ).format(value, unit)
}

/** `GitHub, npm and x402`. */
export function formatList(
  items: readonly string[],
  type: Intl.ListFormatType = 'conjunction',
): string {
  const locale = languageLocale()
  return memo(`list ${locale} ${type}`, () => new Intl.ListFormat(locale, { type })).format(items)
}

const made = new Map<string, unknown>()

// Making a formatter costs a hundred times what using it does, and a long list asks for the same one in every row.
function memo<T>(key: string, make: () => T): T {
  const known = made.get(key)
  // The key names the kind: what was made under it is what is asked for.
  if (known) return known as T
  const formatter = make()
  made.set(key, formatter)
  return formatter
}
