import type { Session } from '#contract/dashboard-endpoints.ts'
import { defaultNetwork } from '#contract/network.ts'
import { callProxy } from '../api/client.ts'
import { configQuery, sessionQuery } from '../api/queries.ts'
import { queryClient } from '../api/query-client.ts'
import { changeSession } from '../api/session.ts'
import type { ConnectedAccount } from '../wallet/state/accounts.ts'

/**
 * Proves a wallet to the proxy: fetches the exact text, has it signed, hands the signature back.
 * @throws ApiError, or the wallet's own refusal
 */
export async function signIn(account: ConnectedAccount): Promise<void> {
  const { networks } = await queryClient.ensureQueryData(configQuery)
  const network = defaultNetwork(networks, account.family)
  if (!network) throw new Error('No network is configured for this wallet.')
  const challenge = await callProxy('sessionChallenge', {
    body: { walletAddress: account.address, network: network.network },
  })
  const { signMessage } = await import('../wallet/load-adapter.ts')
  const signature = await signMessage(account, challenge.message)
  const { session } = await callProxy('sessionCreate', { body: { id: challenge.id, signature } })
  await acceptSession(session)
}

/** A session with one more wallet is the same one: pages keep what was typed, and read again. For any other they are emptied. */
export async function acceptSession(session: Session): Promise<void> {
  const before = queryClient.getQueryData(sessionQuery.queryKey)
  if (!before || !onlyGained(before, session)) return changeSession(session)
  await queryClient.cancelQueries()
  queryClient.setQueryData(sessionQuery.queryKey, session)
  void queryClient.invalidateQueries({
    predicate: ({ queryKey }) => queryKey[0] !== 'config' && queryKey[0] !== 'session',
  })
}

function onlyGained(before: Session, after: Session): boolean {
  return (
    before.wallets.length > 0 &&
    before.role === after.role &&
    before.wallets.every((wallet) => after.wallets.includes(wallet))
  )
}
