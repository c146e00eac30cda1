import { useEffect, useRef, type FocusEvent } from 'react'

const CONTROLS = ':is(a[href],button,input,select,textarea,summary):not(:disabled,[tabindex="-1"])'

/**
 * For the element around a list, to be spread on it: when the control that has the focus goes with its row, the one that takes its place gets the focus.
 * Otherwise whoever works by keyboard would be sent to the top of the page.
 */
export function useKeptFocus() {
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
      // Whoever left by themselves is not brought back when the control goes later; one that goes now is gone by then.
      queueMicrotask(() => {
        if (control.isConnected && last.current?.control === control) last.current = undefined
      })
    },
  }
}

/** Those of a dialog are not the list's own: they go when it closes. */
function controlsIn(list: HTMLElement): HTMLElement[] {
  return [...list.querySelectorAll<HTMLElement>(CONTROLS)].filter(
    (control) => !control.closest('dialog'),
  )
}
