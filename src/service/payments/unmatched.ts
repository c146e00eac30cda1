import type * as v from 'valibot'
import type { Authorization } from '#chains/evm/authorization.ts'
import { formatAmount } from '#contract/amount.ts'
import type { EndpointInput, EndpointReply } from '#contract/endpoints.ts'
import { LosslessNumber } from '#contract/json.ts'
import { familyOf } from '#contract/network.ts'
import type { UnmatchedTransfer } from '#contract/unmatched-endpoints.ts'
import type { Chain, Head, Observation, ObservedTransfer, TransferBlock } from '../chains/chain.ts'
import { inParallel } from '../chains/endpoints.ts'
import type { Context, Actor } from '../context/context.ts'
import { findClaim, isAssigned, releaseAssigned } from '../db/claims.ts'
import type { EndedOrder } from '../db/ended-orders.ts'
import type { MonitoredRecord } from '../db/payments.ts'
import {
  assignmentKey,
  deleteUnmatched,
  lockTransfer,
  insertUnmatched,
  lockUses,
  setUnmatchedBlock,
  type UnmatchedRecord,
  listUnmatched,
  type ListedTransfer,
} from '../db/unmatched.ts'
import { findOwner } from '../db/wallet-owners.ts'
import { findHosted, fittingOrders, matchesPayment } from './attribution.ts'
import { transferKey } from './apply-observation.ts'
import { readMetadata } from './describe-money.ts'
import { countEqual, findExecuted } from './payment-result.ts'

/** A transfer that was seen, the accounts whose orders it fits, and those of whose ledgers it is a payment already. */
export type UnmatchedCandidate = {
  signature: string
  accountIds: readonly string[]
  settled?: ReadonlySet<string>
  /**
   * What a third party executed in it, and the key under which a payment uses it up. `waits`: one
   * has used the key, and waits for the chain to show its transaction.
   */
  executed?: { key: string; authorization: Authorization; waits?: boolean }
  /** The order that its memo names, and that ended without it. */
  order?: EndedOrder
}

/** `unseen`: the node shows the transaction in no block, so that nothing can be said of it yet. `none`: nothing of it is unmatched. */
export type Noted = 'unseen' | 'listed' | 'none'

/**
 * Money that arrived and that nothing ties to an order of its payee. It is kept for the payee's owner, no matter whose orders it fits, or, where the payee has no
 * owner, for the accounts whose orders it fits. It is no payment of any order until evidence comes. Where memos name orders, it is what names one that has
 * ended: any other transfer with a memo pays the order that it names.
 */
export async function noteUnmatched(
  context: Context,
  chain: Chain,
  { signature, accountIds, settled, executed, order }: UnmatchedCandidate,
): Promise<Noted> {
  const { network } = chain.network
  if (familyOf(network) !== 'evm' && !order) return 'none'
  const seen = await chain.observe(signature)
  if (seen.state !== 'landed') return 'unseen'
  const transfer = executed ? findExecuted(executed.authorization, seen.moved) : readArrived(seen)
  if (!transfer || (order && !isFurther(order, transfer))) return 'none'
  const asset = chain.network.assets.find(({ address }) => address === transfer.asset)
  if (!asset) return 'none'
  const [owner, hosted] = await Promise.all([
    findOwner(context.db, network, transfer.recipient),
    findHosted(context.db, network, signature),
  ])
  // Without an owner of the payee, what a hosted payment moved is the payer's alone.
  const targets = owner !== undefined ? [owner] : hosted ? [] : accountIds
  const used = transferKey(network, { signature, messageHash: seen.messageHash })
  const keys = [used, executed && !executed.waits ? executed.key : null]
  const authorizationKey = executed?.key ?? ''
  let noted: Noted = 'none'
  for (const accountId of new Set(targets)) {
    // This ledger has it already.
    if (settled?.has(accountId) || hosted?.accountId === accountId) continue
    const listed = await context.db.transaction(async (tx) => {
      const name = { accountId, network, signature, id: null }
      const terms = { ...transfer, amount: transfer.amountAtomic }
      const { paid, unmatched } = await lockUses(tx, name, terms)
      const others = unmatched.filter((row) => row.authorizationKey !== authorizationKey)
      // Other proofs have used what was executed here, or it is listed for them: no more is listed than arrived.
      if (executed && paid + others.length >= countEqual(transfer, seen.moved)) return false
      // What pays an order, or a resource by its proof, is not missing an order. What a person assigned is listed.
      for (const key of keys) {
        const claim =
          key === null ? undefined : await findClaim(tx, { network, key, scope: accountId })
        if (claim?.consumedAt && !(executed && isAssigned(claim))) return false
      }
      await insertUnmatched(tx, {
        accountId,
        network,
        signature,
        sender: transfer.sender,
        recipient: transfer.recipient,
        asset: asset.address,
        symbol: asset.symbol,
        decimals: asset.decimals,
        amount: transfer.amountAtomic,
        nonce: transfer.nonce,
        authorizationKey,
        blockHeight: seen.height,
        blockHash: seen.blockHash,
        blockTime: seen.blockTime,
        createdAt: context.now(),
        finalizedAt: seen.finalized ? context.now() : null,
      })
      return true
    })
    if (listed) noted = 'listed'
  }
  return noted
}

type Landed = Extract<Observation, { state: 'landed' }>

/** What a transaction moved to its recipient, where it moved something: of a token that keeps a part, what arrived. */
function readArrived({ succeeded, transfer, arrivedAtomic = 0n }: Landed): ObservedTransfer | null {
  if (succeeded || transfer === null) return transfer
  return arrivedAtomic > 0n ? { ...transfer, amountAtomic: arrivedAtomic } : null
}

