import { useWindowVirtualizer } from '@tanstack/react-virtual'
import { useCallback, useEffect, useLayoutEffect, useRef, useState, useSyncExternalStore } from 'react'
import type { PaymentRow } from '#contract/payment-body.ts'
import { PaymentCard } from './PaymentCard.tsx'
import { PaymentTable } from './PaymentTable.tsx'
import { CARD_HEIGHT, ROW_HEIGHT, type RowsInView } from './rows-in-view.ts'
import { useRowKeys } from './use-row-keys.ts'

const OVERSCAN = 12
/** This close to the end the next page is fetched. */
const NEAR_END = 10

export type PaymentRowsProps = { rows: readonly PaymentRow[]; total: number; onEnd: () => void }

/** Draws the rows in view only, as a table where there is room and as cards on a phone. */
export function PaymentRows({ rows, total, onEnd }: PaymentRowsProps) {
  const list = useRef<HTMLDivElement>(null)
  const [top, setTop] = useState(0)
  const wide = useSyncExternalStore(subscribeWide, () => wideQuery().matches)
  const height = wide ? ROW_HEIGHT : CARD_HEIGHT

  useLayoutEffect(() => {
    if (list.current) setTop(list.current.getBoundingClientRect().top + window.scrollY)
  }, [])

  const virtualizer = useWindowVirtualizer({
    count: rows.length,
    estimateSize: () => height,
    overscan: OVERSCAN,
    scrollMargin: top,
    scrollPaddingStart: 120,
    scrollPaddingEnd: 120,
  })
  // The size of a row depends on the layout, and the virtualizer remembers sizes.
  useLayoutEffect(() => virtualizer.measure(), [virtualizer, height])
  useRowKeys(
    rows.length,
    useCallback((index) => virtualizer.scrollToIndex(index), [virtualizer]),
  )

  const items = virtualizer.getVirtualItems()
  const lastInView = items.at(-1)?.index ?? 0
  const nearEnd = lastInView >= rows.length - NEAR_END
  useEffect(() => {
    if (nearEnd) onEnd()
    // `onEnd` is new with every reading; what matters is how far the reader came.
  }, [nearEnd, rows.length, onEnd])

  const view = {
    rows: items.flatMap(({ index }) => (rows[index] ? [{ index, row: rows[index] }] : [])),
    before: items[0] ? items[0].start - top : 0,
    after: virtualizer.getTotalSize() - ((items.at(-1)?.end ?? top) - top),
  }
  return (
    <div className="rounded-xl border border-line bg-surface" ref={list}>
      {wide ? <PaymentTable {...view} total={total} /> : <Cards {...view} total={total} />}
    </div>
  )
}

function Cards({ rows, before, after, total }: RowsInView) {
  return (
    <ul aria-label="Payments" className="overflow-hidden rounded-xl">
      {before > 0 && <li aria-hidden style={{ height: before }} />}
      {rows.map(({ index, row }) => (
        <li
          aria-posinset={index + 1}
          aria-setsize={total}
          className="overflow-hidden border-b border-line last:border-b-0"
          data-index={index}
          key={row.paymentId}
          style={{ height: CARD_HEIGHT }}
        >
          <PaymentCard row={row} />
        </li>
      ))}
      {after > 0 && <li aria-hidden style={{ height: after }} />}
    </ul>
  )
}

function wideQuery(): MediaQueryList {
  return window.matchMedia('(min-width: 768px)')
}

function subscribeWide(listener: () => void): () => void {
  const query = wideQuery()
  query.addEventListener('change', listener)
  return () => query.removeEventListener('change', listener)
}
