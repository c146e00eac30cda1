import type { ReactNode } from 'react'
import { cx } from './button-class.ts'

/**
 * A list of named values. It adapts to its own width, not the window's: the same list can fill a
 * page or sit beside one.
 */
export function Facts({ children, className }: { children: ReactNode; className?: string }) {
  return (
    <dl className={cx('figures @container divide-y divide-line text-sm', className)}>{children}</dl>
  )
}

/**
 * With enough room, values are in a separate column next to their names. Otherwise a value is at
 * the end of its name's line, and a `long` one is below it.
 */
export function Fact({
  name,
  children,
  long,
  className,
}: {
  name: ReactNode
  children: ReactNode
  long?: boolean
  className?: string
}) {
  return (
    <div
      className={cx(
        'flex gap-x-6 gap-y-1 py-2.5 first:pt-0 last:pb-0 @md:grid @md:grid-cols-[10rem_minmax(0,1fr)] @md:items-baseline',
        long ? 'flex-col' : 'items-baseline justify-between',
        className,
      )}
    >
      <dt className={cx('text-muted', !long && 'shrink-0')}>{name}</dt>
      <dd className={cx('min-w-0 [overflow-wrap:anywhere]', !long && 'text-end @md:text-start')}>
        {children}
      </dd>
    </div>
  )
}
