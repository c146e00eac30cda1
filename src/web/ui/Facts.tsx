import type { ReactNode } from 'react'
import { cx } from './cx.ts'

/** A list of named values. */
export function Facts({ children, className }: { children: ReactNode; className?: string }) {
  return <dl className={cx('divide-y divide-line text-sm', className)}>{children}</dl>
}

/** A value stands at the end of its name's line; `under` puts it below the name: always, or where the screen is narrow. */
export function Fact({ name, children, under }: { name: ReactNode; children: ReactNode; under?: 'always' | 'narrow' }) {
  return (
    <div
      className={cx(
        'py-2.5 first:pt-0 last:pb-0',
        under === 'always' ? 'space-y-1' : 'flex items-baseline justify-between gap-x-6 gap-y-1',
        under === 'narrow' && 'max-sm:flex-col',
      )}
    >
      <dt className="shrink-0 text-muted">{name}</dt>
      <dd className={cx('min-w-0 [overflow-wrap:anywhere]', under !== 'always' && 'text-end', under === 'narrow' && 'max-sm:text-start')}>{children}</dd>
    </div>
  )
}
