import { createStore } from '../local-data/store.ts'

const seconds = createStore(0)
let until = 0
let timer: ReturnType<typeof setInterval> | undefined

/** Notes that the proxy asked this browser to wait, in seconds. A shorter wait never ends a longer one. */
export function notePause(wait: number): void {
  until = Math.max(until, Date.now() + wait * 1000)
  timer ??= setInterval(count, 1000)
  count()
}

/** Whole seconds until the proxy may be asked again; 0 when it may. */
export const pauseSeconds = seconds.get

export const usePauseSeconds = seconds.use

/** Resolves once the pause is over, at once without one. @throws the signal's reason when the asker no longer waits */
export function waitForPause(signal?: AbortSignal): Promise<void> {
  if (seconds.get() === 0) return Promise.resolve()
  return new Promise((resolve, reject) => {
    const look = () => {
      if (!signal?.aborted && seconds.get() > 0) return
      stop()
      signal?.removeEventListener('abort', look)
      if (signal?.aborted) reject(signal.reason as Error)
      else resolve()
    }
    const stop = seconds.subscribe(look)
    signal?.addEventListener('abort', look)
    look()
  })
}

function count(): void {
  const left = Math.max(0, Math.ceil((until - Date.now()) / 1000))
  if (left === 0) {
    clearInterval(timer)
    timer = undefined
    // A clock that is set back must not bring it back.
    until = 0
  }
  seconds.set(left)
}
