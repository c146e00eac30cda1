import type { ReactNode } from 'react'
import { cx } from './cx.ts'

/** A list of named values. */
export function Facts({ children, className }: { children: ReactNode; className?: string }) {
  return <dl className={cx('divide-y divide-line text-sm', className)}>{children}</dl>
}

/** `stack` puts a long value under its name. */
export function Fact({ name, children, stack }: { name: ReactNode; children: ReactNode; stack?: boolean }) {
  return (
    <div className={cx('py-2.5 first:pt-0 last:pb-0', stack ? 'space-y-1' : 'flex flex-wrap items-baseline justify-between gap-x-6 gap-y-1')}>
      <dt className="text-muted">{name}</dt>
      <dd className={cx('min-w-0 [overflow-wrap:anywhere]', !stack && 'text-end')}>{children}</dd>
    </div>
  )
}
