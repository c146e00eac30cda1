import { queryOptions, skipToken } from '@tanstack/react-query'
import { familyOf, type Network } from '#contract/network.ts'
import { loadStack } from '../../wallet/stack.ts'

/** What an account holds of a network's native currency, read through the user's RPC. */
export function balanceQuery(network: Network | undefined, address: string | undefined) {
  return queryOptions({
    queryKey: ['balance', network?.network, address],
    queryFn: network && address ? async () => (await loadStack(familyOf(network.network))).balance(network, address) : skipToken,
    refetchInterval: 10_000,
    retry: 1,
  })
}
