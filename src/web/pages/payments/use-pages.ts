import { useQueries, useQuery } from '@tanstack/react-query'
import { useEffect, useMemo, useState, useCallback } from 'react'
import type { PaymentRow } from '#contract/payment-body.ts'
import { serverNow } from '../../api/clock.ts'
import { filterPayments } from '../../api/filter-payments.ts'
import type { ListQuery, NoteFilter } from '../../api/payment-filter.ts'
import {
  newestQuery,
  PAGE_SIZE,
  paymentPageQuery,
  type PaymentPage,
  type Viewer,
} from '../../api/queries.ts'
import { queryClient } from '../../api/query-client.ts'

/**
 * Pages further than this from those in view are dropped, so that a list of any length uses the
 * same memory.
 */
const PAGES_AROUND = 8
/** Dragging the scrollbar passes many pages; only those where it rests are read. */
const REST_MS = 90

export type Pages = {
  /** Undefined until the first page is there. */
  total: number | undefined
  rowAt: (index: number) => PaymentRow | undefined
  /** The newest rows of the list when it was opened. */
  first: readonly PaymentRow[]
  /** One millisecond after the newest payment when the list was opened: later ones are not in it. */
  until: number | undefined
  /** Number of payments added since the list was opened. */
  more: number
  error: Error | null
  /** The error of a page in view, although the list itself was read. */
  gap: Error | null
  readAt: number
  busy: boolean
  retry: () => void
  /** Starts again at the newest payment. */
  reopen: () => void
  /** Reads rows that are not in view. @throws ApiError */
  load: (from: number, to: number) => Promise<PaymentRow[]>
}

/** The end of a list that is opened now: exclusive, so one millisecond after its newest payment. */
function pinAfter(page: PaymentPage | undefined): number | undefined {
  const [newest] = page?.payments ?? []
  return newest && newest.timestamp + 1
}

/**
 * A list of any length by page. It keeps the order from when it was opened: later payments wait
 * behind a button. A page after a known one is read from its cursor, one that was jumped to by its
 * offset.
 */
export function usePages(
  viewer: Viewer,
  query: ListQuery,
  range: { from: number; to: number },
): Pages {
  const [pinned, setUntil] = useState<number>()
  const opening = useQuery({
    ...paymentPageQuery(viewer, query, { index: 0, until: pinned }),
    refetchOnWindowFocus: pinned !== undefined,
  })
  const until = pinned ?? pinAfter(opening.data)
  if (pinned === undefined && until !== undefined) setUntil(until)

  const total = opening.data?.total
  const now = useQuery({
    ...newestQuery(viewer, query, 1),
    enabled: opening.data !== undefined,
    initialData: opening.data,
    initialDataUpdatedAt: opening.dataUpdatedAt,
  })

  const near = useRested(pagesOf(range, total ?? 0))
  const indexes = useMemo(() => near.filter((index) => index > 0), [near])
  const pages = useQueries({
    queries: indexes.map((index) =>
      paymentPageQuery(viewer, query, { index, until, cursor: cursorOf(index) }),
    ),
    combine: (results) => ({
      data: new Map(
        results.flatMap((result, place) =>
          result.data ? [[indexes[place] ?? -1, result.data] as const] : [],
        ),
      ),
      error: results.find(({ error, data }) => error && !data)?.error ?? null,
      retry: () => {
        for (const { error, refetch } of results) if (error) void refetch()
      },
    }),
  })

  function cursorOf(index: number): string | undefined {
    return (
      queryClient.getQueryData<PaymentPage>(
        paymentPageQuery(viewer, query, { index: index - 1 }).queryKey,
      )?.nextCursor ?? undefined
    )
  }

  useEffect(() => {
    const [first = 0, last = 0] = [near[0], near.at(-1)]
    queryClient.removeQueries({
      queryKey: ['paymentList', viewer, query, 'page'],
      predicate: ({ queryKey }) => {
        const index = Number(queryKey[4])
        return index > 0 && (index < first - PAGES_AROUND || index > last + PAGES_AROUND)
      },
    })
  }, [near, viewer, query])

  /** The old order stays until the new one is loaded. */
  async function reopen(): Promise<void> {
    const newest = await queryClient.fetchQuery({
      ...paymentPageQuery(viewer, query, { index: 0 }),
      staleTime: 0,
    })
    queryClient.removeQueries({
      queryKey: ['paymentList', viewer, query, 'page'],
      predicate: ({ queryKey }) => Number(queryKey[4]) > 0,
    })
    queryClient.setQueryData(newestQuery(viewer, query, 1).queryKey, newest)
    setUntil(pinAfter(newest))
  }

  function pageAt(index: number): PaymentPage | undefined {
    if (index === 0) return opening.data
    return (
      pages.data.get(index) ??
      queryClient.getQueryData<PaymentPage>(paymentPageQuery(viewer, query, { index }).queryKey)
    )
  }

  return {
    total,
    rowAt: (index) => pageAt(Math.floor(index / PAGE_SIZE))?.payments[index % PAGE_SIZE],
    first: opening.data?.payments ?? [],
    until,
    more: Math.max(0, (now.data?.total ?? 0) - (total ?? 0)),
    error: opening.error,
    gap: pages.error,
    readAt: opening.dataUpdatedAt,
    busy: opening.isFetching,
    retry: () => {
      if (opening.error || !pages.error) void opening.refetch()
      pages.retry()
    },
    reopen: () => void reopen().catch(() => undefined),
    load: async (from, to) => {
      const rows: PaymentRow[] = []
      for (let index = Math.floor(from / PAGE_SIZE); index <= Math.floor(to / PAGE_SIZE); index++) {
        const page =
          pageAt(index) ??
          (await queryClient.fetchQuery(
            paymentPageQuery(viewer, query, { index, until, cursor: cursorOf(index) }),
          ))
        rows.push(
          ...page.payments.filter(
            (_, place) => index * PAGE_SIZE + place >= from && index * PAGE_SIZE + place <= to,
          ),
        )
      }
      return rows
    },
  }
}

