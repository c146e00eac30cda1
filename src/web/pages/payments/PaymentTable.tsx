import { useLingui } from '@lingui/react/macro'
import { memo, useLayoutEffect, useRef, useState, type RefObject } from 'react'
import type { PaymentRow } from '#contract/payment-body.ts'
import type { PaymentNote } from '#contract/payment-endpoints.ts'
import { useRole } from '../../api/session.ts'
import { useConfig } from '../../api/use-config.ts'
import { asTable, Cell } from '../../payment-view/Cell.tsx'
import { PaymentCell } from '../../payment-view/PaymentCell.tsx'
import {
  columns,
  fitColumns,
  leastPixels,
  PICK_PIXELS,
  useColumns,
  type ColumnName,
} from '../../payment-view/columns.ts'
import { directionWords } from '../../payment-view/Direction.tsx'
import { Icon } from '../../ui/Icon.tsx'
import { Th } from '../../ui/Table.tsx'
import { cx } from '../../ui/button-class.ts'
import { formatAmountText } from '../../ui/format-amount.ts'
import { rowPositionOf, ROW_HEIGHT, type RowsInView } from './drawn-rows.ts'
import type { Selection } from './use-selection.ts'

/**
 * A real table whose rows are positioned individually: rows that come and go do not affect a row
 * that stays.
 */
export function PaymentTable({ rows, count, total, notes, names, selection, list }: RowsInView) {
  const { networks } = useConfig()
  const { t } = useLingui()
  const account = useRole() !== null
  const shown = useColumns()
  // The column of labels does not leave while the reader scrolls.
  const [noted, setNoted] = useState(false)
  if (!noted && [...notes.values()].some(isWritten)) setNoted(true)
  const nameOf = (id: string) => networks.find(({ network }) => network === id)?.name ?? id
  const box = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    if (!box.current) return
    fitColumns(box.current.clientWidth, noted)
    const observer = new ResizeObserver(
      ([entry]) => entry && fitColumns(entry.contentRect.width, noted),
    )
    observer.observe(box.current)
    return () => observer.disconnect()
  }, [noted])
  const style = { gridTemplateColumns: templateOf(shown) }
  return (
    <div className="overflow-x-auto rounded-xl" ref={box}>
      <table
        aria-rowcount={total + 1}
        className="block text-sm"
        {...asTable.table}
        style={{ minWidth: leastPixels(shown) }}
      >
        <caption className="sr-only">{t`Payments`}</caption>
        <thead className="block" {...asTable.rows}>
          <tr
            aria-rowindex={1}
            className="grid border-b border-line"
            {...asTable.row}
            style={style}
          >
            <Th className="border-b-0" {...asTable.heading}>
              <span className="sr-only">{t`Select`}</span>
            </Th>
            {shown.map((name) => (
              <Th
                className="border-b-0"
                end={'end' in columns[name]}
                key={name}
                {...asTable.heading}
              >
                {t(columns[name].label)}
              </Th>
            ))}
          </tr>
        </thead>
        <tbody
          className="relative block rows-coming [--row:52px] [--start:64px]"
          ref={list as RefObject<HTMLTableSectionElement | null>}
          {...asTable.rows}
          style={{ height: count * ROW_HEIGHT }}
        >
          {rows.map(({ index, row }) =>
            row ? (
              <Row
                chosen={selection.has(row.paymentId)}
                index={index}
                key={index}
                last={index === count - 1}
                names={account ? names : undefined}
                networkName={nameOf(row.network)}
                note={notes.get(row.paymentId)}
                onToggle={selection.toggle}
                row={row}
                shown={shown}
              />
            ) : (
              <tr
                aria-busy="true"
                aria-rowindex={index + 2}
                className="absolute inset-x-0"
                data-index={index}
                key={index}
                {...asTable.row}
                style={rowPositionOf(index, ROW_HEIGHT)}
              >
                <td {...asTable.cell} />
              </tr>
            ),
          )}
        </tbody>
      </table>
    </div>
  )
}

/** An order with an email address alone has an empty note. */
function isWritten({ labels, note, reconciledAt }: PaymentNote): boolean {
  return labels.length > 0 || note !== '' || reconciledAt !== null
}

/**
 * The widths of the columns: growing columns share the rest, or all columns do if none can grow.
 */
function templateOf(shown: readonly ColumnName[]): string {
  const anyGrows = shown.some((name) => 'grow' in columns[name])
  const widths = shown.map((name) => {
    const { pixels } = columns[name]
    return !anyGrows || 'grow' in columns[name] ? `minmax(${pixels}px, ${pixels}fr)` : `${pixels}px`
  })
  return [`${PICK_PIXELS}px`, ...widths].join(' ')
}

type RowProps = {
  row: PaymentRow
  index: number
  last: boolean
  networkName: string
  note: PaymentNote | undefined
  names: RowsInView['names'] | undefined
  chosen: boolean
  onToggle: Selection['toggle']
  shown: readonly ColumnName[]
}

/**
 * Renders again only when its own data changes: a frame of scrolling has no time for rows that
 * stay.
 */
const Row = memo(function Row({
  row,
  index,
  last,
  networkName,
  note,
  names,
  chosen,
  onToggle,
  shown,
}: RowProps) {
  return (
    <tr
      aria-rowindex={index + 2}
      aria-selected={chosen}
      className={cx(
        'absolute inset-x-0 grid items-center contain-strict',
        chosen ? 'bg-accent-soft' : 'bg-surface hover:bg-hover',
        !last && 'border-b border-line',
      )}
      data-index={index}
      data-payment-row={row.paymentId}
      {...asTable.row}
      style={{ ...rowPositionOf(index, ROW_HEIGHT), gridTemplateColumns: templateOf(shown) }}
    >
      <Cell className="flex">
        <RowCheckbox
          checked={chosen}
          onToggle={(extend) => onToggle(index, row, extend)}
          row={row}
        />
      </Cell>
      {shown.map((name) => (
        <PaymentCell
          key={name}
          name={name}
          names={names}
          networkName={networkName}
          note={note}
          row={row}
        />
      ))}
    </tr>
  )
})

export type RowCheckboxProps = {
  row: PaymentRow
  checked: boolean
  onToggle: (extend: boolean) => void
}

/** Picks one payment; with Shift, all from the one picked before. Its name says which, since a reader hears it without the row. */
export function RowCheckbox({ row, checked, onToggle }: RowCheckboxProps) {
  const { t } = useLingui()
  const amount = `${formatAmountText(BigInt(row.amountAtomic), row.decimals).text} ${row.symbol}`
  const direction = directionWords(row)
  return (
    <span className="relative z-1 inline-flex">
      <input
        aria-label={t`Select ${amount}, ${direction}`}
        checked={checked}
        className="touch-target size-5 cursor-pointer appearance-none rounded-sm border border-edge bg-surface transition-colors checked:border-accent checked:bg-accent"
        onChange={(event) =>
          onToggle(event.nativeEvent instanceof MouseEvent && event.nativeEvent.shiftKey)
        }
        type="checkbox"
      />
      {checked && (
        <Icon className="pointer-events-none absolute inset-0 m-auto text-on-accent" name="check" />
      )}
    </span>
  )
}
