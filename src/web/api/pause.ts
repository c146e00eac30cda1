import { useSyncExternalStore } from 'react'

let until = 0
let seconds = 0
let timer: ReturnType<typeof setInterval> | undefined
const listeners = new Set<() => void>()

/** Notes that the proxy asked this browser to wait, in seconds. A shorter wait never ends a longer one. */
export function notePause(wait: number): void {
  until = Math.max(until, Date.now() + wait * 1000)
  timer ??= setInterval(count, 1000)
  count()
}

/** Whole seconds until the proxy may be asked again; 0 when it may. */
export function pauseSeconds(): number {
  return seconds
}

export function usePauseSeconds(): number {
  return useSyncExternalStore(subscribe, pauseSeconds)
}

function count(): void {
  seconds = Math.max(0, Math.ceil((until - Date.now()) / 1000))
  if (seconds === 0) {
    clearInterval(timer)
    timer = undefined
  }
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
