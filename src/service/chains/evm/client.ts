import { createPublicClient, http, type HttpTransportConfig, type PublicClient } from 'viem'
import { chainIdOf, type Network } from '#contract/network.ts'
import { openAll, type OpenedEndpoints } from '../broadcast.ts'
import { requireSince, type ChainClock, type Head } from '../chain.ts'
import { observedFetch, type ChainObserver } from '../endpoints.ts'

const TIMEOUT_MS = 5_000
/** Requests in one batch: what the strictest public nodes take. */
const BATCH_SIZE = 10

/** `batched` sends the requests of one moment as one HTTP request. Not every node takes that: only for what can be asked one by one, too. */
export type EvmRpcClient = PublicClient & { batched: PublicClient }
export type EvmEndpoints = OpenedEndpoints<EvmRpcClient>

/** JSON-RPC clients of a network; none retries by itself, so that the time a caller waits is bounded here. */
export function openEndpoints(network: Network, observer: ChainObserver): EvmEndpoints {
  const fetchFn = observedFetch(network.network, observer)
  const expected = chainIdOf(network.network)
  return openAll({
    name: network.name,
    urls: network.rpcUrls,
    connect: (url): EvmRpcClient =>
      connect(url, { fetchFn, batch: false }).extend(() => ({
        batched: connect(url, { fetchFn, batch: { batchSize: BATCH_SIZE } }),
      })),
    identify: async (client) => {
      const got = await client.getChainId()
      if (got !== expected) throw new Error(`Expected chain ${expected}, the node says ${got}.`)
    },
  })
}

/** A contract chooses the URLs of an offchain lookup (EIP-3668), and any caller may name a contract: the service asks none of them. */
function connect(
  url: string,
  options: Pick<HttpTransportConfig, 'fetchFn' | 'batch'>,
): PublicClient {
  return createPublicClient({
    transport: http(url, { timeout: TIMEOUT_MS, retryCount: 0, ...options }),
    cacheTime: 0,
    ccipRead: false,
  })
}

/** Latest and finalized height; block height and height are the same here. */
export function readHead(endpoints: EvmEndpoints): Promise<Head> {
  return endpoints.request(readHeadOf)
}

/** The node that a head was read from. */
const headSources = new WeakMap<Head, PublicClient>()

/** Whether a head was read from this node: then it has all blocks up to it. */
export function isHeadOf(client: PublicClient, head: Head): boolean {
  return headSources.get(head) === client
}

/** The same, as one node tells it. */
export async function readHeadOf(client: PublicClient): Promise<Head> {
  const [height, finalized] = await Promise.all([
    client.getBlockNumber(),
    client.getBlock({ blockTag: 'finalized' }),
  ])
  const [blockHeight, finalizedBlockHeight] = [Number(height), Number(finalized.number)]
  const head = {
    height: blockHeight,
    finalizedHeight: finalizedBlockHeight,
    blockHeight,
    finalizedBlockHeight,
  }
  headSources.set(head, client)
  return head
}

/** The same, of a node whose newest block is not older than `time`. */
export function readHeadSince(endpoints: EvmEndpoints, time: Date): Promise<Head> {
  return endpoints.request(async (client) => {
    const [head, finalized] = await readTips(client)
    requireSince(timeOf(head), time)
    const [height, finalizedHeight] = [Number(head.number), Number(finalized.number)]
    return {
      height,
      finalizedHeight,
      blockHeight: height,
      finalizedBlockHeight: finalizedHeight,
    }
  })
}

/** The times of the newest and of the newest final block, and the height of the newest one. */
export function readClock(endpoints: EvmEndpoints): Promise<ChainClock & { height: number }> {
  return endpoints.requestSoon(async (client) => {
    const [head, finalized] = await readTips(client)
    return { head: timeOf(head), finalized: timeOf(finalized), height: Number(head.number) }
  })
}

function readTips(client: PublicClient) {
  return Promise.all([
    client.getBlock({ blockTag: 'latest' }),
    client.getBlock({ blockTag: 'finalized' }),
  ])
}

function timeOf({ timestamp }: { timestamp: bigint }): Date {
  return new Date(Number(timestamp) * 1000)
}
