import { Connection, VersionedTransaction } from '@solana/web3.js'
import type { Network } from '#contract/network.ts'
import { MAX_RESPONSE_LENGTH } from '#contract/reasons.ts'
import { openAll, type OpenedEndpoints } from '../broadcast.ts'
import { observedFetch, type ChainObserver } from '../endpoints.ts'

const TIMEOUT_MS = 5_000

export type SolanaEndpoints = OpenedEndpoints<Connection>

/** JSON-RPC clients of a network; none retries by itself, so that the time a caller waits is bounded here. */
export function openEndpoints(network: Network, observer: ChainObserver): SolanaEndpoints {
  const fetcher = observedFetch(network.network, observer)
  return openAll({
    name: network.name,
    urls: network.rpcUrls,
    connect: (url) => connect(url, fetcher),
    identify: (connection) => identify(connection, network),
  })
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
