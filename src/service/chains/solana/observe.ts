import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex } from '@noble/hashes/utils.js'
import { SolanaJSONRPCError, type Connection, type VersionedTransactionResponse } from '@solana/web3.js'
import { decodeLanded } from '#chains/solana/landed.ts'
import { SOLANA_NATIVE } from '#contract/address.ts'
import type { Observation, Transfer, Wanted } from '../chain.ts'
import type { SolanaEndpoints } from './client.ts'
import { signaturesOf } from './find.ts'

/** What the cluster knows of a transaction. Only `getSignatureStatuses` tells finality truly on every node. */
export function observe(endpoints: SolanaEndpoints, signature: string): Promise<Observation> {
  return endpoints.ask(async (connection): Promise<Observation> => {
    const status = await readStatus(connection, signature)
    if (!status) return { state: 'not_found' }
    if (status.confirmationStatus === 'processed') return { state: 'pending' }
    const landed = await readTransaction(connection, signature)
    if (landed === 'unreadable')
      return { ...FOREIGN, succeeded: status.err === null, height: status.slot, finalized: status.confirmationStatus === 'finalized' }
    // A node may know a status before it serves the transaction.
    if (!landed?.meta) return { state: 'pending' }
    return {
      state: 'landed',
      succeeded: landed.meta.err === null,
      height: landed.slot,
      blockHash: null,
      confirmed: true,
      finalized: status.confirmationStatus === 'finalized',
      feeAtomic: feeOf(landed.meta),
      blockTime: typeof landed.blockTime === 'number' ? new Date(landed.blockTime * 1000) : null,
      messageHash: bytesToHex(sha256(landed.transaction.message.serialize())),
      transfer: readTransfer(landed),
      failure: landed.meta.err === null ? null : `The transaction landed and failed: ${JSON.stringify(landed.meta.err).slice(0, 200)}`,
    }
  })
}

/** A transaction of a version nobody pays with. */
const FOREIGN = { state: 'landed', blockHash: null, confirmed: true, feeAtomic: 0n, blockTime: null, transfer: null, failure: null } as const

const UNSUPPORTED_VERSION = -32_015

async function readTransaction(connection: Connection, signature: string): Promise<VersionedTransactionResponse | null | 'unreadable'> {
  try {
    return await connection.getTransaction(signature, { commitment: 'confirmed', maxSupportedTransactionVersion: 0 })
  } catch (error) {
    if (error instanceof SolanaJSONRPCError && error.code === UNSUPPORTED_VERSION) return 'unreadable'
    throw error
  }
}

async function readStatus(connection: Connection, signature: string) {
  const { value } = await connection.getSignatureStatuses([signature], { searchTransactionHistory: true })
  return value[0] ?? null
}

/** What left the accounts and arrived nowhere. Some nodes leave the priority fee out of `meta.fee`. */
function feeOf({ preBalances, postBalances }: { preBalances: number[]; postBalances: number[] }): bigint {
  const sum = (balances: number[]) => balances.reduce((total, lamports) => total + BigInt(lamports), 0n)
  return sum(preBalances) - sum(postBalances)
}

/** The one transfer of SOL a transaction makes, with its one memo; whatever else wallets add beside it moves no part of it. */
function readTransfer(landed: VersionedTransactionResponse): Transfer | null {
  const decoded = decodeLanded(landed)
  if (!decoded.ok) return null
  const transfers = decoded.operations.filter((operation) => operation.kind === 'transfer')
  const memos = decoded.operations.filter((operation) => operation.kind === 'memo')
  const [transfer] = transfers
  if (!transfer || transfers.length > 1 || memos.length > 1) return null
  return { sender: transfer.from, recipient: transfer.to, asset: SOLANA_NATIVE, amountAtomic: transfer.lamports, memo: memos[0]?.text ?? null, nonce: null }
}

/** True when the finalized chain has passed the slot a transaction was seen in, and its whole history, asked twice, does not know it. */
export async function isGone(endpoints: SolanaEndpoints, landed: { signature: string; height: number }): Promise<boolean> {
  const proofs = await endpoints.askTwice(async (connection) => {
    const finalized = await connection.getSlot('finalized')
    return finalized >= landed.height && (await readStatus(connection, landed.signature)) === null
  })
  return proofs.every(Boolean)
}

/**
 * True when the finalized block height is past the blockhash's last one, and neither the sender's signatures nor the history of the one reported
 * hold the payment; asked twice, since a node that is behind answers the same as one that knows.
 */
export async function canNeverLand(endpoints: SolanaEndpoints, wanted: Wanted): Promise<boolean> {
  const { lastValidBlockHeight, reported, paymentId, sender, builtHeight, signed = [] } = wanted
  if (lastValidBlockHeight === null) return false
  const known = reported === null ? signed : [...signed, reported]
  const proofs = await endpoints.askTwice(async (connection) => {
    if ((await connection.getBlockHeight('finalized')) <= lastValidBlockHeight) return false
    for (const signature of known) if ((await readStatus(connection, signature)) !== null) return false
    const signatures = await signaturesOf(connection, sender, builtHeight ?? 0)
    return signatures.every(({ memo }) => !memo?.includes(paymentId))
  })
  return proofs.every(Boolean)
}
