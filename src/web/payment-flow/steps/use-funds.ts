import { useQuery, queryOptions, skipToken } from '@tanstack/react-query'
import { nativeAsset, type Asset, type Network, familyOf } from '#contract/network.ts'
import { loadWalletAdapter } from '../../wallet/load-adapter.ts'

export type PayerFunds = {
  balanceOf: (asset: string) => bigint | undefined
  /** Of what is to be paid, and of the currency the fee is paid in. */
  balances: { asset: bigint; native: bigint } | undefined
  loading: boolean
  unreadable: boolean
}

/** What an account holds of a network's assets. */
export function useFunds(
  network: Network | undefined,
  address: string | undefined,
  asset: Asset | undefined,
): PayerFunds {
  const { data, isLoading, isError } = useQuery(balancesQuery(network, address))
  const balanceOf = (address: string) =>
    data?.find((each) => each.asset.address === address)?.atomic
  const own = asset && balanceOf(asset.address)
  const native = network && balanceOf(nativeAsset(network).address)
  return {
    balanceOf,
    balances: own === undefined || native === undefined ? undefined : { asset: own, native },
    loading: isLoading,
    unreadable: isError,
  }
}

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
