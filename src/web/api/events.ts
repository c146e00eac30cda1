import { useEffect, useSyncExternalStore } from 'react'
import { nextLiveState, type LiveSignal, type LiveState } from './live-state.ts'

let state: LiveState = { kind: 'off' }
const listeners = new Set<() => void>()

export function useLiveState(): LiveState {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => state,
  )
}

export function liveState(): LiveState {
  return state
}

/** Keeps what is on screen live for as long as `who` is the same reader; nothing while it is null. What follows the stream comes once someone is known. */
export function useLiveEvents(who: string | null): void {
  useEffect(() => {
    if (who === null) return undefined
    let stop: (() => void) | undefined
    let left = false
    signal('start')
    import('./event-stream.ts').then(
      ({ startEvents }) => {
        if (!left) stop = startEvents(who)
      },
      () => signal('lost'),
    )
    return () => {
      left = true
      if (stop) stop()
      else signal('stop')
    }
  }, [who])
}

export function signal(what: LiveSignal): void {
  const next = nextLiveState(state, what, Date.now())
  if (next === state) return
  state = next
  for (const listener of listeners) listener()
}
