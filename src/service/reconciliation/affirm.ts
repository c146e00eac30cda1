import { familyOf, type NetworkId } from '#contract/network.ts'
import { ProblemError } from '#contract/problem.ts'
import type { Database } from '#postgres/open.ts'
import type { Chain } from '../chains/chain.ts'
import type { Context } from '../context/context.ts'
import { findKnownSignatures, readKnownNonces } from '../db/attempts.ts'
import {
  affirmNetworkAt,
  beginAffirmation,
  findAffirmation,
  readEpoch,
  readRestore,
} from '../db/deployment.ts'
import type { NonceQueue } from '../db/nonce-queue.ts'
import type { PaymentRecord } from '../db/payments.ts'
import {
  affirmWallet,
  readUnaffirmed,
  readWalletLedger,
  stopUnaccounted,
} from '../db/wallet-ledger.ts'

/**
 * After a restore the rows may have lost signatures and grants. A network grants again once its
 * chain was asked, and a wallet sends again once everything that it signed is in the rows.
 */

/** Solana: what was signed before the restore can land for this many blocks. */
const BLOCKHASH_BLOCKS = 150
const RETRY_AFTER_S = 15

/** Compares a network and its managed wallets with the chain, where that was not done since the last restore. */
export async function affirmAll(context: Context, chain: Chain): Promise<void> {
  const { epoch, restoredAt } = await readRestore(context.db)
  if (epoch === 0 || restoredAt === null) return
  const affirmedHeight = await affirmNetwork(context, chain, { epoch, restoredAt })
  if (affirmedHeight === undefined) return
  const { network } = chain.network
  const unaffirmed = { network, family: familyOf(network), epoch }
  await forEachWallet(context, chain, {
    addresses: await readUnaffirmed(context.db, unaffirmed),
    compare: (sender) => affirm(context, chain, { sender, epoch, affirmedHeight }),
  })
}

type Comparison = { addresses: readonly string[]; compare: (address: string) => Promise<unknown> }

/**
 * A wallet that cannot be compared holds up no other: anyone can name it in transactions that its
 * node then has to show.
 * @throws where the chain itself does not answer
 */
export async function forEachWallet(
  { log }: Context,
  chain: Chain,
  { addresses, compare }: Comparison,
): Promise<void> {
  const failed: { address: string; err: unknown }[] = []
  for (const address of addresses) {
    try {
      await compare(address)
    } catch (error) {
      await chain.head()
      failed.push({ address, err: error })
    }
  }
  if (failed.length > 0)
    log.warn(
      { network: chain.network.network, count: failed.length, ...failed[0] },
      'wallets could not be compared with the chain; they are looked at again',
    )
}

type Restore = { epoch: number; restoredAt: Date }

/**
 * Only a head that is not older than the restore counts: a node that is stuck since before it shows
 * neither what was signed nor what was granted after.
 * @returns the height of the affirmation; undefined until it is over
 * @throws `CHAIN_UNAVAILABLE` while no endpoint has such a head
 */
async function affirmNetwork(
  context: Context,
  chain: Chain,
  { epoch, restoredAt }: Restore,
): Promise<number | undefined> {
  const { network } = chain.network
  const before = await findAffirmation(context.db, network)
  if (before?.epoch === epoch && before.affirmedHeight !== null) return before.affirmedHeight
  const { height, blockHeight, finalizedBlockHeight } = await chain.headSince(restoredAt)
  const row = await beginAffirmation(context.db, { network, epoch, blockHeight })
  if (!row || row.epoch !== epoch) return undefined
  if (row.affirmedHeight !== null) return row.affirmedHeight
  const solana = familyOf(network) === 'solana'
  if (solana && finalizedBlockHeight < row.begunAtHeight + BLOCKHASH_BLOCKS) return undefined
  await affirmNetworkAt(context.db, { network, epoch, height })
  context.log.info({ network, epoch, height }, 'the network was affirmed after the restore')
  return height
}

type Affirming = { sender: string; epoch: number; affirmedHeight: number }

