import type { PublicClient } from 'viem'
import type { Head } from '../chain.ts'
import type { EvmEndpoints } from './client.ts'

/** Latest and finalized height; block height and height are the same here. */
export function readHead(endpoints: EvmEndpoints): Promise<Head> {
  return endpoints.ask(readHeadOf)
}

/** The same, as one node tells it. */
export async function readHeadOf(client: PublicClient): Promise<Head> {
  const [height, finalized] = await Promise.all([client.getBlockNumber(), client.getBlock({ blockTag: 'finalized' })])
  const head = { height: Number(height), finalizedHeight: Number(finalized.number) }
  return { ...head, blockHeight: head.height, finalizedBlockHeight: head.finalizedHeight }
}
