import type { ReactNode } from 'react'
import { cx } from './cx.ts'

/** A list of named values. */
export function Facts({ children, className }: { children: ReactNode; className?: string }) {
  return <dl className={cx('divide-y divide-line text-sm', className)}>{children}</dl>
}

/** A value stands at the end of its name's line; `stack` puts it under the name: always, or where the screen is narrow. */
export function Fact({ name, children, stack }: { name: ReactNode; children: ReactNode; stack?: boolean | 'narrow' }) {
  return (
    <div
      className={cx(
        'py-2.5 first:pt-0 last:pb-0',
        stack === true ? 'space-y-1' : 'flex items-baseline justify-between gap-x-6 gap-y-1',
        stack === 'narrow' && 'max-sm:flex-col',
      )}
    >
      <dt className="shrink-0 text-muted">{name}</dt>
      <dd className={cx('min-w-0 [overflow-wrap:anywhere]', stack !== true && 'text-end', stack === 'narrow' && 'max-sm:text-start')}>{children}</dd>
    </div>
  )
}
