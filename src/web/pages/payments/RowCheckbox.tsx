import { useLingui } from '@lingui/react/macro'
import type { PaymentRow } from '#contract/payment-body.ts'
import { formatAmountText } from '../../ui/format-amount.ts'
import { Icon } from '../../ui/Icon.tsx'
import { directionWords } from '../../payment-view/direction-words.ts'

export type RowCheckboxProps = {
  row: PaymentRow
  checked: boolean
  onToggle: (extend: boolean) => void
}

/** Picks one payment; with Shift, all from the one picked before. Its name says which, since a reader hears it without the row. */
export function RowCheckbox({ row, checked, onToggle }: RowCheckboxProps) {
  const { t } = useLingui()
  const amount = `${formatAmountText(BigInt(row.amountAtomic), row.decimals).text} ${row.symbol}`
  const direction = directionWords(row)
  return (
    <span className="relative z-1 inline-flex">
      <input
        aria-label={t`Select ${amount}, ${direction}`}
        checked={checked}
        className="touch-target size-5 cursor-pointer appearance-none rounded-sm border border-edge bg-surface transition-colors checked:border-accent checked:bg-accent"
        onChange={(event) =>
          onToggle(event.nativeEvent instanceof MouseEvent && event.nativeEvent.shiftKey)
        }
        type="checkbox"
      />
      {checked && (
        <Icon className="pointer-events-none absolute inset-0 m-auto text-on-accent" name="check" />
      )}
    </span>
  )
}
