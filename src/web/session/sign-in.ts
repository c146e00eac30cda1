import { defaultNetwork } from '#contract/network.ts'
import { callProxy } from '../api/client.ts'
import { configQuery } from '../api/queries.ts'
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
  await changeSession(session)
}
