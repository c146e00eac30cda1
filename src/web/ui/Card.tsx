import { useId, type ReactNode, useEffect, useRef, type FocusEvent } from 'react'
import { cx } from './button-class.ts'

const CONTROLS = ':is(a[href],button,input,select,textarea,summary):not(:disabled,[tabindex="-1"])'

/**
 * Props for the element around a list: when the focused control disappears with its row, the
 * control that takes its position gets the focus. Otherwise keyboard users would be sent to the top
 * of the page.
 */
export function usePersistentFocus() {
  const last = useRef<{ list: HTMLElement; control: HTMLElement; place: number }>(undefined)
  useEffect(() => {
    if (
      !last.current ||
      last.current.control.isConnected ||
      document.activeElement !== document.body
    )
      return
    const { list, place } = last.current
    const left = controlsIn(list)
    left[Math.min(place, left.length - 1)]?.focus()
  })
  return {
    onFocus({ currentTarget: list, target: control }: FocusEvent<HTMLElement>) {
      const place = controlsIn(list).indexOf(control)
      if (place >= 0) last.current = { list, control, place }
    },
    onBlur({ target: control, relatedTarget: next }: FocusEvent<HTMLElement>) {
      if (next?.closest('dialog')) return
      // Someone who moved the focus away is not brought back when the control disappears later; a
      // control removed now is already gone by then.
      queueMicrotask(() => {
        if (control.isConnected && last.current?.control === control) last.current = undefined
      })
    },
  }
}

/** Controls of a dialog are not the list's own: they disappear when it closes. */
function controlsIn(list: HTMLElement): HTMLElement[] {
  return [...list.querySelectorAll<HTMLElement>(CONTROLS)].filter(
    (control) => !control.closest('dialog'),
  )
}

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
  const persistentFocus = usePersistentFocus()
  return (
    <section
      aria-labelledby={title ? id : undefined}
      className={cx('min-w-0 rounded-xl border border-line bg-surface', className)}
      {...persistentFocus}
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