/**
 * Notes what arrived of an order whose token kept a part of it. That does not pay the order, which fails once it is final, and then nothing looks for the
 * money: it is noted before.
 */
export async function noteShort(
  context: Context,
  chain: Chain,
  {
    payment,
    signature,
    observation,
  }: { payment: MonitoredRecord; signature: string; observation: Observation },
): Promise<void> {
  const { mode, direction, accountId, network } = payment
  if (observation.state !== 'landed' || observation.succeeded || mode !== 'local') return
  if (!readArrived(observation) || !matchesPayment(payment, observation.transfer, observation))
    return
  await noteUnmatched(context, chain, {
    signature,
    // What the account sent is not money that it received.
    accountIds: direction === 'sent' ? [] : [accountId],
    ...(familyOf(network) === 'solana' && { order: payment }),
  })
}

/**
 * Whether a transfer is a further payment for an order that it names, of its payer or of another wallet. A name is public: what a stranger sends must be
 * as much as the order asks, so that it costs something to fill the list.
 */
function isFurther(
  { id, sender, recipient, asset, amount }: EndedOrder,
  transfer: ObservedTransfer,
): boolean {
  return (
    transfer.memo === id &&
    transfer.recipient === recipient &&
    transfer.asset === asset &&
    (transfer.sender === sender || transfer.amountAtomic >= amount)
  )
}

/**
 * Looks again at a transfer whose block was not final yet. One that a reorganization dropped may land
 * again, and nothing would find it then: it stays until its height is final without it.
 */
export async function checkUnmatched(
  context: Context,
  { chain, head }: { chain: Chain; head: Head },
  row: UnmatchedRecord,
): Promise<void> {
  const { id, signature, blockHeight, blockHash } = row
  const seen: Observation = await chain.observe(signature)
  if (seen.state === 'landed' && isIn(row, seen)) {
    if (seen.finalized || seen.blockHash !== blockHash)
      await setUnmatchedBlock(context.db, id, {
        finalizedAt: seen.finalized ? context.now() : null,
        blockHeight: seen.height,
        blockHash: seen.blockHash,
        blockTime: seen.blockTime,
      })
    return
  }
  const gone =
    seen.state === 'not_found'
      ? head.finalizedHeight >= blockHeight &&
        (await chain.isGone({ signature, height: blockHeight, blockHash }))
      : seen.state === 'landed' && seen.finalized
  if (!gone) return
  await context.db.transaction(async (tx) => {
    const { accountId: scope, network } = row
    await lockTransfer(tx, row)
    // It may have been assigned since it was read.
    const paymentId = await deleteUnmatched(tx, row.id)
    if (paymentId !== null)
      await releaseAssigned(tx, { scope, network, key: assignmentKey(row), paymentId })
  })
}

/** Whether a transaction still moves a transfer: in another block an authorization may have been executed by another one, and this one may have gone on without. */
function isIn(row: UnmatchedRecord, seen: Landed): boolean {
  if (row.authorizationKey === '') return seen.succeeded || readArrived(seen) !== null
  if (!seen.succeeded) return false
  const [scope, , nonce] = row.authorizationKey.split(':')
  return (seen.moved ?? []).some(
    (moved) =>
      countEqual(transferOf(row), [moved]) > 0 &&
      (scope === 'permit2' || moved.authorization?.toLowerCase() === nonce?.toLowerCase()),
  )
}

/** How many rows have their candidates looked for at once. */
const PARALLEL = 4

/** Money of the account that nothing ties to an order, in the order of `listUnmatched`, each with the orders that it fits. */
export async function readUnmatched(
  context: Context,
  actor: Actor,
  page: EndpointInput<'unmatchedList'>['query'],
): Promise<EndpointReply<'unmatchedList'>> {
  const { rows, ...counts } = await listUnmatched(context.db, actor.accountId, page)
  return {
    success: true,
    ...counts,
    transfers: await inParallel(rows, PARALLEL, (row) => describeUnmatched(context, row)),
  }
}

type UnmatchedReply = v.InferInput<typeof UnmatchedTransfer>

/** One transfer with its candidates. */
export async function describeUnmatched(
  { db }: Context,
  row: ListedTransfer,
): Promise<UnmatchedReply> {
  // Where a memo names the order, it fits no other one.
  const candidates =
    familyOf(row.network) === 'evm'
      ? await fittingOrders(db, row, { transfer: transferOf(row), block: blockOf(row) })
      : []
  return {
    transferId: row.id,
    network: row.network,
    signature: row.signature,
    sender: row.sender,
    recipient: row.recipient,
    asset: row.asset,
    symbol: row.symbol,
    decimals: row.decimals,
    amount: new LosslessNumber(formatAmount(row.amount, row.decimals)),
    amountAtomic: row.amount.toString(),
    blockHeight: row.blockHeight,
    timestamp: (row.blockTime ?? row.createdAt).getTime(),
    candidates: candidates.map(({ id, status, createdAt, metadata }) => ({
      paymentId: id,
      status,
      timestamp: createdAt.getTime(),
      metadata: readMetadata(metadata),
    })),
    assigned:
      row.assignedPaymentId === null
        ? null
        : {
            paymentId: row.assignedPaymentId,
            by: row.assignedBy,
            at: (row.assignedAt ?? row.createdAt).getTime(),
            note: row.assignedNote,
          },
    refundedBy: row.refundedBy,
  }
}

/** The row as the transfer that it was made from. */
export function transferOf({
  sender,
  recipient,
  asset,
  amount,
  nonce,
}: UnmatchedRecord): ObservedTransfer {
  return { sender, recipient, asset, amountAtomic: amount, memo: null, nonce }
}

/** The block that it is in. */
export function blockOf({ blockHeight: height, blockTime }: UnmatchedRecord): TransferBlock {
  return { height, blockTime }
}
