import { familyOf, type Network, type NetworkId } from '#contract/network.ts'
import type { Chain } from './chains/chain.ts'
import { openEvmChain } from './chains/evm/chain.ts'
import { openSolanaChain } from './chains/solana/chain.ts'

/** The chains of a configuration, by network. None is asked yet: a chain that is down does not stop the service from starting. */
export function createChains(networks: readonly Network[]): Map<NetworkId, Chain> {
  return new Map(
    networks.map((network) => [
      network.network,
      familyOf(network.network) === 'evm' ? openEvmChain(network) : openSolanaChain(network),
    ]),
  )
}
