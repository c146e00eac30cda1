import {
  createPublicClient,
  http,
  type Hex,
  type HttpTransportConfig,
  type PublicClient,
} from 'viem'
import { chainIdOf, type Network } from '#contract/network.ts'
import { openAll, type OpenedEndpoints } from '../broadcast.ts'
import { requireSince, type ChainClock, type Head } from '../chain.ts'
import { BATCH_SIZE, batchingFetch, type RpcQuestion } from '../batching-fetch.ts'
import { observedFetch, type ChainObserver } from '../endpoints.ts'

const TIMEOUT_MS = 5_000
/** What has a small answer, and executes no code that the owner of an account chose. */
const SMALL: ReadonlySet<string> = new Set([
  'eth_blockNumber',
  'eth_feeHistory',
  'eth_getBalance',
  'eth_getBlockByNumber',
  'eth_getCode',
  'eth_getTransactionByHash',
  'eth_getTransactionCount',
  'eth_getTransactionReceipt',
])

/**
 * `batched` sends whatever is asked at one moment as one HTTP request. Not every node takes that: only for what can be asked one by one, too. `together` opens a
 * client that does so for one caller alone, and asks one by one where the node takes no batch: for what all decides together, whatever code it executes.
 */
export type EvmRpcClient = PublicClient & { batched: PublicClient; together: () => PublicClient }
export type EvmEndpoints = OpenedEndpoints<EvmRpcClient>

/** JSON-RPC clients of a network; none retries by itself, so that the time a caller waits is bounded here. */
export function openEndpoints(network: Network, observer: ChainObserver): EvmEndpoints {
  const fetchFn = observedFetch(network.network, observer)
  const expected = chainIdOf(network.network)
  return openAll({
    name: network.name,
    urls: network.rpcUrls,
    connect: (url): EvmRpcClient => {
      const batching = batchingFetch(fetchFn, isSmall)
      return connect(url, { fetchFn: batching, batch: false }).extend(() => ({
        batched: connect(url, { fetchFn, batch: { batchSize: BATCH_SIZE } }),
        together: () => connect(url, { fetchFn: batching.together(), batch: false }),
      }))
    },
    identify: async (client) => {
      const got = await client.getChainId()
      if (got !== expected) throw new Error(`Expected chain ${expected}, the node says ${got}.`)
    },
  })
}

function isSmall({ method, params: [, whole] }: RpcQuestion): boolean {
  return SMALL.has(method) && !(method === 'eth_getBlockByNumber' && whole === true)
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

/** The node that a head was read from. */
const headSources = new WeakMap<Head, PublicClient>()

/** The node that told a head. */
export function sourceOf(head: Head): PublicClient | undefined {
  return headSources.get(head)
}

/** Whether a head was read from this node: then it has all blocks up to it. */
export function isHeadOf(client: PublicClient, head: Head): boolean {
  return headSources.get(head) === client
}

/** Heights and times of the newest and of the newest final block, and the hashes of the newest; block height and height are the same here. */
export type Tip = Head & ChainClock & { hash: Hex; parentHash: Hex; timestamp: bigint }

/** As one node tells them. */
export async function readTipOf(client: PublicClient): Promise<Tip> {
  const [head, finalized] = await Promise.all([
    client.getBlock({ blockTag: 'latest' }),
    client.getBlock({ blockTag: 'finalized' }),
  ])
  const [height, finalizedHeight] = [Number(head.number), Number(finalized.number)]
  const tip = {
    height,
    finalizedHeight,
    blockHeight: height,
    finalizedBlockHeight: finalizedHeight,
    head: timeOf(head),
    finalized: timeOf(finalized),
    hash: head.hash,
    parentHash: head.parentHash,
    timestamp: head.timestamp,
  }
  headSources.set(tip, client)
  return tip
}

/** The same, of a node whose newest block is not older than `time`. */
export function readHeadSince(endpoints: EvmEndpoints, time: Date): Promise<Head> {
  return endpoints.request(async (client) => {
    const tip = await readTipOf(client)
    requireSince(tip.head, time)
    return tip
  })
}

function timeOf({ timestamp }: { timestamp: bigint }): Date {
  return new Date(Number(timestamp) * 1000)
}
