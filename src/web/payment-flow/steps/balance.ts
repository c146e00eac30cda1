import { queryOptions, skipToken } from '@tanstack/react-query'
import { familyOf, type Network } from '#contract/network.ts'
import { loadWalletAdapter } from '../../wallet/load-adapter.ts'

/** What an account holds of each of a network's assets, read through the user's RPC. */
export function balancesQuery(network: Network | undefined, address: string | undefined) {
  return queryOptions({
    queryKey: ['balances', network?.network, address],
    queryFn:
      network && address
        ? async () =>
            (await loadWalletAdapter(familyOf(network.network))).balances(network, address)
        : skipToken,
    refetchInterval: 10_000,
    retry: 1,
  })
}
