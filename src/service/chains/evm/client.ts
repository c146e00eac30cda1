import { createPublicClient, http, type PublicClient } from 'viem'
import { chainIdOf, type Network } from '#contract/network.ts'
import { RpcEndpoints } from '../endpoints.ts'
import { observedFetch, type ChainObserver } from '../observer.ts'

const TIMEOUT_MS = 5_000

export type EvmEndpoints = RpcEndpoints<PublicClient>

/** JSON-RPC clients of a network; none retries by itself, so that the time a caller waits is bounded here. */
export function openEndpoints(network: Network, observer: ChainObserver): EvmEndpoints {
  const fetchFn = observedFetch(network.network, observer)
  const expected = chainIdOf(network.network)
  return new RpcEndpoints({
    name: network.name,
    urls: network.rpcUrls,
    // A contract chooses the URLs of an offchain lookup (EIP-3668), and any caller may name a contract: the service asks none of them.
    connect: (url): PublicClient =>
      createPublicClient({
        transport: http(url, { timeout: TIMEOUT_MS, retryCount: 0, fetchFn }),
        cacheTime: 0,
        ccipRead: false,
      }),
    identify: async (client) => {
      const got = await client.getChainId()
      if (got !== expected) throw new Error(`Expected chain ${expected}, the node says ${got}.`)
    },
  })
}
