import { queryOptions, useQuery } from '@tanstack/react-query'
import type { HostedWallet } from '#contract/hosted-endpoints.ts'
import type { PaymentStatusBody } from '#contract/payment-body.ts'
import { hasRole } from '#contract/role.ts'
import { callProxy } from './client.ts'
import { useSession } from './session.ts'

/** The managed wallets that an operator may pay from here; none where that is off. */
export const hostedWalletsQuery = queryOptions({
  queryKey: ['hostedWallets'],
  queryFn: async ({ signal }) => (await callProxy('hostedWallets', {}, { signal })).wallets,
  staleTime: 5_000,
})

/**
 * Those that a payment can be refunded from: of its asset, on its network, for what the account received. Undefined until they are known.
 */
export function useRefundWallets({
  network,
  asset,
  direction,
  recipient,
}: Pick<PaymentStatusBody, 'network' | 'asset' | 'direction' | 'recipient'>):
  | readonly HostedWallet[]
  | undefined {
  const session = useSession()
  const operator = session.kind === 'known' && hasRole(session.session?.role, 'operator')
  const { data, isLoading } = useQuery({ ...hostedWalletsQuery, enabled: operator })
  if (isLoading || session.kind === 'loading') return undefined
  return (data ?? []).filter(
    (each) =>
      each.network === network &&
      each.asset === asset &&
      (direction === 'received' || each.wallet === recipient),
  )
}
