import { formatAmount } from '#contract/amount.ts'
import { groupWhole, separators } from '../locales/decimal.ts'
import { numberLocale } from '../locales/formats.ts'

const MAX_SHORT_DECIMALS = 6
const MIN_DECIMALS = 2

export type AmountText = {
  /** What is shown. */
  text: string
  /** Every digit, plain, as it may be copied. */
  exact: string
  /** Digits were left out of `text`. */
  cut: boolean
}

/**
 * Spells atomic units for a reader: grouped, never scientific, at least two decimals. Short text is cut, never rounded up,
 * so that no figure claims more money than there is; a small amount keeps its first three digits. Exact text is the figure itself, without
 * zeros at its end: as the comparison beside it spells it, and as the wallet will.
 */
export function formatAmountText(
  atomic: bigint,
  decimals: number,
  options: { exact?: boolean; locale?: string } = {},
): AmountText {
  const exact = formatAmount(atomic, decimals)
  const [whole = '0', fraction = ''] = exact.split('.')
  const leadingZeros = /^0*/.exec(fraction)?.[0].length ?? 0
  const small = whole === '0' || whole === '-0'
  const keep = options.exact
    ? fraction.length
    : Math.max(MAX_SHORT_DECIMALS, small ? leadingZeros + 3 : 0)
  const shown = fraction
    .slice(0, keep)
    .replace(/0+$/, '')
    .padEnd(options.exact ? 0 : Math.min(MIN_DECIMALS, decimals), '0')

  const locale = options.locale ?? numberLocale()
  const { point } = separators(locale)
  const grouped = groupWhole(whole, locale)
  return {
    text: shown ? `${grouped}${point}${shown}` : grouped,
    exact,
    cut: fraction.length > keep,
  }
}
