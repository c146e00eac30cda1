import { useEffect } from 'react'
import { createStore } from '../local-data/store.ts'
import { nextLiveState, type LiveSignal, type LiveState } from './live-state.ts'

const state = createStore<LiveState>({ kind: 'off' })

export const useLiveState = state.use

export const liveState = state.get

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
  const next = nextLiveState(state.get(), what, Date.now())
  if (next !== state.get()) state.set(next)
}
