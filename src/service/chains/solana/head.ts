import type { Head } from '../chain.ts'
import type { SolanaEndpoints } from './client.ts'

/** Slots, and beside them block heights: a skipped slot has no block. */
export function readHead(endpoints: SolanaEndpoints): Promise<Head> {
  return endpoints.ask(async (connection) => {
    const [height, finalizedHeight, blockHeight, finalizedBlockHeight] = await Promise.all([
      connection.getSlot('confirmed'),
      connection.getSlot('finalized'),
      connection.getBlockHeight('confirmed'),
      connection.getBlockHeight('finalized'),
    ])
    return { height, finalizedHeight, blockHeight, finalizedBlockHeight }
  })
}
