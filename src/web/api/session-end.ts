import type { Session } from '#contract/dashboard-endpoints.ts'
import { createStore } from '../local-data/store.ts'

/** Whether a session ended without this tab having asked for it: by time, in another tab, or by another device. */

const ended = createStore(false)

/** Compares what was known with what the proxy says now. */
export function noteSession(before: Session | null | undefined, now: Session | null): void {
  ended.set(isSignedIn(now) ? false : ended.get() || isSignedIn(before))
}

/** Signed in or out by hand. */
export function clearSessionEnd(): void {
  ended.set(false)
}

export const useSessionEnded = ended.use

/** A buyer who paid without signing in has a session as well. */
function isSignedIn(session: Session | null | undefined): boolean {
  return session !== null && session !== undefined && session.wallets.length > 0
}
