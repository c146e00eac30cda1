import { useLingui } from '@lingui/react/macro'
import { memo } from 'react'
import type { PaymentNote } from '#contract/note-endpoints.ts'
import type { PaymentRow } from '#contract/payment-body.ts'
import { useConfig } from '../../shell/use-config.ts'
import { cx } from '../../ui/cx.ts'
import { Skeleton } from '../../ui/Skeleton.tsx'
import { Td, Th } from '../../ui/Table.tsx'
import { columns, useColumns, type ColumnName } from './columns.ts'
import { PaymentCell } from './PaymentCell.tsx'
import { RowCheckbox } from './RowCheckbox.tsx'
import { ROW_HEIGHT, type RowsInView } from './rows-in-view.ts'
import type { Selection } from './use-selection.ts'

const PICK_PIXELS = 52

/** A real table whose undrawn rows are two tall empty ones. */
export function PaymentTable({ rows, before, after, total, notes, selection }: RowsInView) {
  const { networks } = useConfig()
  const { t } = useLingui()
  const shown = useColumns()
  const nameOf = (id: string) => networks.find(({ network }) => network === id)?.name ?? id
  const least = shown.reduce((sum, name) => sum + columns[name].pixels, PICK_PIXELS)
  return (
    <div className="overflow-x-auto rounded-xl">
      <table aria-rowcount={total + 1} className="w-full table-fixed border-collapse text-sm" style={{ minWidth: least }}>
        <caption className="sr-only">{t`Payments, newest first`}</caption>
        <colgroup>
          <col style={{ width: PICK_PIXELS }} />
          {shown.map((name) => (
            <col key={name} style={{ width: 'grow' in columns[name] ? undefined : columns[name].pixels }} />
          ))}
        </colgroup>
        <thead>
          <tr aria-rowindex={1}>
            <Th>
              <span className="sr-only">{t`Select`}</span>
            </Th>
            {shown.map((name) => (
              <Th end={'end' in columns[name]} key={name}>
                {t(columns[name].label)}
              </Th>
            ))}
          </tr>
        </thead>
        <tbody className="[&>tr:last-child>td]:border-b-0">
          {before > 0 && <Gap height={before} />}
          {rows.map(({ index, row }) =>
            row ? (
              <Row
                chosen={selection.has(row.paymentId)}
                index={index}
                key={index}
                networkName={nameOf(row.network)}
                note={notes.get(row.paymentId)}
                onToggle={selection.toggle}
                row={row}
                shown={shown}
              />
            ) : (
              <Coming index={index} key={index} shown={shown} />
            ),
          )}
          {after > 0 && <Gap height={after} />}
        </tbody>
      </table>
    </div>
  )
}

function Gap({ height }: { height: number }) {
  return <tr aria-hidden style={{ height }} />
}

function Coming({ index, shown }: { index: number; shown: readonly ColumnName[] }) {
  return (
    <tr aria-busy="true" aria-rowindex={index + 2} data-index={index} style={{ height: ROW_HEIGHT }}>
      <Td />
      {shown.map((name) => (
        <Td end={'end' in columns[name]} key={name}>
          <Skeleton className={cx('h-3.5 w-20', 'end' in columns[name] && 'ms-auto')} />
        </Td>
      ))}
    </tr>
  )
}

type RowProps = {
  row: PaymentRow
  index: number
  networkName: string
  note: PaymentNote | undefined
  chosen: boolean
  onToggle: Selection['toggle']
  shown: readonly ColumnName[]
}

/** Drawn anew only when something of it changes: a frame of scrolling has no time for rows that stay. */
const Row = memo(function Row({ row, index, networkName, note, chosen, onToggle, shown }: RowProps) {
  return (
    <tr
      aria-rowindex={index + 2}
      aria-selected={chosen}
      className={cx('group relative transition-colors hover:bg-hover has-focus-visible:bg-hover', chosen && 'bg-accent-soft hover:bg-accent-soft')}
      data-index={index}
      data-payment-row={row.paymentId}
      style={{ height: ROW_HEIGHT }}
    >
      <Td className="py-0">
        <RowCheckbox checked={chosen} onToggle={(extend) => onToggle(index, row, extend)} row={row} />
      </Td>
      {shown.map((name) => (
        <PaymentCell key={name} name={name} networkName={networkName} note={note} row={row} />
      ))}
    </tr>
  )
})
