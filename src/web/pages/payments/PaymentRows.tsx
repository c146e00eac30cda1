import { useLingui } from '@lingui/react/macro'
import { useQueries } from '@tanstack/react-query'
import {
  useCallback,
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
  useSyncExternalStore,
  type RefObject,
} from 'react'
import type { PaymentRow } from '#contract/payment-body.ts'
import { profilesQuery } from '../../api/customers.ts'
import { notesQuery } from '../../api/notes.ts'
import { PAGE_SIZE } from '../../api/queries.ts'
import { useRole } from '../../api/session.ts'
import { customerOf } from '../../payment-view/CustomerName.tsx'
import { PaymentCard } from '../../payment-view/PaymentCard.tsx'
import { cx } from '../../ui/button-class.ts'
import { PaymentTable, RowCheckbox } from './PaymentTable.tsx'
import {
  type RowRange,
  nextDrawn,
  CARD_HEIGHT,
  rowPositionOf,
  ROW_HEIGHT,
  type RowsInView,
} from './drawn-rows.ts'
import type { Pages } from './use-pages.ts'
import { useRowKeys } from './use-row-keys.ts'
import type { Selection } from './use-selection.ts'

type Rows = {
  count: number
  /** Pixels of each. */
  height: number
}

/** Who passes more of the screen than this in one frame reads nothing on the way: rows are drawn where they slow down. */
const FLYING = 1 / 4
/** While the page moves, drawing may make its frames late by this share of the time, so that a slow machine moves smoothly and draws less. */
const LATE = 1 / 5
/** What no screen calls late, and the longest that drawing rests, in milliseconds. */
const IN_TIME = 20
const LONGEST_REST = 500
/** Pixels that what stands at the upper and the lower edge of the page may cover. */
const EDGE = 120

/**
 * The rows of a list to draw, as the page scrolls. Each has its place from its index alone, so that no row that stays is laid out or painted
 * again when others come and go.
 */
function useDrawnRows(list: RefObject<HTMLElement | null>, { count, height }: Rows): RowRange {
  const [drawn, setDrawn] = useState<RowRange>({ from: 0, to: -1 })
  const latest = useRef(drawn)
  useLayoutEffect(() => {
    let frame = 0
    let above: number | undefined
    let drewAt: number | undefined
    let restsUntil = 0

    function look(now: number) {
      frame = 0
      if (!list.current) return
      const top = -list.current.getBoundingClientRect().top
      const moved = Math.abs(top - (above ?? top))
      above = top
      // The frame after one that drew shows what drawing cost.
      if (drewAt !== undefined)
        restsUntil = now + Math.min(LONGEST_REST, Math.max(0, now - drewAt - IN_TIME) / LATE)
      drewAt = undefined
      if (moved > window.innerHeight * FLYING || (moved > 0 && now < restsUntil)) return soon()

      const rowAt = (pixels: number) =>
        Math.max(0, Math.min(count - 1, Math.floor(pixels / height)))
      const next = nextDrawn(
        latest.current,
        { from: rowAt(top), to: rowAt(top + window.innerHeight) },
        count,
      )
      if (next === latest.current) return
      latest.current = next
      setDrawn(next)
      drewAt = now
      soon()
    }
    function soon() {
      frame ||= requestAnimationFrame(look)
    }

    look(performance.now())
    window.addEventListener('scroll', soon, { passive: true })
    window.addEventListener('resize', soon)
    return () => {
      cancelAnimationFrame(frame)
      window.removeEventListener('scroll', soon)
      window.removeEventListener('resize', soon)
    }
  }, [list, count, height])
  return drawn
}

/** Scrolls a row into sight, clear of the page's edges. */
function bringIntoSight(list: HTMLElement, index: number, height: number): void {
  const top = list.getBoundingClientRect().top + index * height
  const lowest = window.innerHeight - EDGE - height
  if (top < EDGE) window.scrollBy({ top: top - EDGE })
  else if (top > lowest) window.scrollBy({ top: top - lowest })
}

/** Rows beyond the drawn ones whose pages are prefetched. */
const BEHIND = 10
const AHEAD = 40

/**
 * Browsers draw no page taller than about 16 million pixels; if more payments match, the reader
 * must filter or export.
 */
export const MOST_ROWS_SHOWN = 200_000

export type PaymentRowsProps = {
  pages: Pages
  total: number
  selection: Selection
  /** Whether cards show their checkboxes. */
  picking: boolean
  onRange: (range: { from: number; to: number }) => void
}

/** Draws only the rows in view, as a table if there is room and as cards on a phone. */
export function PaymentRows({ pages, onRange, ...rest }: PaymentRowsProps) {
  const [near, setNear] = useState<RowRange>({ from: 0, to: 0 })
  useEffect(
    () => onRange({ from: near.from * PAGE_SIZE, to: near.to * PAGE_SIZE }),
    [near, onRange],
  )
  const [notes, names] = [useNotesOf(pages, near), useNamesOf(pages, near)]
  return <RowsInSight {...rest} names={names} notes={notes} onNear={setNear} rowAt={pages.rowAt} />
}

type RowsInSightProps = Omit<PaymentRowsProps, 'pages' | 'onRange'> & {
  rowAt: Pages['rowAt']
  notes: RowsInView['notes']
  names: RowsInView['names']
  /** Called with the pages of the list around the drawn rows, when they change. */
  onNear: (pages: RowRange) => void
}

