/**
 * The focus after a change of page. It goes to the new page's heading, however late that comes, so that a screen reader reads it and
 * Tab starts there; unless the reader has moved the focus meanwhile.
 */
let pendingFocus: { from: Element | null } | undefined

/** A new page is on its way. */
export function wantHeading(): void {
  pendingFocus = { from: document.activeElement }
}

/** A heading stands: it takes the focus if one is waited for. When it goes while it has the focus, its successor inherits it. */
export function arriveAtHeading(heading: HTMLElement | null): (() => void) | undefined {
  if (!heading) return undefined
  const untouched =
    document.activeElement === document.body || document.activeElement === pendingFocus?.from
  if (pendingFocus && untouched) heading.focus({ preventScroll: true })
  pendingFocus = undefined
  return () => {
    if (document.activeElement === heading) pendingFocus = { from: document.body }
  }
}
