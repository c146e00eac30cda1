import { createStore } from '../local-data/store.ts'

const message = createStore('')

/** Says something to a screen reader once the current sentence is over. Short, and only what changed by itself. */
export function announce(text: string): void {
  // The same words twice would be no change, and a region speaks only on change.
  message.set(message.get() === text ? `${text}\u00a0` : text)
}

/** The one polite live region of the app. */
export function LiveRegion() {
  const text = message.use()
  return (
    <div aria-live="polite" className="sr-only" data-live-region>
      {text}
    </div>
  )
}
