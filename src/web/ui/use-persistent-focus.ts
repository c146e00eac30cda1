import { useEffect, useRef, type FocusEvent } from 'react'

const CONTROLS = ':is(a[href],button,input,select,textarea,summary):not(:disabled,[tabindex="-1"])'

/**
 * Props for the element around a list: when the focused control disappears with its row, the
 * control that takes its position gets the focus. Otherwise keyboard users would be sent to the top
 * of the page.
 */
export function usePersistentFocus() {
  const last = useRef<{ list: HTMLElement; control: HTMLElement; place: number }>(undefined)
  useEffect(() => {
    if (
      !last.current ||
      last.current.control.isConnected ||
      document.activeElement !== document.body
    )
      return
    const { list, place } = last.current
    const left = controlsIn(list)
    left[Math.min(place, left.length - 1)]?.focus()
  })
  return {
    onFocus({ currentTarget: list, target: control }: FocusEvent<HTMLElement>) {
      const place = controlsIn(list).indexOf(control)
      if (place >= 0) last.current = { list, control, place }
    },
    onBlur({ target: control, relatedTarget: next }: FocusEvent<HTMLElement>) {
      if (next?.closest('dialog')) return
      // Someone who moved the focus away is not brought back when the control disappears later; a
      // control removed now is already gone by then.
      queueMicrotask(() => {
        if (control.isConnected && last.current?.control === control) last.current = undefined
      })
    },
  }
}

/** Controls of a dialog are not the list's own: they disappear when it closes. */
function controlsIn(list: HTMLElement): HTMLElement[] {
  return [...list.querySelectorAll<HTMLElement>(CONTROLS)].filter(
    (control) => !control.closest('dialog'),
  )
}
