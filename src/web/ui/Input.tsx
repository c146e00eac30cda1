import type { ComponentProps, ReactNode } from 'react'
import { cx } from './button-class.ts'
import { useFieldIds } from './Field.tsx'

export type InputProps = Omit<ComponentProps<'input'>, 'prefix'> & {
  /** Inside the box, before and after the text. */
  prefix?: ReactNode
  suffix?: ReactNode
  /** For addresses and hashes. */
  mono?: boolean
}

const box =
  'flex min-h-10 w-full items-center pointer-coarse:min-h-11 gap-2 rounded-lg border border-edge bg-surface px-3 field-text text-ink transition-colors has-focus-visible:border-accent has-focus-visible:outline-2 has-focus-visible:-outline-offset-1 has-focus-visible:outline-accent has-[[aria-invalid]]:border-bad-edge has-[input:disabled]:bg-sunken has-[input:read-only]:bg-sunken'

export function Input({ prefix, suffix, mono, className, ...rest }: InputProps) {
  return (
    <div className={cx(box, className)}>
      {prefix && <span className="flex shrink-0 text-faint">{prefix}</span>}
      <input
        {...useFieldIds()}
        autoComplete="off"
        className={cx(
          'min-w-0 flex-1 self-stretch bg-transparent py-2 outline-none placeholder:text-faint disabled:text-muted',
          mono && 'font-mono field-code',
        )}
        spellCheck={false}
        type="text"
        {...rest}
      />
      {suffix && <span className="flex shrink-0 items-center text-muted">{suffix}</span>}
    </div>
  )
}
