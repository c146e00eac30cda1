import { useQuery } from '@tanstack/react-query'
import type { Session } from '#contract/desk-endpoints.ts'
import { defaultNetwork } from '#contract/network.ts'
import { signMessage, type ConnectedAccount } from '../wallet/accounts.ts'
import { callProxy } from './client.ts'
import { configQuery, sessionQuery, type Viewer } from './queries.ts'
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

/** Whose payments a session shows: an operator's the account's, anyone else's those of the wallets they proved. */
export function viewerOf(session: Session | null): Viewer | null {
  if (!session) return null
  if (session.operator) return { wallets: 'all' }
  return session.wallets.length > 0 ? { wallets: session.wallets } : null
}

/**
 * Proves a wallet to the proxy: fetches the exact text, has it signed, hands the signature back.
 * @throws ApiError, or the wallet's own refusal
 */
export async function signIn(account: ConnectedAccount): Promise<void> {
  const { networks } = await queryClient.ensureQueryData(configQuery)
  const network = defaultNetwork(networks, account.family)
  if (!network) throw new Error('This desk has no network for that wallet.')
  const challenge = await callProxy('sessionChallenge', { body: { walletAddress: account.address, network: network.network } })
  const signature = await signMessage(account, challenge.message)
  const { session } = await callProxy('sessionCreate', { body: { id: challenge.id, signature } })
  await changeSession(session)
}

export async function signOut(): Promise<void> {
  await callProxy('sessionDelete', {})
  await changeSession(null)
}

/** Nothing that one session read stays in view of another. */
async function changeSession(session: Session | null): Promise<void> {
  await queryClient.cancelQueries()
  queryClient.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'config' && queryKey[0] !== 'session' })
  queryClient.setQueryData(sessionQuery.queryKey, session)
  clearSessionEnd()
}
