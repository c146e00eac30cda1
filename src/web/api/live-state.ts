/** How fresh what is on screen is. `since` is when it was last known to be. Unix milliseconds. */
export type LiveState =
  | { kind: 'off' }
  | { kind: 'connecting'; since: number }
  | { kind: 'live' }
  | { kind: 'reconnecting'; since: number }
  | { kind: 'stale'; since: number }

export type LiveSignal = 'start' | 'open' | 'lost' | 'tick' | 'stop'

/** A short gap is nobody's business; from here on the reader is told since when. */
export const STALE_AFTER_MS = 15_000

export function nextLiveState(state: LiveState, signal: LiveSignal, now: number): LiveState {
  switch (signal) {
    case 'start':
      return { kind: 'connecting', since: now }
    case 'open':
      return { kind: 'live' }
    case 'stop':
      return { kind: 'off' }
    case 'lost':
      return state.kind === 'live' || state.kind === 'connecting'
        ? { kind: 'reconnecting', since: now }
        : state
    case 'tick':
      return (state.kind === 'reconnecting' || state.kind === 'connecting') &&
        now - state.since >= STALE_AFTER_MS
        ? { kind: 'stale', since: state.since }
        : state
  }
}
