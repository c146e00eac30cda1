import { useSyncExternalStore } from 'react'

/** Something this browser keeps between visits, in `localStorage`: read by all tabs, told to all of them when it changes. */
export type BrowserStore<T> = {
  get: () => T
  /** Keeps a new value. Where the browser stores nothing, it holds for this visit. */
  set: (value: T) => void
  subscribe: (listener: () => void) => () => void
  use: () => T
}

/** `parse` takes what is stored, or nothing, or garbage, and always answers with a value. */
export function browserStore<T>(key: string, parse: (text: string | null) => T): BrowserStore<T> {
  let current = parse(readText(key))
  const listeners = new Set<() => void>()
  const notify = () => {
    for (const listener of listeners) listener()
  }
  const subscribe = (listener: () => void) => {
    listeners.add(listener)
    return () => listeners.delete(listener)
  }
  if (typeof window !== 'undefined') {
    window.addEventListener('storage', (event) => {
      if (event.key !== key) return
      current = parse(event.newValue)
      notify()
    })
  }
  return {
    get: () => current,
    set: (value) => {
      current = value
      try {
        localStorage.setItem(key, JSON.stringify(value))
      } catch {
        // A browser that keeps nothing still has it for this visit.
      }
      notify()
    },
    subscribe,
    use: () => useSyncExternalStore(subscribe, () => current),
  }
}

function readText(key: string): string | null {
  try {
    return localStorage.getItem(key)
  } catch {
    return null
  }
}
