import type { Address, PublicClient } from 'viem'
import { encodeBalanceOf, readBalance } from '#chains/evm/trial.ts'
import type { Network } from '#contract/network.ts'
import type { AssetBalance } from '../state/wallet-adapter.ts'

/** What an account holds of each of the network's assets, in their order. */
export function readBalances(
  client: PublicClient,
  network: Network,
  address: string,
): Promise<AssetBalance[]> {
  return Promise.all(
    network.assets.map(async (asset) => {
      if (asset.native)
        return { asset, atomic: await client.getBalance({ address: address as Address }) }
      const { data } = await client.call({
        to: asset.address as Address,
        data: encodeBalanceOf(address),
      })
      return { asset, atomic: readBalance(data) ?? 0n }
    }),
  )
}
