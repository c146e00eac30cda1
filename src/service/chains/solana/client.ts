import { Connection, VersionedTransaction } from '@solana/web3.js'
import * as v from 'valibot'
import type { Network } from '#contract/network.ts'
import { MAX_RESPONSE_LENGTH } from '#contract/reasons.ts'
import { openAll, type OpenedEndpoints } from '../broadcast.ts'
import { batchingFetch, type RpcQuestion } from '../batching-fetch.ts'
import { observedFetch, type ChainObserver } from '../endpoints.ts'
import { remember } from '../recent.ts'

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

export type SolanaEndpoints = OpenedEndpoints<Connection>

/** JSON-RPC clients of a network; none retries by itself, so that the time a caller waits is bounded here. */
export function openEndpoints(network: Network, observer: ChainObserver): SolanaEndpoints {
  const fetcher = observedFetch(network.network, observer)
  return openAll({
    name: network.name,
    urls: network.rpcUrls,
    connect: (url) => connect(url, batchingFetch(fetcher, isSmall)),
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
const rents = new WeakMap<Connection, (bytes: string) => Promise<number>>()

/** The least that an account of this size holds, in lamports; asked for once in ten minutes. */
export function readRentMinimum(connection: Connection, bytes: number): Promise<number> {
  const read =
    rents.get(connection) ??
    remember(RENT_TTL_MS, async (size) => {
      const rent = await connection.getMinimumBalanceForRentExemption(Number(size))
      // web3.js hides the error of a node behind 0, and no account is free.
      if (rent === 0) throw new Error('The node does not tell the rent of an account.')
      return rent
    })
  rents.set(connection, read)
  return read(String(bytes))
}

/** An account as it is afterwards; undefined where there is none. */
type After = { owner: string; data: Uint8Array } | undefined

/** `accounts`: those that were asked for. */
export type SolanaSimulated = { ok: true; accounts: After[] } | { ok: false; reason: string }

/** Whether the cluster would take the transaction now, and what is in some accounts then. Throws when the node cannot tell. */
export async function simulateTransaction(
  connection: Connection,
  bytes: Uint8Array,
  addresses: readonly string[] = [],
): Promise<SolanaSimulated> {
  const outcome = await run(connection, VersionedTransaction.deserialize(bytes), addresses)
  // The blockhash is of this moment: a node that does not know it is behind the one that gave it.
  if (!outcome.ok && outcome.reason === 'BlockhashNotFound')
    throw new Error('The node does not know the blockhash it gave.')
  return outcome
}

/** Runs a transaction as it is, on its own blockhash, on one node. */
export async function run(
  connection: Connection,
  transaction: VersionedTransaction,
  addresses: readonly string[] = [],
): Promise<SolanaSimulated> {
  const { value } = await connection.simulateTransaction(transaction, {
    sigVerify: false,
    replaceRecentBlockhash: false,
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
  return { ok: true, accounts }
}
