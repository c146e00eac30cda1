import type { Asset, Network } from '#contract/network.ts'

/** The configured asset that a payment moves. */
export function assetOf(network: Network, { asset: address }: { asset: string }): Asset {
  const asset = network.assets.find((candidate) => candidate.address === address)
  if (!asset)
    throw new Error(`The asset ${address} is not configured on ${network.network} any more.`)
  return asset
}
