import { useSyncExternalStore } from 'react'

let message = ''
const listeners = new Set<() => void>()

/** Says something to a screen reader once the current sentence is over. Short, and only what changed by itself. */
export function announce(text: string): void {
  // The same words twice would be no change, and a region speaks only on change.
  message = message === text ? `${text}\u00a0` : text
  for (const listener of listeners) listener()
}

/** The one polite live region of the app. */
export function LiveRegion() {
  const text = useSyncExternalStore(subscribe, () => message)
  return (
    <div aria-live="polite" className="sr-only" data-live-region>
      {text}
    </div>
  )
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
