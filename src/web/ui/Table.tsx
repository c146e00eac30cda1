import { useEffect, useRef, useState, type ComponentProps, type ReactNode } from 'react'
import { cx } from './button-class.ts'

export type TableProps = ComponentProps<'table'> & {
  /** What the table holds; read out, not shown. */
  caption: string
  children: ReactNode
}

/**
 * A real table. Wide ones scroll inside their own box, never the page; only such a box is a stop of the keyboard. It is no landmark: the
 * section around it often has the same name.
 */
export function Table({ caption, className, children, ...rest }: TableProps) {
  const box = useRef<HTMLDivElement>(null)
  const [scrolls, setScrolls] = useState(false)
  useEffect(() => {
    const element = box.current
    if (!element) return
    const observer = new ResizeObserver(() => setScrolls(element.scrollWidth > element.clientWidth))
    observer.observe(element)
    return () => observer.disconnect()
  }, [])
  return (
    <div
      className="relative w-full overflow-x-auto"
      ref={box}
      {...(scrolls && { 'aria-label': caption, role: 'group', tabIndex: 0 })}
    >
      <table className={cx('w-full border-collapse text-start text-sm', className)} {...rest}>
        <caption className="sr-only">{caption}</caption>
        {children}
      </table>
    </div>
  )
}

type CellProps = { end?: boolean }

/** `end`: figures stand at the end of their column. */
export function Th({ end, className, ...rest }: ComponentProps<'th'> & CellProps) {
  return (
    <th
      className={cx(
        'border-b border-line px-3 py-2 text-xs font-medium whitespace-nowrap text-muted first:ps-5 last:pe-5',
        end ? 'text-end' : 'text-start',
        className,
      )}
      scope="col"
      {...rest}
    />
  )
}

export function Td({ end, className, ...rest }: ComponentProps<'td'> & CellProps) {
  return (
    <td
      className={cx(
        'border-b border-line px-3 py-2.5 align-middle first:ps-5 last:pe-5',
        end && 'text-end',
        className,
      )}
      {...rest}
    />
  )
}
