import type { ComponentProps } from 'react'
import { cx } from './button-class.ts'
import { useFieldIds } from './Field.tsx'
import { Icon } from './Icon.tsx'

/** The platform's own select: the best one on a phone, and readable by everything. */
export function Select({ className, children, ...rest }: ComponentProps<'select'>) {
  return (
    <div className={cx('relative', className)}>
      <select
        {...useFieldIds()}
        className="h-10 w-full pointer-coarse:h-11 appearance-none truncate rounded-lg border border-edge bg-surface ps-3 pe-9 field-text text-ink transition-colors hover:bg-hover disabled:bg-sunken disabled:text-muted"
        {...rest}
      >
        {children}
      </select>
      <Icon
        className="pointer-events-none absolute inset-y-0 end-3 my-auto text-muted"
        name="chevronDown"
      />
    </div>
  )
}
