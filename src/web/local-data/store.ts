import { useSyncExternalStore } from 'react'

/** A value outside React that components show and follow. */
export type Store<T> = {
  get: () => T
  /** Tells all who subscribed, even where the value is the same. */
  set: (value: T) => void
  /** Answers with the way to end it. */
  subscribe: (listener: () => void) => () => void
  use: () => T
}

/** A value of this tab, until it is closed. */
export function createStore<T>(initial: T): Store<T> {
  let current = initial
  const listeners = new Set<() => void>()
  const get = () => current
  const subscribe = (listener: () => void) => {
    listeners.add(listener)
    return () => listeners.delete(listener)
  }
  return {
    get,
    set: (value) => {
      current = value
      for (const listener of listeners) listener()
    },
    subscribe,
    use: () => useSyncExternalStore(subscribe, get),
  }
}

/**
 * A value that this browser keeps between visits, in `localStorage`, the same in all tabs. `parse` takes what is stored, or nothing, or garbage, and always
 * answers with a value.
 */
export function createBrowserStore<T>(key: string, parse: (text: string | null) => T): Store<T> {
  const store = createStore(parse(readText(key)))
  if (typeof window !== 'undefined') {
    window.addEventListener('storage', (event) => {
      if (event.key === key) store.set(parse(event.newValue))
    })
  }
  return {
    ...store,
    set: (value) => {
      try {
        localStorage.setItem(key, JSON.stringify(value))
      } catch {
        // A browser that keeps nothing still has it for this visit.
      }
      store.set(value)
    },
  }
}

function readText(key: string): string | null {
  try {
    return localStorage.getItem(key)
  } catch {
    return null
  }
}
