import { Connection } from '@solana/web3.js'
import type { Network } from '#contract/network.ts'
import { requestEndpoints } from '../../rpc/call.ts'

const TIMEOUT_MS = 10_000

/** A network's RPCs, the first one first; the next is asked only when one fails to answer. */
export type Rpc = <T>(request: (connection: Connection) => Promise<T>) => Promise<T>

export function connectRpc(network: Network): Rpc {
  const connections = new Map<string, Connection>()
  const connectionOf = (url: string) => {
    const connection =
      connections.get(url) ??
      new Connection(url, {
        commitment: 'confirmed',
        wsEndpoint: network.wsUrl,
        disableRetryOnRateLimit: true,
        fetch: (input, init) => fetch(input, { ...init, signal: AbortSignal.timeout(TIMEOUT_MS) }),
      })
    connections.set(url, connection)
    return connection
  }
  return (request) => requestEndpoints(network, (url) => request(connectionOf(url)))
}