function pagesOf({ from, to }: { from: number; to: number }, total: number): number[] {
  if (total === 0) return []
  const first = Math.floor(Math.max(0, from) / PAGE_SIZE)
  const last = Math.floor(Math.max(0, Math.min(total - 1, to)) / PAGE_SIZE)
  return Array.from({ length: last - first + 1 }, (_, place) => first + place)
}

/**
 * The pages in view once scrolling rests: immediately for the next page, after a delay for a jump.
 */
function useRested(pages: readonly number[]): readonly number[] {
  const name = pages.join()
  const [rested, setRested] = useState(name)
  useEffect(() => {
    const timer = setTimeout(() => setRested(name), REST_MS)
    return () => clearTimeout(timer)
  }, [name])
  const beside = rested === '' || Math.abs((pages[0] ?? 0) - Number(rested.split(',')[0])) <= 1
  const shown = beside ? name : rested
  // The same pages return the same array, so that nothing below is computed again.
  return useMemo(() => (shown === '' ? [] : shown.split(',').map(Number)), [shown])
}

/** How far the list was looked through; undefined once it was to its end. */
export type PageReading = { looked: number; of: number } | undefined

type Found = {
  rows: readonly PaymentRow[]
  looking: PageReading
  begun: boolean
  error: Error | null
  readAt: number
}

const NOTHING: Found = {
  rows: [],
  looking: { looked: 0, of: 0 },
  begun: false,
  error: null,
  readAt: 0,
}

/** The payments with the notes that are asked for: looked for from the newest on, and shown as they are found. */
export function useNotedPages(
  viewer: Viewer,
  query: ListQuery,
  noted: NoteFilter,
): { pages: Pages; looking: PageReading } {
  const [found, setFound] = useState(NOTHING)
  const [turn, setTurn] = useState(0)
  // What comes later is not in the list, nor in a file made of it.
  const [until, setUntil] = useState(serverNow)
  const reopen = useCallback(() => {
    setFound(NOTHING)
    setUntil(serverNow())
    setTurn((count) => count + 1)
  }, [])

  useEffect(() => {
    const abort = new AbortController()
    const { signal } = abort
    async function look() {
      try {
        for await (const { rows, looked, of } of filterPayments(
          viewer,
          { query, noted },
          { until, signal },
        )) {
          if (signal.aborted) return
          setFound((before) => ({
            ...before,
            rows: [...before.rows, ...rows],
            looking: { looked, of },
            begun: true,
            readAt: Date.now(),
          }))
        }
        if (!signal.aborted)
          setFound((before) => ({ ...before, looking: undefined, begun: true, readAt: Date.now() }))
      } catch (error) {
        if (!signal.aborted)
          setFound((before) => ({
            ...before,
            looking: undefined,
            error: error instanceof Error ? error : new Error(String(error)),
          }))
      }
    }
    void look()
    return () => abort.abort()
  }, [viewer, query, noted, until, turn])

  const { rows, looking, begun, error, readAt } = found
  // An empty list is only told once there is nothing more to look at.
  const total = begun && (rows.length > 0 || looking === undefined) ? rows.length : undefined
  return {
    looking,
    pages: {
      total,
      rowAt: (index) => rows[index],
      first: rows.slice(0, 100),
      until,
      more: 0,
      error: begun ? null : error,
      gap: begun ? error : null,
      readAt,
      busy: looking !== undefined,
      retry: reopen,
      reopen,
      load: (from, to) => Promise.resolve(rows.slice(from, to + 1)),
    },
  }
}
