import type { ReactNode } from 'react'
import { cx } from './cx.ts'

/** A list of named values. It looks at its own width, not at the window's: the same list stands in a page and beside one. */
export function Facts({ children, className }: { children: ReactNode; className?: string }) {
  return (
    <dl className={cx('figures @container divide-y divide-line text-sm', className)}>{children}</dl>
  )
}

/**
 * Where there is room, values stand next to their names, in a column of their own. Where there is not, a value stands at the end of its name's
 * line, and a `long` one below it.
 */
export function Fact({
  name,
  children,
  long,
}: {
  name: ReactNode
  children: ReactNode
  long?: boolean
}) {
  return (
    <div
      className={cx(
        'flex gap-x-6 gap-y-1 py-2.5 first:pt-0 last:pb-0 @md:grid @md:grid-cols-[10rem_minmax(0,1fr)] @md:items-baseline',
        long ? 'flex-col' : 'items-baseline justify-between',
      )}
    >
      <dt className={cx('text-muted', !long && 'shrink-0')}>{name}</dt>
      <dd className={cx('min-w-0 [overflow-wrap:anywhere]', !long && 'text-end @md:text-start')}>
        {children}
      </dd>
    </div>
  )
}
