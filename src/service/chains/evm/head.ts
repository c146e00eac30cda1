import type { PublicClient } from 'viem'
import type { ChainClock, Head } from '../chain.ts'
import type { EvmEndpoints } from './client.ts'

/** Latest and finalized height; block height and height are the same here. */
export function readHead(endpoints: EvmEndpoints): Promise<Head> {
  return endpoints.ask(readHeadOf)
}

/** The same, as one node tells it. */
export async function readHeadOf(client: PublicClient): Promise<Head> {
  const [height, finalized] = await Promise.all([
    client.getBlockNumber(),
    client.getBlock({ blockTag: 'finalized' }),
  ])
  const head = { height: Number(height), finalizedHeight: Number(finalized.number) }
  return { ...head, blockHeight: head.height, finalizedBlockHeight: head.finalizedHeight }
}

/** The times of the newest and of the newest final block, and the height of the newest one. */
export function readClock(endpoints: EvmEndpoints): Promise<ChainClock & { height: number }> {
  return endpoints.ask(async (client) => {
    const [head, finalized] = await Promise.all([
      client.getBlock({ blockTag: 'latest' }),
      client.getBlock({ blockTag: 'finalized' }),
    ])
    return {
      head: new Date(Number(head.timestamp) * 1000),
      finalized: new Date(Number(finalized.timestamp) * 1000),
      height: Number(head.number),
    }
  })
}
