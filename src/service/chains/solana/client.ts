import { Connection } from '@solana/web3.js'
import type { Network } from '#contract/network.ts'
import { RpcEndpoints } from '../endpoints.ts'
import { observedFetch, type ChainObserver } from '../observer.ts'

const TIMEOUT_MS = 5_000

export type SolanaEndpoints = RpcEndpoints<Connection>

/** JSON-RPC clients of a network; none retries by itself, so that the time a caller waits is bounded here. */
export function openEndpoints(network: Network, observer: ChainObserver): SolanaEndpoints {
  const ask = observedFetch(network.network, observer)
  return new RpcEndpoints({
    name: network.name,
    urls: network.rpcUrls,
    connect: (url) => connect(url, ask),
    identify: (connection) => identify(connection, network),
  })
}

function connect(url: string, ask: typeof fetch): Connection {
  return new Connection(url, {
    commitment: 'confirmed',
    disableRetryOnRateLimit: true,
    fetch: (input, init) => ask(input, { ...init, signal: AbortSignal.timeout(TIMEOUT_MS) }),
  })
}

/** The genesis hash is pinned where the configuration names it; the name of the network alone is no proof, since a private cluster may go by it. */
async function identify(connection: Connection, { genesisHash }: Network): Promise<void> {
  if (genesisHash === undefined) return
  const got = await connection.getGenesisHash()
  if (got !== genesisHash)
    throw new Error(`Expected the cluster of genesis ${genesisHash}, the node says ${got}.`)
}
