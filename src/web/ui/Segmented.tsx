import { useId } from 'react'
import { cx } from './button-class.ts'

export type SegmentedProps<T extends string> = {
  label: string
  options: readonly { value: T; label: string }[]
  value: T
  onChange: (value: T) => void
  className?: string
}

/** A few choices side by side; radios underneath, so arrows and screen readers work as ever. */
export function Segmented<T extends string>({
  label,
  options,
  value,
  onChange,
  className,
}: SegmentedProps<T>) {
  const name = useId()
  return (
    <fieldset
      className={cx(
        'inline-flex max-w-full flex-wrap rounded-lg border border-line bg-sunken p-0.5',
        className,
      )}
    >
      <legend className="sr-only">{label}</legend>
      {options.map((option) => (
        <label
          className="forced-chosen relative flex h-9 flex-1 cursor-pointer items-center justify-center rounded-md border border-transparent px-3 pointer-coarse:h-10 text-sm font-medium whitespace-nowrap text-muted transition-colors hover:text-ink has-checked:border-line has-checked:bg-raised has-checked:text-ink has-focus-visible:outline-2 has-focus-visible:outline-accent"
          key={option.value}
        >
          <input
            checked={option.value === value}
            className="sr-only"
            name={name}
            onChange={() => onChange(option.value)}
            type="radio"
            value={option.value}
          />
          {option.label}
        </label>
      ))}
    </fieldset>
  )
}
