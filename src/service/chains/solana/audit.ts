import { PublicKey, type Connection } from '@solana/web3.js'
import { LANDED_OPTIONS } from '#chains/solana/landed.ts'
import type { Network } from '#contract/network.ts'
import type { Audit, HistoryQuery, WalletHistory } from '../chain.ts'
import { inParallel, unavailable } from '../endpoints.ts'
import type { SolanaEndpoints } from './client.ts'
import { listSignatures } from './find.ts'

const PARALLEL_TRANSACTIONS = 8
/** What a node calls a transaction that it would not run: no transaction has this signature. */
const NO_SIGNATURE = '1'.repeat(64)

/** How long a slot is awaited in which nothing changes, in milliseconds. */
const SETTLES_WITHIN_MS = 3_000

/**
 * How many transactions one comparison of a wallet reads at most. Anyone can name a wallet in as many as they pay for: it waits for them, and no other wallet
 * does.
 */
const MAX_READ = 1_000

/** Undefined: the wallet did not sign it, or it never ran. */
type Own = Audit['signed'][number] | undefined
type ReadBefore = Map<string, Map<string, Own>>

/** What comparisons have read of the range since the last equal one, by wallet: the next one goes on from there. */
const underWay = new WeakMap<SolanaEndpoints, { audits: ReadBefore; histories: ReadBefore }>()

function readBefore(endpoints: SolanaEndpoints) {
  const before = underWay.get(endpoints) ?? { audits: new Map(), histories: new Map() }
  underWay.set(endpoints, before)
  return before
}

/**
 * The finalized balance, and of the transactions since a slot those that the wallet signed, each with what it took from that balance. Undefined where the
 * balance does not come to rest, and while there is more to read.
 */
export async function audit(
  endpoints: SolanaEndpoints,
  network: Network,
  { wallet, since }: { wallet: string; since: number | null },
): Promise<Audit | undefined> {
  const reading = await endpoints.request((connection) =>
    readBalance(connection, new PublicKey(wallet), network.blockTimeMs),
  )
  if (!reading) return undefined
  const { slot: height, exact, balanceAtomic } = reading
  const named =
    since === null
      ? []
      : await listSignatures(endpoints, wallet, {
          from: since + 1,
          knownTo: exact ? height : undefined,
          whole: false,
        })
  const signed = await readSigned(endpoints, readBefore(endpoints).audits, {
    wallet,
    signatures: named.flatMap(({ slot, signature }) => (slot <= height ? [signature] : [])),
  })
  return signed && { height, blockHash: null, exact, balanceAtomic, nonce: null, signed }
}

/**
 * What a wallet signed since a slot and no row has. Only unknown transactions are read: of the
 * others the rows say who signed them.
 * @throws when no node serves the range; `CHAIN_UNAVAILABLE` while there is more to read
 */
export async function readHistory(
  endpoints: SolanaEndpoints,
  wallet: string,
  { since, knownTo, isKnown }: HistoryQuery,
): Promise<WalletHistory> {
  const from = since === null ? 0 : since + 1
  const named = await listSignatures(endpoints, wallet, {
    from,
    least: knownTo ?? undefined,
    whole: true,
  })
  const signatures = named.map(({ signature }) => signature)
  const known = await isKnown(signatures)
  const unknown = await readSigned(endpoints, readBefore(endpoints).histories, {
    wallet,
    signatures: signatures.filter((signature) => !known.has(signature)),
  })
  if (!unknown)
    throw unavailable(
      `The ${named.length} transactions that name the wallet ${wallet} since slot ${from} are still being read.`,
    )
  return { nonce: null, blockHash: null, unknown: unknown.map(({ signature }) => signature) }
}

/** Those that the wallet signed; undefined while there are more to read, the oldest of which were read now. */
async function readSigned(
  endpoints: SolanaEndpoints,
  before: ReadBefore,
  { wallet, signatures }: { wallet: string; signatures: readonly string[] },
): Promise<Audit['signed'] | undefined> {
  const read = before.get(wallet) ?? new Map<string, Own>()
  const unread = signatures.filter(
    (signature) => signature !== NO_SIGNATURE && !read.has(signature),
  )
  if (unread.length > 0) before.set(wallet, read)
  await inParallel(unread.slice(-MAX_READ), PARALLEL_TRANSACTIONS, async (signature) => {
    const own = await endpoints.request((connection) => readOwn(connection, wallet, signature))
    read.set(signature, own)
  })
  // Another comparison of the wallet may have ended meanwhile, and dropped what it did not want.
  const isRead = (signature: string) => signature === NO_SIGNATURE || read.has(signature)
  if (!signatures.every(isRead)) return undefined
  // A comparison that found something is repeated, and one that waits for a payment too: they do not read all of it again.
  const current = new Set(signatures)
  for (const signature of read.keys()) if (!current.has(signature)) read.delete(signature)
  if (read.size === 0) before.delete(wallet)
  return signatures.flatMap((signature) => read.get(signature) ?? [])
}

type BalanceReading = { slot: number; exact: boolean; balanceAtomic: bigint }

/**
 * The balance at the end of a slot. A node that answers from the slot it is still filling, as an embedded one does, is asked until that slot is over and the
 * balance still the same: what lands in the rest of a slot would stand on no snapshot of the ledger. Undefined when it does not come to rest.
 */
async function readBalance(
  connection: Connection,
  wallet: PublicKey,
  blockTimeMs: number,
): Promise<BalanceReading | undefined> {
  const read = async () => {
    const { context, value } = await connection.getBalanceAndContext(wallet, 'finalized')
    return { slot: context.slot, balanceAtomic: BigInt(value) }
  }
  let reading = await read()
  if (reading.slot <= (await connection.getSlot('finalized'))) return { ...reading, exact: true }
  const deadline = performance.now() + SETTLES_WITHIN_MS
  while (performance.now() < deadline) {
    await new Promise((resolve) => setTimeout(resolve, Math.ceil(blockTimeMs / 4)))
    const next = await read()
    if (next.balanceAtomic !== reading.balanceAtomic) reading = next
    else if (next.slot > reading.slot) return { ...reading, exact: false }
  }
  return undefined
}

/** What a transaction took from the balance of the wallet that signed it; undefined when it did not sign it, or the transaction never ran. */
async function readOwn(connection: Connection, wallet: string, signature: string): Promise<Own> {
  const landed = await connection.getTransaction(signature, LANDED_OPTIONS)
  if (!landed?.meta) throw new Error('The node names a transaction that it does not serve.')
  const { header, staticAccountKeys } = landed.transaction.message
  const index = staticAccountKeys
    .slice(0, header.numRequiredSignatures)
    .findIndex((key) => key.toBase58() === wallet)
  if (index === -1) return undefined
  const [before, after] = [landed.meta.preBalances[index], landed.meta.postBalances[index]]
  if (before === undefined || after === undefined || (landed.meta.err !== null && before === after))
    return undefined
  return { signature, outflowAtomic: BigInt(before) - BigInt(after) }
}
