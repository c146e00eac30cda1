import { useQuery } from '@tanstack/react-query'
import { nativeAsset, type Asset, type Network } from '#contract/network.ts'
import { balancesQuery } from './balance.ts'

export type PayerFunds = {
  held: (asset: string) => bigint | undefined
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
  const held = (wanted: string) => data?.find((each) => each.asset.address === wanted)?.atomic
  const own = asset && held(asset.address)
  const native = network && held(nativeAsset(network).address)
  return {
    held,
    balances: own === undefined || native === undefined ? undefined : { asset: own, native },
    loading: isLoading,
    unreadable: isError,
  }
}
