import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex } from '@noble/hashes/utils.js'
import {
  type Connection,
  type SignatureStatus,
  type VersionedTransactionResponse,
} from '@solana/web3.js'
import {
  decodeLanded,
  isNewerVersion,
  LANDED_OPTIONS,
  matchesTransfer,
  messageBytes,
  type SolanaLandedFacts,
} from '#chains/solana/landed.ts'
import { associatedTokenAccount } from '#chains/solana/token-account.ts'
import type { SplTransfer } from '#chains/solana/token-instructions.ts'
import { SOLANA_NATIVE } from '#contract/address.ts'
import type { Observation, ObservedTransfer, MonitoredTransaction } from '../chain.ts'
import { observeAtTwo, requireQuorumFinality } from '../endpoints.ts'
import type { SolanaEndpoints } from './client.ts'

/** The first block of Solana, 16 March 2020: nothing landed earlier. Unix seconds. */
const FIRST_BLOCK = 1_584_316_800

/** What the cluster knows of a transaction. */
export async function observe(
  endpoints: SolanaEndpoints,
  signature: string,
  {
    as = (seen) => seen,
    twice = false,
  }: { as?: ((seen: Observation) => Observation) | undefined; twice?: boolean },
): Promise<Observation> {
  const look = async (connection: Connection) => as(await observeOnce(connection, signature))
  const seen = await (twice ? observeAtTwo(endpoints, look) : endpoints.request(look))
  return requireQuorumFinality(seen, () => endpoints.requestTwo(look))
}

/** Only `getSignatureStatuses` reports finality correctly on every node. */
async function observeOnce(connection: Connection, signature: string): Promise<Observation> {
  const status = await readStatus(connection, signature)
  if (!status) return { state: 'not_found' }
  if (status.confirmationStatus === 'processed') return { state: 'pending' }
  const landed = await readTransaction(connection, signature)
  // A node may know a status before it serves the transaction, and one of a version that nobody
  // here can read may be the payment: nothing is decided.
  if (landed === 'unreadable' || !landed?.meta) return { state: 'pending' }
  if (neverRan(landed)) return { state: 'not_found' }
  const { transfer, short } = readPaid(landed)
  return {
    state: 'landed',
    succeeded: landed.meta.err === null && short === null,
    height: landed.slot,
    blockHash: null,
    confirmed: true,
    finalized: status.confirmationStatus === 'finalized',
    feeAtomic: feeOf(landed.meta),
    feePayer: landed.transaction.message.staticAccountKeys[0]?.toBase58() ?? null,
    blockTime: readBlockTime(landed.blockTime),
    messageHash: bytesToHex(sha256(messageBytes(landed.transaction.message))),
    transfer,
    ...(landed.meta.err === null && short && { arrivedAtomic: short.arrivedAtomic }),
    ...(landed.meta.err !== null && {
      failedBlockhash: landed.transaction.message.recentBlockhash,
    }),
    failure:
      landed.meta.err === null
        ? (short?.reason ?? null)
        : `The transaction landed and failed: ${JSON.stringify(landed.meta.err).slice(0, 200)}`,
  }
}

/**
 * Whether a node only reports why it would not run a transaction. Any transaction in a block has
 * paid its fee, failed or not; this one has not, is in no block, and may still land in one.
 */
function neverRan({ meta }: VersionedTransactionResponse): boolean {
  return meta !== null && meta.err !== null && feeOf(meta) <= 0n
}

/** `unreadable`: of a newer version than this program reads. */
export async function readTransaction(
  connection: Connection,
  signature: string,
): Promise<VersionedTransactionResponse | null | 'unreadable'> {
  try {
    return await connection.getTransaction(signature, LANDED_OPTIONS)
  } catch (error) {
    if (isNewerVersion(error)) return 'unreadable'
    throw error
  }
}

/** The most signatures that a node reports in one answer. */
const STATUSES = 256

/** What a node's whole history knows of each signature, and the lowest slot it answered from. */
export async function readStatuses(
  connection: Connection,
  signatures: readonly string[],
): Promise<{ slot: number; statuses: (SignatureStatus | null)[] }> {
  let slot = Infinity
  const statuses: (SignatureStatus | null)[] = []
  for (let start = 0; start < signatures.length; start += STATUSES) {
    const page = signatures.slice(start, start + STATUSES)
    const { context, value } = await connection.getSignatureStatuses(page, {
      searchTransactionHistory: true,
    })
    slot = Math.min(slot, context.slot)
    statuses.push(...page.map((_, index) => value[index] ?? null))
  }
  return { slot, statuses }
}

async function readStatus(
  connection: Connection,
  signature: string,
): Promise<SignatureStatus | null> {
  return (await readStatuses(connection, [signature])).statuses[0] ?? null
}

/** Whether a node's status of a transaction only says that the node would not run it. */
export async function isRefused(connection: Connection, signature: string): Promise<boolean> {
  const landed = await readTransaction(connection, signature)
  return landed !== null && landed !== 'unreadable' && neverRan(landed)
}

