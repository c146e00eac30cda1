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

/** Resolves once the pause is over, at once without one. @throws the signal's reason when the asker no longer waits */
export function waitForPause(signal?: AbortSignal): Promise<void> {
  if (seconds === 0) return Promise.resolve()
  return new Promise((resolve, reject) => {
    const look = () => {
      if (!signal?.aborted && seconds > 0) return
      stop()
      signal?.removeEventListener('abort', look)
      if (signal?.aborted) reject(signal.reason as Error)
      else resolve()
    }
    const stop = subscribe(look)
    signal?.addEventListener('abort', look)
    look()
  })
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
