import { useQuery } from '@tanstack/react-query'
import type { Session } from '#contract/dashboard-endpoints.ts'
import type { Role } from '#contract/role.ts'
import { callProxy } from './client.ts'
import { sessionQuery, type Viewer } from './queries.ts'
import { queryClient } from './query-client.ts'
import { clearSessionEnd } from './session-end.ts'

export type SessionState =
  | { kind: 'loading' }
  | { kind: 'failed'; error: Error; retry: () => void }
  /** `session` without a wallet belongs to a buyer who paid without signing in. */
  | { kind: 'known'; session: Session | null; viewer: Viewer | null }

export function useSession(): SessionState {
  const { data, error, refetch } = useQuery(sessionQuery)
  if (data !== undefined) return { kind: 'known', session: data, viewer: viewerOf(data) }
  if (error) return { kind: 'failed', error, retry: () => void refetch() }
  return { kind: 'loading' }
}

/** What the person may do in the account; null for a buyer, and until it is known. */
export function useRole(): Role | null {
  return useQuery(sessionQuery).data?.role ?? null
}

/** Whose payments a session shows: to people of the account all of it, anyone else's those of the wallets they proved. */
export function viewerOf(session: Session | null): Viewer | null {
  if (!session) return null
  if (session.role !== null) return { wallets: 'all' }
  return session.wallets.length > 0 ? { wallets: session.wallets } : null
}

export async function signOut(): Promise<void> {
  await callProxy('sessionDelete', {})
  await changeSession(null)
}

/** Nothing that one session read stays in view of another. */
export async function changeSession(session: Session | null): Promise<void> {
  await queryClient.cancelQueries()
  queryClient.removeQueries({
    predicate: ({ queryKey }) => queryKey[0] !== 'config' && queryKey[0] !== 'session',
  })
  queryClient.setQueryData(sessionQuery.queryKey, session)
  clearSessionEnd()
}