/**
 * Whether a transaction was signed by the payment's sender and names the payment: then it may be
 * the payment, or have been one that failed.
 */
export async function isPaidBy(
  connection: Connection,
  signature: string,
  { sender, paymentId }: Pick<MonitoredTransaction, 'sender' | 'paymentId'>,
): Promise<boolean> {
  const landed = await readTransaction(connection, signature)
  // The node knows its name but does not serve it, or nobody here can read it: nothing is proven.
  if (landed === 'unreadable' || !landed?.meta) return true
  if (neverRan(landed)) return false
  const { header, staticAccountKeys } = landed.transaction.message
  if (
    !staticAccountKeys
      .slice(0, header.numRequiredSignatures)
      .some((signer) => signer.toBase58() === sender)
  )
    return false
  const decoded = decodeLanded(landed)
  return (
    !decoded.ok ||
    decoded.operations.some(
      (operation) => operation.kind === 'memo' && operation.text === paymentId,
    )
  )
}

/**
 * What left the accounts and arrived nowhere. Some nodes leave the priority fee out of `meta.fee`.
 */
function feeOf({
  preBalances,
  postBalances,
}: {
  preBalances: number[]
  postBalances: number[]
}): bigint {
  const sum = (balances: number[]) =>
    balances.reduce((total, lamports) => total + BigInt(lamports), 0n)
  return sum(preBalances) - sum(postBalances)
}

type Paid = {
  transfer: ObservedTransfer | null
  /** Why a token transfer that succeeded did not pay, and what arrived of it. */
  short: { reason: string; arrivedAtomic: bigint } | null
}

/**
 * The only transfer of a transaction, with its only memo; anything else that wallets add moves no
 * part of it.
 */
function readPaid(landed: VersionedTransactionResponse): Paid {
  const decoded = decodeLanded(landed)
  if (!decoded.ok) return NOTHING_PAID
  const transfers = decoded.operations.filter(
    (operation) => operation.kind === 'transfer' || operation.kind === 'token_transfer',
  )
  const memos = decoded.operations.filter((operation) => operation.kind === 'memo')
  const [transfer] = transfers
  if (!transfer || transfers.length > 1 || memos.length > 1) return NOTHING_PAID
  const memo = memos[0]?.text ?? null
  if (transfer.kind === 'token_transfer') return readTokenPaid(decoded, transfer, memo)
  const { from: sender, to: recipient, lamports: amountAtomic } = transfer
  return {
    transfer: { sender, recipient, asset: SOLANA_NATIVE, amountAtomic, memo, nonce: null },
    short: null,
  }
}

const NOTHING_PAID: Paid = { transfer: null, short: null }

/**
 * A token transfer names token accounts; the node shows their owners, and only a wallet's
 * associated account counts as the wallet. Where the account does not exist, because the
 * transaction failed, it is used for its owner: `pays` derives it.
 */
function readTokenPaid(
  landed: SolanaLandedFacts,
  operation: SplTransfer,
  memo: string | null,
): Paid {
  const { authority: sender, source, destination, mint, program, amountAtomic } = operation
  if (associatedTokenAccount({ owner: sender, mint, program }).address !== source)
    return NOTHING_PAID
  const opened = landed.operations.find(
    (each) => each.kind === 'account_opened' && each.account === destination,
  )
  const owner =
    landed.tokenOwners.get(destination) ??
    (opened?.kind === 'account_opened' ? opened.owner : undefined)
  if (
    owner !== undefined &&
    associatedTokenAccount({ owner, mint, program }).address !== destination
  )
    return NOTHING_PAID
  const transfer = {
    sender,
    recipient: owner ?? destination,
    asset: mint,
    amountAtomic,
    memo,
    nonce: null,
  }
  if (!landed.succeeded || matchesTransfer(operation, landed.tokenChanges))
    return { transfer, short: null }
  const arrivedAtomic =
    landed.tokenChanges.find(({ account }) => account === destination)?.changeAtomic ?? 0n
  const reason = `The transaction landed, and ${arrivedAtomic} instead of ${amountAtomic} of the token's smallest units arrived: this is not the payment.`
  return { transfer, short: { reason, arrivedAtomic } }
}

/**
 * True when the finalized chain has passed the slot a transaction was seen in, and its full
 * history, asked twice, does not contain it. A node that no longer has that slot proves nothing.
 */
export async function isGone(
  endpoints: SolanaEndpoints,
  landed: { signature: string; height: number },
): Promise<boolean> {
  return endpoints.prove(async (connection) => {
    const finalized = await connection.getSlot('finalized')
    if (finalized < landed.height) return false
    if ((await readStatus(connection, landed.signature)) !== null) return false
    return (await connection.getFirstAvailableBlock()) <= landed.height
  })
}

/** A cluster may know none, and a local one may count from elsewhere. */
function readBlockTime(seconds: number | null | undefined): Date | null {
  return typeof seconds === 'number' && seconds >= FIRST_BLOCK ? new Date(seconds * 1000) : null
}
