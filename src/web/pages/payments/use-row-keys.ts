import { useEffect } from 'react'

/** `j` and `k` move the focus from row to row; Enter then is the link's own. */
export function useRowKeys(count: number, show: (index: number) => void): void {
  useEffect(() => {
    function onKey(event: KeyboardEvent) {
      const step = event.key === 'j' ? 1 : event.key === 'k' ? -1 : 0
      if (!step || count === 0 || event.metaKey || event.ctrlKey || event.altKey || isTyping(event.target)) return
      event.preventDefault()
      const to = nextRow(focusedRow(), step, count)
      show(to)
      // The row may be drawn only now that it is in view.
      requestAnimationFrame(() => document.querySelector<HTMLElement>(`[data-index="${to}"] a`)?.focus())
    }
    document.addEventListener('keydown', onKey)
    return () => document.removeEventListener('keydown', onKey)
  }, [count, show])
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
  return target instanceof Element && target.closest('input:not([type=radio]):not([type=checkbox]), textarea, select, dialog, [contenteditable]') !== null
}
