import { PublicKey, type Connection } from '@solana/web3.js'
import type { Network } from '#contract/network.ts'
import type { Audit, HistoryQuery, WalletHistory } from '../chain.ts'
import { inParallel } from '../endpoints.ts'
import type { SolanaEndpoints } from './client.ts'
import { MAX_SIGNATURES, signaturesOf } from './find.ts'

const PARALLEL_TRANSACTIONS = 8
/** What a node calls a transaction that it would not run: no transaction has this signature. */
const NO_SIGNATURE = '1'.repeat(64)

/** How long a slot is awaited in which nothing changes, in milliseconds. */
const SETTLES_WITHIN_MS = 3_000

/** The finalized balance, and of the transactions since a slot those that the wallet signed, each with what it took from that balance. */
export function audit(
  endpoints: SolanaEndpoints,
  network: Network,
  { wallet, since }: { wallet: string; since: number | null },
): Promise<Audit | undefined> {
  return endpoints.ask(async (connection): Promise<Audit | undefined> => {
    const held = await readHeld(connection, new PublicKey(wallet), network.blockTimeMs)
    if (!held) return undefined
    const { slot: height, exact, balanceAtomic } = held
    const named =
      since === null
        ? []
        : await signaturesOf(connection, wallet, {
            from: since + 1,
            knownTo: exact ? height : undefined,
          })
    const landed = await inParallel(
      named.filter(({ slot, signature }) => slot <= height && signature !== NO_SIGNATURE),
      PARALLEL_TRANSACTIONS,
      ({ signature }) => readOwn(connection, wallet, signature),
    )
    return {
      height,
      blockHash: null,
      exact,
      balanceAtomic,
      nonce: null,
      signed: landed.flatMap((each) => each ?? []),
    }
  })
}

/**
 * What a wallet signed since a slot and no row has. Only unknown transactions are read: of the
 * others the rows say who signed them.
 * @throws when the node does not serve the range, or it holds too many transactions
 */
export function readHistory(
  endpoints: SolanaEndpoints,
  wallet: string,
  { since, isKnown }: HistoryQuery,
): Promise<WalletHistory> {
  return endpoints.ask(async (connection): Promise<WalletHistory> => {
    const from = since === null ? 0 : since + 1
    if (since !== null && (await connection.getFirstAvailableBlock()) > from)
      throw new Error(`The node does not serve transactions since slot ${from}.`)
    const named = await signaturesOf(connection, wallet, { from })
    if (named.length >= MAX_SIGNATURES)
      throw new Error(`The wallet has ${MAX_SIGNATURES} transactions or more since slot ${from}.`)
    const signatures = named
      .map(({ signature }) => signature)
      .filter((signature) => signature !== NO_SIGNATURE)
    const known = await isKnown(signatures)
    const signed = await inParallel(
      signatures.filter((signature) => !known.has(signature)),
      PARALLEL_TRANSACTIONS,
      (signature) => readOwn(connection, wallet, signature),
    )
    return {
      nonce: null,
      blockHash: null,
      unknown: signed.flatMap((each) => (each ? [each.signature] : [])),
    }
  })
}

type Held = { slot: number; exact: boolean; balanceAtomic: bigint }

/**
 * The balance at the end of a slot. A node that answers from the slot it is still filling, as an embedded one does, is asked until that slot is over and the
 * balance still the same: what lands in the rest of a slot would stand on no snapshot of the ledger. Undefined when it does not come to rest.
 */
async function readHeld(
  connection: Connection,
  wallet: PublicKey,
  blockTimeMs: number,
): Promise<Held | undefined> {
  const read = async () => {
    const { context, value } = await connection.getBalanceAndContext(wallet, 'finalized')
    return { slot: context.slot, balanceAtomic: BigInt(value) }
  }
  let held = await read()
  if (held.slot <= (await connection.getSlot('finalized'))) return { ...held, exact: true }
  const deadline = performance.now() + SETTLES_WITHIN_MS
  while (performance.now() < deadline) {
    await new Promise((resolve) => setTimeout(resolve, Math.ceil(blockTimeMs / 4)))
    const next = await read()
    if (next.balanceAtomic !== held.balanceAtomic) held = next
    else if (next.slot > held.slot) return { ...held, exact: false }
  }
  return undefined
}

/** What a transaction took from the balance of the wallet that signed it; undefined when it did not sign it, or the transaction never ran. */
async function readOwn(
  connection: Connection,
  wallet: string,
  signature: string,
): Promise<Audit['signed'][number] | undefined> {
  const landed = await connection.getTransaction(signature, {
    commitment: 'confirmed',
    maxSupportedTransactionVersion: 0,
  })
  if (!landed?.meta) throw new Error('The node names a transaction that it does not serve.')
  const { header, staticAccountKeys } = landed.transaction.message
  const index = staticAccountKeys
    .slice(0, header.numRequiredSignatures)
    .findIndex((key) => key.toBase58() === wallet)
  if (index === -1) return undefined
  const [before, after] = [landed.meta.preBalances[index], landed.meta.postBalances[index]]
  if (before === undefined || after === undefined || (landed.meta.err !== null && before === after))
    return undefined
  return { signature, spentAtomic: BigInt(before) - BigInt(after) }
}