/** The part that renders on each frame of scrolling, and nothing more. */
function RowsInSight({ rowAt, notes, names, total, selection, picking, onNear }: RowsInSightProps) {
  const list = useRef<HTMLElement>(null)
  const wide = useSyncExternalStore(subscribeWide, () => wideQuery.matches)
  const height = wide ? ROW_HEIGHT : CARD_HEIGHT
  const count = Math.min(total, MOST_ROWS_SHOWN)
  const { from, to } = useDrawnRows(list, { count, height })

  // Reads somewhat ahead, so that scrolling shows no gap.
  const [firstPage, lastPage] = [
    pageOf(Math.max(0, from - BEHIND)),
    pageOf(Math.min(count - 1, to + AHEAD)),
  ]
  useEffect(() => onNear({ from: firstPage, to: lastPage }), [firstPage, lastPage, onNear])

  const focusRow = useFocusRow(list)
  useRowKeys({
    count,
    show: (index) => {
      if (list.current) bringIntoSight(list.current, index, height)
      focusRow(index)
    },
    pick: (index, extend) => {
      const row = rowAt(index)
      if (row) selection.toggle(index, row, extend)
    },
    clear: selection.clear,
  })

  const rows = Array.from({ length: to - from + 1 }, (_, place) => ({
    index: from + place,
    row: rowAt(from + place),
  }))
  const view: RowsInView = { rows, count, total, notes, names, selection, list }
  return (
    <div className="rounded-xl border border-line bg-surface">
      {wide ? (
        <PaymentTable {...view} />
      ) : (
        <Cards {...view} picking={picking || selection.rows.size > 0} />
      )}
    </div>
  )
}

/** Focuses a row: now, or as soon as it is drawn. */
function useFocusRow(list: RefObject<HTMLElement | null>): (index: number) => void {
  const focusIndex = useRef<number>(undefined)
  const tryNow = useCallback(() => {
    const link =
      focusIndex.current !== undefined &&
      list.current?.querySelector<HTMLElement>(`[data-index="${focusIndex.current}"] a`)
    if (!link) return
    link.focus({ preventScroll: true })
    focusIndex.current = undefined
  }, [list])
  useLayoutEffect(tryNow)
  return useCallback(
    (index) => {
      focusIndex.current = index
      tryNow()
    },
    [tryNow],
  )
}

function pageOf(index: number): number {
  return Math.floor(index / PAGE_SIZE)
}

/** Notes by page of the list, so that scrolling by a row repeats no request. */
function useNotesOf(pages: Pages, near: RowRange): RowsInView['notes'] {
  const queries = rowsByPage(pages, near).map((rows) => {
    const ids = rows.map(({ paymentId }) => paymentId)
    return { ...notesQuery(ids), enabled: ids.length > 0 }
  })
  return useQueries({ queries, combine: mergeMaps })
}

/** The customers of each page, in one request. A buyer has none. */
function useNamesOf(pages: Pages, near: RowRange): RowsInView['names'] {
  const account = useRole() !== null
  const queries = rowsByPage(pages, near).map((rows) =>
    profilesQuery(account ? [...new Set(rows.flatMap((row) => customerOf(row) ?? []))] : []),
  )
  return useQueries({ queries, combine: mergeMaps })
}

function rowsByPage(pages: Pages, { from, to }: RowRange): PaymentRow[][] {
  return Array.from({ length: to - from + 1 }, (_, index) =>
    Array.from(
      { length: PAGE_SIZE },
      (__, place) => pages.rowAt((from + index) * PAGE_SIZE + place) ?? [],
    ).flat(),
  )
}

function mergeMaps<Value>(
  results: { data?: ReadonlyMap<string, Value> | undefined }[],
): ReadonlyMap<string, Value> {
  return results.length === 1 && results[0]?.data
    ? results[0].data
    : new Map(results.flatMap(({ data }) => [...(data ?? [])]))
}

function Cards({
  rows,
  count,
  total,
  notes,
  selection,
  list,
  picking,
}: RowsInView & { picking: boolean }) {
  const { t } = useLingui()
  return (
    <ul
      aria-label={t`Payments`}
      className="relative overflow-hidden rounded-xl rows-coming [--row:76px] [--start:20px]"
      ref={list as RefObject<HTMLUListElement | null>}
      style={{ height: count * CARD_HEIGHT }}
    >
      {rows.map(({ index, row }) => (
        <li
          aria-busy={row ? undefined : true}
          aria-posinset={index + 1}
          aria-setsize={total}
          className={cx(
            'absolute inset-x-0 overflow-hidden contain-strict',
            row && 'bg-surface',
            row && index < count - 1 && 'border-b border-line',
          )}
          data-index={index}
          key={index}
          style={rowPositionOf(index, CARD_HEIGHT)}
        >
          {row && (
            <PaymentCard
              chosen={selection.has(row.paymentId)}
              note={notes.get(row.paymentId)}
              picker={
                picking ? (
                  <RowCheckbox
                    checked={selection.has(row.paymentId)}
                    onToggle={(extend) => selection.toggle(index, row, extend)}
                    row={row}
                  />
                ) : undefined
              }
              row={row}
            />
          )}
        </li>
      ))}
    </ul>
  )
}

const wideQuery = window.matchMedia('(min-width: 768px)')

function subscribeWide(listener: () => void): () => void {
  wideQuery.addEventListener('change', listener)
  return () => wideQuery.removeEventListener('change', listener)
}
