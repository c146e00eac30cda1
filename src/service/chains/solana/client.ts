import { Connection, type VersionedTransaction } from '@solana/web3.js'
import * as v from 'valibot'
import type { Network } from '#contract/network.ts'
import { MAX_RESPONSE_LENGTH } from '#contract/reasons.ts'
import { openAll, type OpenedEndpoints } from '../broadcast.ts'
import { batchingFetch, type RpcQuestion } from '../batching-fetch.ts'
import { observedFetch, type ChainObserver } from '../endpoints.ts'

const TIMEOUT_MS = 5_000
const SMALL: ReadonlySet<string> = new Set([
  'getBalance',
  'getBlockHeight',
  'getEpochInfo',
  'getLatestBlockhash',
  'getMinimumBalanceForRentExemption',
  'getRecentPrioritizationFees',
  'getSignatureStatuses',
  'getSlot',
])
/** Whose answer the owner of an account makes large, unless a part of it is asked for. */
const OF_ACCOUNTS: ReadonlySet<string> = new Set(['getAccountInfo', 'getMultipleAccounts'])
const Sliced = v.looseObject({ dataSlice: v.object({ offset: v.number(), length: v.number() }) })

/** `together` opens a client for one caller alone: whatever it reads or runs at one moment is one request. */
export type SolanaRpcClient = Connection & { together: () => Connection }
export type SolanaEndpoints = OpenedEndpoints<SolanaRpcClient>

/** JSON-RPC clients of a network; none retries by itself, so that the time a caller waits is bounded here. */
export function openEndpoints(network: Network, observer: ChainObserver): SolanaEndpoints {
  const fetcher = observedFetch(network.network, observer)
  return openAll({
    name: network.name,
    urls: network.rpcUrls,
    connect: (url): SolanaRpcClient => {
      const batching = batchingFetch(fetcher, isSmall)
      const client = connect(url, batching)
      return Object.assign(client, { together: () => connect(url, batching.together()) })
    },
    identify: (connection) => identify(connection, network),
  })
}

function isSmall({ method, params: [, options] }: RpcQuestion): boolean {
  return SMALL.has(method) || (OF_ACCOUNTS.has(method) && v.is(Sliced, options))
}

function connect(url: string, fetcher: typeof fetch): Connection {
  return new Connection(url, {
    commitment: 'confirmed',
    disableRetryOnRateLimit: true,
    // The agent of web3.js is for its own fetch.
    httpAgent: false,
    fetch: (input, init) => fetcher(input, { ...init, signal: AbortSignal.timeout(TIMEOUT_MS) }),
  })
}

/** The genesis hash is pinned where the configuration names it; the name of the network alone is no proof, since a private cluster may go by it. */
async function identify(connection: Connection, { genesisHash }: Network): Promise<void> {
  if (genesisHash === undefined) return
  const got = await connection.getGenesisHash()
  if (got !== genesisHash)
    throw new Error(`Expected the cluster of genesis ${genesisHash}, the node says ${got}.`)
}

/** A feature of the cluster may change it, which its validators announce long before. */
const RENT_TTL_MS = 600_000
const rents = new Map<string, { lamports: number; readAt: number }>()

/** The least that an account of this size holds, in lamports; each endpoint is asked for it once in ten minutes. */
export async function readRentMinimum(connection: Connection, bytes: number): Promise<number> {
  const key = `${connection.rpcEndpoint} ${bytes}`
  const known = rents.get(key)
  if (known && performance.now() - known.readAt < RENT_TTL_MS) return known.lamports
  const lamports = await connection.getMinimumBalanceForRentExemption(bytes)
  // web3.js hides the error of a node behind 0, and no account is free.
  if (lamports === 0) throw new Error('The node does not tell the rent of an account.')
  rents.set(key, { lamports, readAt: performance.now() })
  return lamports
}

/** An account as it is afterwards; undefined where there is none. */
type After = { owner: string; data: Uint8Array } | undefined

/**
 * `accounts`: those that were asked for. `units`: compute units it took; `blockhash`: the one that
 * the node ran it on in place of the transaction's. Not every node names these two.
 */
export type SolanaSimulated =
  | {
      ok: true
      accounts: After[]
      units: number | undefined
      blockhash: string | undefined
    }
  | { ok: false; reason: string }

const Replaced = v.object({ replacementBlockhash: v.object({ blockhash: v.string() }) })

/**
 * Runs a transaction on one node, and returns what is in some accounts afterwards.
 * @param options.anyBlockhash runs it on a blockhash of the node, whatever its own one is
 */
export async function run(
  connection: Connection,
  transaction: VersionedTransaction,
  {
    addresses = [],
    anyBlockhash = false,
  }: { addresses?: readonly string[]; anyBlockhash?: boolean } = {},
): Promise<SolanaSimulated> {
  const { value } = await connection.simulateTransaction(transaction, {
    sigVerify: false,
    replaceRecentBlockhash: anyBlockhash,
    commitment: 'confirmed',
    ...(addresses.length > 0 && { accounts: { encoding: 'base64', addresses: [...addresses] } }),
  })
  if (value.err !== null)
    return {
      ok: false,
      reason: (typeof value.err === 'string' ? value.err : JSON.stringify(value.err)).slice(
        0,
        MAX_RESPONSE_LENGTH,
      ),
    }
  const accounts = addresses.map((_, index): After => {
    const account = value.accounts?.[index]
    return account
      ? { owner: account.owner, data: Buffer.from(account.data[0] ?? '', 'base64') }
      : undefined
  })
  // web3.js passes it on without a type.
  const replaced = v.safeParse(Replaced, value)
  const blockhash = replaced.success ? replaced.output.replacementBlockhash.blockhash : undefined
  return { ok: true, accounts, units: value.unitsConsumed, blockhash }
}
