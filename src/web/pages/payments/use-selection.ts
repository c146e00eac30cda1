import { useCallback, useLayoutEffect, useMemo, useRef, useState } from 'react'
import type { PaymentRow } from '#contract/payment-body.ts'

/** More than that are a filter's business. */
export const MOST_SELECTED = 5_000

export type Selection = {
  rows: ReadonlyMap<string, PaymentRow>
  has: (paymentId: string) => boolean
  toggle: (index: number, row: PaymentRow, extend?: boolean) => void
  clear: () => void
}

/**
 * The rows a reader picked. With Shift everything between the row picked before and this one is taken too; `load` reads what is not in view.
 */
export function useSelection(
  load: (from: number, to: number) => Promise<PaymentRow[]>,
  onTooMany: () => void,
): Selection {
  const [rows, setRows] = useState<ReadonlyMap<string, PaymentRow>>(new Map())
  const anchor = useRef<number>(undefined)
  const parts = useRef({ load, onTooMany, rows })
  useLayoutEffect(() => {
    parts.current = { load, onTooMany, rows }
  })

  const toggle = useCallback((index: number, row: PaymentRow, extend = false) => {
    const from = anchor.current
    anchor.current = index
    if (!extend || from === undefined || from === index) {
      setRows((known) => {
        const next = new Map(known)
        if (!next.delete(row.paymentId)) next.set(row.paymentId, row)
        return next
      })
      return
    }
    if (Math.abs(index - from) + parts.current.rows.size >= MOST_SELECTED) {
      parts.current.onTooMany()
      return
    }
    void parts.current.load(Math.min(from, index), Math.max(from, index)).then(
      (between) =>
        setRows(
          (known) => new Map([...known, ...between.map((each) => [each.paymentId, each] as const)]),
        ),
      // What could not be read stays unpicked; the list itself says why.
      () => undefined,
    )
  }, [])

  const clear = useCallback(() => {
    anchor.current = undefined
    setRows(new Map())
  }, [])

  return useMemo(
    () => ({ rows, has: (paymentId) => rows.has(paymentId), toggle, clear }),
    [rows, toggle, clear],
  )
}
