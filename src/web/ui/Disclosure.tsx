import type { ReactNode } from 'react'
import { cx } from './button-class.ts'
import { Icon } from './Icon.tsx'

export type DisclosureProps = {
  label: ReactNode
  /** The name of the whole, for a screen reader. */
  'aria-label'?: string | undefined
  /** Open from the start; the reader closes it. */
  open?: boolean | undefined
  className?: string | undefined
  children: ReactNode
}

/** What most readers do not need, behind one line. */
export function Disclosure({ label, open, className, children, ...named }: DisclosureProps) {
  return (
    <details {...named} className={cx('group', className)} open={open}>
      <summary className="touch-target inline-flex cursor-pointer items-center gap-1.5 rounded-md text-sm font-medium text-muted hover:text-ink">
        <Icon
          className="transition-transform [[open]>summary>&]:rotate-90"
          name="chevronRight"
          size={14}
        />
        {label}
      </summary>
      {children}
    </details>
  )
}
