import { nativeAsset, type Network } from '#contract/network.ts'
import type { TokenInfo } from './chain.ts'

/** The network's own currency, as a token is told: nobody issues it, and its supply is in no account. */
export function nativeToken(network: Network): TokenInfo {
  const { address, name, symbol, decimals } = nativeAsset(network)
  return {
    address,
    standard: 'native',
    name,
    symbol,
    decimals,
    totalSupplyAtomic: null,
    mintAuthority: null,
    freezeAuthority: null,
    eip3009: false,
  }
}