async function affirm(
  context: Context,
  chain: Chain,
  { sender, epoch, affirmedHeight }: Affirming,
): Promise<void> {
  const nonceQueue = { network: chain.network.network, sender }
  const found = await findUnaccounted(context, chain, { nonceQueue, affirmedHeight })
  if (found === 'later') return
  if (found === undefined) {
    await affirmWallet(context.db, nonceQueue, epoch)
    context.log.info({ ...nonceQueue, epoch }, 'the wallet was affirmed after the restore')
    return
  }
  await stopUnaccounted(context.db, nonceQueue, found)
  context.log.error({ ...nonceQueue, ...found }, 'sending from a wallet is stopped')
}

type Unaccounted = { stopReason: string; unaccounted: readonly string[] }

/** What the wallet signed and no row has; undefined when the rows have everything. */
async function findUnaccounted(
  { db }: Context,
  chain: Chain,
  { nonceQueue, affirmedHeight }: { nonceQueue: NonceQueue; affirmedHeight: number },
): Promise<Unaccounted | 'later' | undefined> {
  const ledger = await readWalletLedger(db, nonceQueue)
  const history = await chain.history(nonceQueue.sender, {
    since: ledger?.height ?? null,
    knownTo: affirmedHeight,
    isKnown: (signatures) => findKnownSignatures(db, nonceQueue.network, signatures),
  })
  const recorded = ledger?.blockHash ?? null
  // A node that is behind decides nothing: it may lack the newest transactions too.
  if (recorded !== null && history.blockHash === null) return 'later'
  if (recorded !== null && recorded !== history.blockHash)
    return {
      stopReason: `The block ${ledger?.height} had the hash ${recorded}, and the RPC endpoint shows ${history.blockHash}: it is another chain.`,
      unaccounted: [],
    }
  const unaccounted =
    history.nonce === null
      ? history.unknown
      : await missingNonces(db, nonceQueue, { from: ledger?.nonce ?? 0, to: history.nonce })
  if (unaccounted.length === 0) return undefined
  return {
    stopReason: `The database was restored and does not have these ${history.nonce === null ? 'transactions' : 'nonces'} of the wallet: ${unaccounted.join(', ')}.`,
    unaccounted,
  }
}

async function missingNonces(
  db: Database,
  nonceQueue: NonceQueue,
  range: { from: number; to: number },
): Promise<string[]> {
  const known = await readKnownNonces(db, nonceQueue, range)
  const length = Math.max(0, range.to - range.from)
  return Array.from({ length }, (_, index) => range.from + index)
    .filter((nonce) => !known.has(nonce))
    .map(String)
}

/** Heights of networks that grant again, by the database of this process. */
const affirmedHeights = new WeakMap<Database, Map<NetworkId, number>>()

/**
 * Before anything is granted on a network.
 * @returns the height up to which a payment may have been granted before the last restore; null
 * when the database was never restored
 * @throws `SERVICE_UNAVAILABLE` until the network was affirmed
 */
export async function requireGranting({ db }: Context, network: NetworkId): Promise<number | null> {
  const epoch = await readEpoch(db)
  if (epoch === 0) return null
  const heights = affirmedHeights.get(db) ?? new Map<NetworkId, number>()
  affirmedHeights.set(db, heights)
  const known = heights.get(network)
  if (known !== undefined) return known
  const row = await findAffirmation(db, network)
  if (row?.epoch === epoch && row.affirmedHeight !== null) {
    heights.set(network, row.affirmedHeight)
    return row.affirmedHeight
  }
  throw new ProblemError('SERVICE_UNAVAILABLE', {
    message:
      'The database was restored from a backup, and this network was not yet compared with its chain. Nothing is decided.',
    details: { network },
    retryAfter: RETRY_AFTER_S,
  })
}

export const GRANTED_OR_NOT =
  'This payment landed before the database was restored from a backup. It may have been granted then, so it is not granted again. The seller decides.'

/** Whether a payment landed before the affirmation: nobody knows whether it was granted then. */
export function mayHaveBeenGranted(
  { blockHeight }: Pick<PaymentRecord, 'blockHeight'>,
  affirmedHeight: number | null,
): boolean {
  return affirmedHeight !== null && blockHeight !== null && blockHeight <= affirmedHeight
}
