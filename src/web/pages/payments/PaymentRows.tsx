import { useQueries } from '@tanstack/react-query'
import { useWindowVirtualizer } from '@tanstack/react-virtual'
import { useLingui } from '@lingui/react/macro'
import { useEffect, useLayoutEffect, useRef, useState, useSyncExternalStore } from 'react'
import type { PaymentNote } from '#contract/note-endpoints.ts'
import { notesQuery } from '../../api/notes.ts'
import { PAGE_SIZE } from '../../api/queries.ts'
import { Skeleton } from '../../ui/Skeleton.tsx'
import { PaymentCard } from './PaymentCard.tsx'
import { PaymentTable } from './PaymentTable.tsx'
import { RowCheckbox } from './RowCheckbox.tsx'
import { CARD_HEIGHT, ROW_HEIGHT, type RowsInView } from './rows-in-view.ts'
import type { Pages } from './use-pages.ts'
import { useRowKeys } from './use-row-keys.ts'
import type { Selection } from './use-selection.ts'

const OVERSCAN = 8
/** Rows beyond those in view whose page is read already. */
const BEHIND = 10
const AHEAD = 40

/** Browsers draw no page taller than some 16 million pixels; more payments than fit are narrowed down or exported. */
export const MOST_ROWS_SHOWN = 200_000

export type PaymentRowsProps = {
  pages: Pages
  total: number
  selection: Selection
  /** Whether cards show what picks them. */
  picking: boolean
  onRange: (range: { from: number; to: number }) => void
}

/** Draws the rows in view only, as a table where there is room and as cards on a phone. */
export function PaymentRows({ pages, total, selection, picking, onRange }: PaymentRowsProps) {
  const list = useRef<HTMLDivElement>(null)
  const [top, setTop] = useState(0)
  const wide = useSyncExternalStore(subscribeWide, () => wideQuery().matches)
  const height = wide ? ROW_HEIGHT : CARD_HEIGHT
  const count = Math.min(total, MOST_ROWS_SHOWN)

  const virtualizer = useWindowVirtualizer({
    count,
    estimateSize: () => height,
    overscan: OVERSCAN,
    scrollMargin: top,
    scrollPaddingStart: 120,
    scrollPaddingEnd: 120,
  })
  // The size of a row depends on the layout, and the virtualizer remembers sizes.
  useLayoutEffect(() => virtualizer.measure(), [virtualizer, height])

  const items = virtualizer.getVirtualItems()
  const [from, to] = [items[0]?.index ?? 0, items.at(-1)?.index ?? 0]
  // Told a page at a time, and somewhat ahead: whoever reads on meets no gap, and no frame draws the whole page anew.
  const [firstPage, lastPage] = [Math.floor((from - BEHIND) / PAGE_SIZE), Math.floor((to + AHEAD) / PAGE_SIZE)]
  useEffect(() => onRange({ from: firstPage * PAGE_SIZE, to: lastPage * PAGE_SIZE }), [firstPage, lastPage, onRange])
  // What stands above the list may have changed its height meanwhile.
  useLayoutEffect(() => {
    if (list.current) setTop(Math.round(list.current.getBoundingClientRect().top + window.scrollY))
  }, [firstPage, total])

  const rows = items.map(({ index }) => ({ index, row: pages.rowAt(index) }))
  useRowKeys({
    count,
    show: (index) => virtualizer.scrollToIndex(index),
    pick: (index, extend) => {
      const row = pages.rowAt(index)
      if (row) selection.toggle(index, row, extend)
    },
    clear: selection.clear,
  })

  const view: RowsInView = {
    rows,
    before: items[0] ? items[0].start - top : 0,
    after: virtualizer.getTotalSize() - ((items.at(-1)?.end ?? top) - top),
    total,
    notes: useNotesOf(pages, { from, to }),
    selection,
  }
  return (
    <div className="rounded-xl border border-line bg-surface" ref={list}>
      {wide ? <PaymentTable {...view} /> : <Cards {...view} picking={picking || selection.rows.size > 0} />}
    </div>
  )
}

/** Notes by page of the list, so that scrolling a row on asks nothing anew. */
function useNotesOf(pages: Pages, { from, to }: { from: number; to: number }): ReadonlyMap<string, PaymentNote> {
  const indexes = Array.from({ length: Math.floor(to / PAGE_SIZE) - Math.floor(from / PAGE_SIZE) + 1 }, (_, place) => Math.floor(from / PAGE_SIZE) + place)
  return useQueries({
    queries: indexes.map((index) => {
      const ids = Array.from({ length: PAGE_SIZE }, (_, place) => pages.rowAt(index * PAGE_SIZE + place)?.paymentId ?? []).flat()
      return { ...notesQuery(ids), enabled: ids.length > 0 }
    }),
    combine: mergeNotes,
  })
}

function mergeNotes(results: { data?: ReadonlyMap<string, PaymentNote> | undefined }[]): ReadonlyMap<string, PaymentNote> {
  return results.length === 1 && results[0]?.data ? results[0].data : new Map(results.flatMap(({ data }) => [...(data ?? [])]))
}

function Cards({ rows, before, after, total, notes, selection, picking }: RowsInView & { picking: boolean }) {
  const { t } = useLingui()
  return (
    <ul aria-label={t`Payments`} className="overflow-hidden rounded-xl">
      {before > 0 && <li aria-hidden style={{ height: before }} />}
      {rows.map(({ index, row }) => (
        <li
          aria-posinset={index + 1}
          aria-setsize={total}
          className="overflow-hidden border-b border-line last:border-b-0"
          data-index={index}
          key={index}
          style={{ height: CARD_HEIGHT }}
        >
          {row ? (
            <PaymentCard
              chosen={selection.has(row.paymentId)}
              note={notes.get(row.paymentId)}
              picker={
                picking ? (
                  <RowCheckbox checked={selection.has(row.paymentId)} onToggle={(extend) => selection.toggle(index, row, extend)} row={row} />
                ) : undefined
              }
              row={row}
            />
          ) : (
            <span aria-busy="true" className="flex h-full items-center gap-3 px-5">
              <Skeleton className="size-8 rounded-full" />
              <Skeleton className="h-3.5 w-40" />
            </span>
          )}
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
