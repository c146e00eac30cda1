import { setTimeout } from 'node:timers/promises'
import type { BroadcastResult } from './chain.ts'
import { RpcEndpoints, type EndpointsOptions } from './endpoints.ts'

/** A network's RPC endpoints, and the clients of all of them. */
export type OpenedEndpoints<Client> = RpcEndpoints<Client> & { clients: readonly Client[] }

export function openAll<Client>(options: EndpointsOptions<Client>): OpenedEndpoints<Client> {
  const clients: Client[] = []
  const connect = (url: string) => {
    const client = options.connect(url)
    clients.push(client)
    return client
  }
  return Object.assign(new RpcEndpoints({ ...options, connect }), { clients })
}

/** How long an accepted transaction waits for the answers of the other endpoints, in milliseconds. */
const KNOWN_WITHIN_MS = 500

/**
 * Sends signed bytes to every endpoint at once: one that takes them may not pass them on. The answer
 * is that of the first endpoint that can be reached; where it refuses, one that accepts is enough.
 * @throws ProblemError `CHAIN_UNAVAILABLE` when no endpoint answers
 */
export async function broadcastToAll<Client>(
  endpoints: OpenedEndpoints<Client>,
  send: (client: Client) => Promise<BroadcastResult>,
): Promise<BroadcastResult> {
  const others = new Map<Client, Promise<BroadcastResult | undefined>>()
  const answer = await endpoints.request((client) => {
    for (const other of endpoints.clients)
      if (other !== client && !others.has(other))
        others.set(
          other,
          send(other).catch(() => undefined),
        )
    return send(client)
  })
  const rest = Promise.all(others.values())
  if (!answer.accepted) return (await rest).find((each) => each?.accepted) ?? answer
  // Whichever endpoint is asked next knows it then, unless it is slow.
  await Promise.race([rest, setTimeout(KNOWN_WITHIN_MS, undefined, { ref: false })])
  return answer
}
