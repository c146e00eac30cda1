import { t } from '@lingui/core/macro'
import { PublicKey, type Connection } from '@solana/web3.js'
import { decodeTransaction } from '#chains/solana/decode.ts'
import { maxFeeAtomic } from '#chains/solana/fee.ts'
import {
  decodeLanded,
  isNewerVersion,
  LANDED_OPTIONS,
  messageBytes,
} from '#chains/solana/landed.ts'
import { SOLANA_FINAL_CONFIRMATIONS, type Network } from '#contract/network.ts'
import { serverNow } from '../../api/clock.ts'
import type {
  CheckedTransaction,
  WalletPaymentIntent,
  Reading,
  Sent,
} from '../../payment-intent/intent.ts'
import type { PaymentChain } from '../../payment-intent/ports.ts'
import { firstDifference, toPaymentIntent } from '../state/intent.ts'
import type { Rpc } from './connections.ts'
import { describeFailure, readingOf } from './operations.ts'
import { simulate } from './simulate.ts'

/** The user's own view of one Solana cluster. Everything is polled: a proxy that drops WebSockets must not look like an expiry. */
export function solanaChain(
  networks: readonly Network[],
  rpcOf: (network: Network) => Rpc,
): PaymentChain {
  const networkOf = (order: WalletPaymentIntent): Network => {
    const network = networks.find((each) => each.network === order.network)
    if (!network) throw new Error(`${order.network} is not configured.`)
    return network
  }
  const rpc = (order: WalletPaymentIntent) => rpcOf(networkOf(order))
  return {
    blockTimeMs: (order) => networkOf(order).blockTimeMs,
    head: async (order) => {
      // Height and slot of one block: on a network that skips slots they differ.
      const [{ blockHeight, absoluteSlot }, finalizedHeight] = await Promise.all([
        rpc(order)((connection) => connection.getEpochInfo('confirmed')),
        rpc(order)((connection) => connection.getBlockHeight('finalized')),
      ])
      if (blockHeight === undefined) throw new Error('The node does not tell its block height.')
      return { height: blockHeight, finalizedHeight, slot: absoluteSlot }
    },
    feeCap: async (order) =>
      order.feePayer === undefined ? maxFeeAtomic(order.priorityFeeAtomic) : 0n,
    knows: async (order, bytes) => {
      const decoded = decodeTransaction(bytes)
      if (!decoded.ok) return false
      return rpc(order)(
        async (connection) =>
          (await connection.isBlockhashValid(decoded.blockhash, { commitment: 'processed' })).value,
      ).catch(() => null)
    },
    simulate: async (order, bytes) => simulate(rpc(order), order, bytes),
    broadcast: async (order, bytes) => {
      // It lacks the fee payer's signature, and the fee payer sends it.
      if (order.feePayer !== undefined) return
      // The same bytes go out again every two seconds, so the node need not repeat them, nor judge them before it passes them on.
      await rpc(order)((connection) =>
        connection.sendRawTransaction(bytes, { skipPreflight: true, maxRetries: 0 }),
      )
    },
    read: async (order, built, sent) => {
      try {
        return await read(rpc(order), { order, built }, sent)
      } catch {
        return { kind: 'unavailable', at: serverNow() }
      }
    },
  }
}

async function read(
  rpc: Rpc,
  { order, built }: { order: WalletPaymentIntent; built: CheckedTransaction },
  sent: Sent,
): Promise<Reading> {
  if (!sent.signature) return { kind: 'unavailable', at: serverNow() }
  const known = sent.signature
  const from = built.builtSlot ?? built.builtHeight
  const { finalizedHeight, signature, status } = await rpc(async (connection) => {
    // The height is read before the status: what lands between the two is then seen, never missed. One node answers both.
    const height = await connection.getBlockHeight('finalized')
    const over = height > built.lastValidBlockHeight
    const end = over ? await readEnd(connection, { bytes: built.bytes, from }) : undefined
    const statusOf = async (name: string) => {
      const { context, value } = await connection.getSignatureStatuses([name], {
        searchTransactionHistory: true,
      })
      if (!value[0] && end && context.slot < end.slot) throw new Error(BEHIND)
      return value[0]
    }
    const direct = await statusOf(known)
    if (direct) return { finalizedHeight: height, signature: known, status: direct }
    // What a fee payer sends is named by the fee payer's signature, which nobody here has seen.
    const found =
      order.feePayer === undefined
        ? undefined
        : await findByMessage(connection, { order, sent, from, knownTo: end?.slot })
    if (found) return { finalizedHeight: height, signature: found, status: await statusOf(found) }
    // The service may have named too early an end.
    const past = end?.past ? height : Math.min(height, built.lastValidBlockHeight)
    return { finalizedHeight: past, signature: undefined, status: undefined }
  })
  if (!status || !signature) return { kind: 'absent', at: serverNow(), finalizedHeight }
  const commitment = status.confirmationStatus ?? 'processed'
  if (commitment === 'processed') return { kind: 'pending', at: serverNow(), signature }
  const transaction = await rpc((connection) =>
    connection.getTransaction(signature, LANDED_OPTIONS),
  )
  if (!transaction) return { kind: 'pending', at: serverNow(), signature }
  const facts = decodeLanded(transaction)
  const match = facts.ok ? readingOf(order).landed(toPaymentIntent(order, built), facts) : undefined
  const paid = match?.ok === true
  const failed = status.err !== null
  const [reason, difference] = [describeFailure(status.err), firstDifference(match?.rows ?? [])]
  return {
    kind: 'landed',
    at: serverNow(),
    outcome: paid && !failed ? 'paid' : failed ? 'reverted' : 'other',
    failure: failed
      ? t`Failed: ${reason}. Only the network fee was paid.`
      : paid
        ? null
        : t`On the chain, ${difference}`,
    commitment,
    landed: {
      signature,
      height: status.slot,
      blockHash: null,
      confirmations:
        commitment === 'finalized'
          ? SOLANA_FINAL_CONFIRMATIONS
          : Math.min(SOLANA_FINAL_CONFIRMATIONS - 1, status.confirmations ?? 1),
      requiredConfirmations: SOLANA_FINAL_CONFIRMATIONS,
      feeAtomic: BigInt(transaction.meta?.fee ?? 0),
      blockTime: transaction.blockTime ? transaction.blockTime * 1000 : undefined,
    },
  }
}

