import { useEffect, useLayoutEffect, useRef } from 'react'

export type RowKeys = {
  count: number
  /** Brings a row into sight, and the focus to it. */
  show: (index: number) => void
  pick: (index: number, extend: boolean) => void
  clear: () => void
}

/** `j` and `k` move the focus from row to row, `x` picks the row, with Shift all up to it; `/` goes to the search, Escape unpicks. Enter is the link's own. */
export function useRowKeys(keys: RowKeys): void {
  const latest = useRef(keys)
  useLayoutEffect(() => {
    latest.current = keys
  })
  useEffect(() => {
    function onKey(event: KeyboardEvent) {
      const { count, show, pick, clear } = latest.current
      if (count === 0 || event.metaKey || event.ctrlKey || event.altKey || isTyping(event.target))
        return
      const row = focusedRow()
      if (event.key === 'j' || event.key === 'k')
        show(nextRow(row, event.key === 'j' ? 1 : -1, count))
      else if ((event.key === 'x' || event.key === 'X') && row !== undefined)
        pick(row, event.shiftKey)
      else if (event.key === '/') document.querySelector<HTMLElement>('input[type=search]')?.focus()
      else if (event.key === 'Escape') return clear()
      else return
      event.preventDefault()
    }
    document.addEventListener('keydown', onKey)
    return () => document.removeEventListener('keydown', onKey)
  }, [])
}

/** The row after `from` in a direction; the first one when none has the focus. */
export function nextRow(from: number | undefined, step: 1 | -1, count: number): number {
  return from === undefined ? 0 : Math.max(0, Math.min(count - 1, from + step))
}

function focusedRow(): number | undefined {
  const index = document.activeElement?.closest<HTMLElement>('[data-index]')?.dataset['index']
  return index === undefined ? undefined : Number(index)
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof Element &&
    target.closest(
      'input:not([type=radio]):not([type=checkbox]), textarea, select, dialog, [popover], [contenteditable]',
    ) !== null
  )
}
