import { Connection } from '@solana/web3.js'
import type { Network } from '#contract/network.ts'

const TIMEOUT_MS = 10_000

/** A network's RPCs, the first one first; the next is asked only when one fails to answer. */
export type Rpc = <T>(ask: (connection: Connection) => Promise<T>) => Promise<T>

export function connectRpc(network: Network): Rpc {
  const connections = network.rpcUrls.map(
    (url) =>
      new Connection(url, {
        commitment: 'confirmed',
        wsEndpoint: network.wsUrl,
        disableRetryOnRateLimit: true,
        fetch: (input, init) => fetch(input, { ...init, signal: AbortSignal.timeout(TIMEOUT_MS) }),
      }),
  )
  return async (ask) => {
    let failure: unknown
    for (const connection of connections) {
      try {
        return await ask(connection)
      } catch (error) {
        failure = error
      }
    }
    throw failure
  }
}
