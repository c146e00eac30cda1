import { useId, type ReactNode } from 'react'
import { cx } from './cx.ts'
import { usePersistentFocus } from './use-persistent-focus.ts'

export type CardProps = {
  title?: ReactNode
  /** One quiet line under the title. */
  subtitle?: ReactNode
  /** At the end of the title's line. */
  action?: ReactNode
  /** No padding around the children: for tables and lists. */
  flush?: boolean
  className?: string
  children: ReactNode
}

export function Card({ title, subtitle, action, flush, className, children }: CardProps) {
  const id = useId()
  const keptFocus = usePersistentFocus()
  return (
    <section
      aria-labelledby={title ? id : undefined}
      className={cx('min-w-0 rounded-xl border border-line bg-surface', className)}
      {...keptFocus}
    >
      {title && (
        <header
          className={cx(
            'flex items-start justify-between gap-4 px-5 pt-4',
            flush ? 'pb-3' : 'pb-1',
          )}
        >
          <div>
            <h2 className="text-base font-semibold" id={id}>
              {title}
            </h2>
            {subtitle && <p className="text-sm text-muted">{subtitle}</p>}
          </div>
          {action}
        </header>
      )}
      {flush ? (
        children
      ) : (
        <div className={cx('px-5 pb-5', title ? 'pt-3' : 'pt-5')}>{children}</div>
      )}
    </section>
  )
}
