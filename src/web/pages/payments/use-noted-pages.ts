import { useCallback, useEffect, useState } from 'react'
import type { PaymentRow } from '#contract/payment-body.ts'
import type { ListQuery, NoteFilter } from '../../api/payment-filter.ts'
import type { Viewer } from '../../api/queries.ts'
import { filterPayments } from '../../api/filter-payments.ts'
import { serverNow } from '../../api/clock.ts'
import type { Pages } from './use-pages.ts'

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
