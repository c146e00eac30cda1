import type { ComponentProps } from 'react'
import { cx } from '../ui/button-class.ts'

/** Browsers forget what the parts of a table are when they are laid out otherwise. */
export const asTable = {
  table: { role: 'table' },
  rows: { role: 'rowgroup' },
  row: { role: 'row' },
  heading: { role: 'columnheader' },
  cell: { role: 'cell' },
} as const

/** A cell of a row that is laid out as a grid. `end`: figures stand at the end of their column. */
export function Cell({ end, className, ...rest }: ComponentProps<'td'> & { end?: boolean }) {
  return (
    <td
      className={cx('min-w-0 px-3 first:ps-5 last:pe-5', end && 'text-end', className)}
      {...asTable.cell}
      {...rest}
    />
  )
}