/** Blocks in which a transaction can land after its blockhash. */
const LIFETIME = 150
const BEHIND = 'The node is behind another one that answers at the same address.'

/**
 * Whether the bytes can land in no block any more, by the node's own view of their blockhash, and
 * the finalized slot of that view.
 * @throws when the node cannot show that they are in no block: one that has forgotten the slots
 * since they were built, or is behind, answers as one that knows
 */
async function readEnd(
  connection: Connection,
  { bytes, from }: { bytes: Uint8Array; from: number },
): Promise<{ past: boolean; slot: number }> {
  const decoded = decodeTransaction(bytes)
  if (!decoded.ok) throw new Error(decoded.problem.code)
  const { context, value } = await connection.isBlockhashValid(decoded.blockhash, {
    commitment: 'finalized',
  })
  if (value) return { past: false, slot: context.slot }
  // A node that has not come to the blockhash does not know it either.
  if (context.slot < from + LIFETIME) throw new Error(BEHIND)
  if ((await connection.getFirstAvailableBlock()) > from)
    throw new Error('The node no longer has the blocks since the transaction was built.')
  return { past: true, slot: context.slot }
}

/** The most a node returns at once. */
const PAGE = 1_000
const MAX_PAGES = 5

/** Transactions already compared with these bytes that did not match: none is fetched twice. */
const others = new WeakMap<Uint8Array, Set<string>>()

/**
 * The on-chain signature of a transaction that another account completes and sends; undefined while
 * it is not on the chain. It is identified by its message, which is what the payer signed, among
 * the transactions of the account it debits since the slot `from`.
 * @throws when the node does not show everything needed: absence is reported only after a complete
 * search
 */
async function findByMessage(
  connection: Connection,
  {
    order,
    sent,
    from,
    knownTo,
  }: { order: WalletPaymentIntent; sent: Sent; from: number; knownTo?: number | undefined },
): Promise<string | undefined> {
  // Bytes are dropped only once it is final; its own signature is known by then.
  if (!sent.bytes) return undefined
  const decoded = decodeTransaction(sent.bytes)
  if (!decoded.ok) throw new Error(decoded.problem.code)
  const looked = others.get(sent.bytes) ?? new Set<string>()
  others.set(sent.bytes, looked)
  const transfer = decoded.operations.find((operation) => operation.kind === 'token_transfer')
  const account = new PublicKey(transfer?.source ?? order.sender)
  let before: string | undefined
  for (let page = 0; page < MAX_PAGES; page++) {
    const found = await connection.getSignaturesForAddress(
      account,
      {
        limit: PAGE,
        ...(before && { before }),
        // Not finding it counts only from a node that knows the chain so far.
        ...(knownTo !== undefined && { minContextSlot: knownTo }),
      },
      'confirmed',
    )
    // By slot, not by time: the clocks of this page and of the blocks may differ.
    const recent = found.filter(({ slot }) => slot >= from)
    for (const { signature } of recent) {
      if (looked.has(signature)) continue
      if (await hasMessage(connection, signature, decoded.message)) return signature
      looked.add(signature)
    }
    if (found.length < PAGE || recent.length < found.length) return undefined
    before = found.at(-1)?.signature
  }
  throw new Error('The account has more transactions than were looked through.')
}

async function hasMessage(
  connection: Connection,
  signature: string,
  message: Uint8Array,
): Promise<boolean> {
  const transaction = await connection
    .getTransaction(signature, LANDED_OPTIONS)
    .catch((error: unknown) => {
      // The payer was asked to sign a message that this page reads: this is another one.
      if (isNewerVersion(error)) return 'unreadable' as const
      throw error
    })
  if (transaction === 'unreadable') return false
  if (!transaction) throw new Error('The node names a transaction that it does not show.')
  const found = messageBytes(transaction.transaction.message)
  return found.length === message.length && found.every((byte, index) => byte === message[index])
}
