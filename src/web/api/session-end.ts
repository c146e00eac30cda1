import { useSyncExternalStore } from 'react'
import type { Session } from '#contract/dashboard-endpoints.ts'

/** Whether a session ended without this tab having asked for it: by time, in another tab, or by another device. */

let ended = false
const listeners = new Set<() => void>()

/** Compares what was known with what the proxy says now. */
export function noteSession(before: Session | null | undefined, now: Session | null): void {
  set(isSignedIn(now) ? false : ended || isSignedIn(before))
}

/** Signed in or out by hand. */
export function clearSessionEnd(): void {
  set(false)
}

export function useSessionEnded(): boolean {
  return useSyncExternalStore(subscribe, () => ended)
}

/** A buyer who paid without signing in has a session as well. */
function isSignedIn(session: Session | null | undefined): boolean {
  return session !== null && session !== undefined && session.wallets.length > 0
}

function set(next: boolean): void {
  if (next === ended) return
  ended = next
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
