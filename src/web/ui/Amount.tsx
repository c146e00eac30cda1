import { useLingui } from '@lingui/react/macro'
import { usePreferences } from '../local-data/preferences.ts'
import { cx } from './button-class.ts'
import { formatAmountText } from './format-amount.ts'

export type AmountProps = {
  /** Atomic units, as `bigint` or as text of digits. */
  atomic: bigint | string
  decimals: number
  symbol: string
  size?: 'sm' | 'md' | 'lg' | 'xl'
  /** Every digit: for a review, a receipt, a payment's own page. Shown even when amounts are hidden. */
  exact?: boolean
  className?: string
}

const sizes = {
  sm: 'text-sm',
  md: 'text-base',
  lg: 'text-2xl font-semibold tracking-tight',
  xl: 'text-3xl sm:text-4xl font-semibold tracking-tight',
}

/** An amount with all its digits, eighteen of them after the point, still fits one line of a phone. */
function largest(length: number): string {
  if (length > 16) return 'text-lg sm:text-4xl font-semibold tracking-tight'
  return length > 12 ? 'text-xl sm:text-4xl font-semibold tracking-tight' : sizes.xl
}

/** Money with its unit. The unit never leaves the figure's side. */
export function Amount({ atomic, decimals, symbol, size = 'sm', exact, className }: AmountProps) {
  const { t } = useLingui()
  const hidden = usePreferences().hideAmounts && !exact
  const amount = formatAmountText(BigInt(atomic), decimals, { exact })
  const unit =
    size === 'lg' || size === 'xl'
      ? 'text-[0.6em] font-medium text-muted'
      : 'ms-[0.08em] text-muted'
  return (
    <span
      className={cx(
        'figures',
        exact ? '[overflow-wrap:anywhere]' : 'whitespace-nowrap',
        size === 'xl' ? largest(amount.text.length) : sizes[size],
        className,
      )}
      title={hidden ? undefined : `${amount.exact} ${symbol}`}
    >
      {hidden ? (
        <>
          <span aria-hidden>••••</span>
          <span className="sr-only">{t`Amount hidden`}</span>
        </>
      ) : (
        amount.text
      )}
      {/* A space that is written: what is copied, or read aloud, is two words. */}
      {'\u00a0'}
      <span className={cx(unit, 'whitespace-nowrap')}>{symbol}</span>
    </span>
  )
}
