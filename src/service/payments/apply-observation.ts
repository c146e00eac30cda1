import { decodeTransaction } from '#chains/solana/decode.ts'
import { familyOf } from '#contract/network.ts'
import type { EventSource, Evidence, PaymentStatus } from '#contract/payment.ts'
import { isUniqueViolation, type Database } from '#postgres/open.ts'
import { MAX_REORG, type Observation, type ObservedTransfer } from '../chains/chain.ts'
import type { Context } from '../context/context.ts'
import { persistProofOf, readAttempts } from '../db/attempts.ts'
import { claimForOrder, findClaimKey, isProven, releaseAssigned } from '../db/claims.ts'
import { lowerCursor } from '../db/cursors.ts'
import type { MoveFacts } from '../db/payment-move.ts'
import {
  findBySignature,
  lockPayment,
  movePayment,
  noteBlock,
  type MonitoredRecord,
  type PaymentRecord,
  NOT_IN_BLOCK,
} from '../db/payments.ts'
import { recordEvent, recordEvents } from '../db/record-event.ts'
import { settleRefundRequests } from '../db/refund-requests.ts'
import { recordFeeOfPaid, recordFeePaid, reopenFee } from '../db/settlement-fees.ts'
import {
  assignmentKey,
  lockTransfer,
  lockUses,
  markMatched,
  markOneMatched,
  TransferRefundedError,
} from '../db/unmatched.ts'
import { attribute, claimantOfOrder, matchesPayment } from './attribution.ts'
import { countEqual } from './payment-result.ts'

type Landed = Extract<Observation, { state: 'landed' }>
/**
 * `claimed`: the caller uses up the transfer for this payment in the same transaction. `read`: the row of what the service
 * signed or was presented, as it was read in this round.
 */
export type SeenPayment = {
  paymentId: string
  signature: string
  observation: Observation
  source: EventSource
  claimed?: boolean
  read?: MonitoredRecord
}

/**
 * `moved`: the status changed. `same`: nothing new, or nothing certain yet. `foreign`: the
 * transaction is not this payment. `taken`: it already belongs to another payment. `unproven`: it
 * meets the terms of this order, but nothing ties it to the order.
 */
export type Applied = 'moved' | 'same' | 'foreign' | 'taken' | 'unproven'

type Applying = Pick<Context, 'db' | 'now'>

/**
 * Applies what the chain shows of a transaction: status changes and their events in one commit, or
 * nothing.
 */
export async function applyObservation(context: Applying, seen: SeenPayment): Promise<Applied> {
  const { observation, signature } = seen
  if (observation.state === 'not_found') {
    await noteBlock(context.db, seen.paymentId, null)
    return 'same'
  }
  if (observation.state === 'pending' && observation.transfer === undefined) return 'same'
  const block = observation.state === 'landed' ? observation : null
  if (seen.read && stillPends(seen.read, observation)) {
    // Its terms never change, and the statement itself requires that it still waits.
    await noteBlock(context.db, seen.paymentId, block)
    return 'same'
  }
  const height = block?.height ?? null
  let isProof = false
  try {
    return await context.db.transaction(async (tx) => {
      const row = await lockPayment(tx, seen.paymentId)
      isProof = row?.mode === 'received'
      const transfer = row && transferOf(row, observation)
      if (!row || !matchesPayment(row, transfer, block)) return 'foreign'
      // A transaction is one payment of an account.
      const owner =
        row.mode === 'received' || row.signature === signature
          ? row
          : await findBySignature(tx, { ...row, signature })
      if (owner && owner.id !== row.id) return 'taken'
      const path = pathFrom(row, seen)
      const evidence =
        row.mode === 'received' || path.length === 0 || isTied(row, signature)
          ? row.evidence
          : await attribute(tx, row, { transfer, signature, block })
      if (path.length > 0 && row.mode !== 'received' && evidence === null) return 'unproven'
      if (path.includes('confirmed') && row.mode !== 'received' && !seen.claimed) {
        const claimed = await useUp(tx, row, seen)
        // What the service signed is this payment, regardless of what its payee used the transfer
        // for.
        if (claimed !== 'claimed' && row.mode !== 'hosted')
          return claimed === 'held' ? 'same' : 'taken'
      }
      const isPaid = path.includes('confirmed')
      if (isPaid && !(await useUpMoved(tx, row, seen))) return 'taken'
      if (path.length === 0)
        await noteBlock(
          tx,
          row.id,
          observation.state === 'landed' && observation.succeeded ? observation : null,
        )
      const at = context.now()
      for (const [index, to] of path.entries()) {
        await movePayment(tx, {
          id: row.id,
          from: path[index - 1] ?? row.status,
          to,
          at,
          facts: factsOf(row, seen, { to, at, evidence }),
        })
      }
      if (row.mode === 'hosted' && observation.state === 'landed' && path.length > 0)
        await persistProofOf(tx, { id: row.id, network: row.network, signature })
      if (row.mode === 'received' && observation.state === 'landed' && path.length > 0) {
        const receipt = { paymentId: row.id, signature, feeAtomic: observation.feeAtomic }
        // A block that does not count yet may still go.
        if (isPaid) await recordFeeOfPaid(tx, receipt)
        else if (path.includes('failed')) await recordFeePaid(tx, receipt)
      }
      if (row.refundOf !== null && path.includes('finalized'))
        await settleRefundRequests(tx, row.refundOf, at)
      const { accountId, id: paymentId } = row
      const noted = { accountId, paymentId, source: seen.source, blockHeight: height, at }
      const isSettled = isPaid && (await isProven(tx, row.id))
      await recordEvents(tx, [
        ...path.map((status) => ({ ...noted, status })),
        ...(isSettled
          ? [{ ...noted, kind: 'settlement' as const, status: path.at(-1) ?? row.status }]
          : []),
      ])
      return path.length > 0 ? 'moved' : 'same'
    })
  } catch (error) {
    // Another payment took the transaction between the read and the write.
    if (isUniqueViolation(error)) return 'taken'
    if (error instanceof TransferRefundedError)
      return error.refund.status === 'finalized' || isProof ? 'taken' : 'same'
    throw error
  }
}

/**
 * Whether the row that was read in this round says already what the chain shows, so that there is nothing to
 * write: of a payment that waits for the transaction it was reported or signed with.
 */
export function isRecorded(
  row: MonitoredRecord,
  { observation }: Pick<SeenPayment, 'observation'>,
): boolean {
  if (observation.state === 'not_found')
    return row.status === 'pending' && row.blockHeight === null && row.blockTime === null
  const block = observation.state === 'landed' ? observation : null
  return (
    stillPends(row, observation) &&
    row.blockHeight === (block?.height ?? null) &&
    row.blockTime?.getTime() === block?.blockTime?.getTime()
  )
}

/** Whether a payment that waits goes on waiting: its transaction is in no block, or in one that does not count yet. */
function stillPends(
  row: MonitoredRecord,
  observation: Exclude<Observation, { state: 'not_found' }>,
): boolean {
  const block = observation.state === 'landed' ? observation : null
  if (block && (!block.succeeded || block.confirmed || block.finalized)) return false
  return row.status === 'pending' && matchesPayment(row, transferOf(row, observation), block)
}

/**
 * An order stays tied to a transaction that has paid it; an order under way when evidence was
 * introduced ends by the rule it began with.
 */
function isTied({ signature, reportedSignature, evidence }: PaymentRecord, seen: string): boolean {
  return (
    evidence !== null &&
    (signature === seen || (evidence === 'unproven' && reportedSignature === seen))
  )
}

/**
 * The transfer pays this order and nothing else, from the commit that confirms it. A payer's own
 * bookkeeping uses up nothing.
 */
async function useUp(
  tx: Database,
  row: PaymentRecord,
  { observation, signature }: SeenPayment,
): Promise<'claimed' | 'held' | 'taken'> {
  const claimant = await claimantOfOrder(tx, row)
  if (claimant === null) return 'claimed'
  const key = transferKey(row.network, {
    signature,
    messageHash: observation.state === 'landed' ? observation.messageHash : undefined,
  })
  if (key === null) return 'held'
  const transfer = { accountId: row.accountId, network: row.network, signature }
  await lockTransfer(tx, transfer)
  const claimed = await claimForOrder(tx, claimant, {
    network: row.network,
    key,
    paymentId: row.id,
  })
  if (claimed === 'claimed') await markMatched(tx, transfer, row.id)
  return claimed
}

/**
 * Several proofs may name one transaction, and a token does not say exactly which of them moved what:
 * a payer can use two nonces for one transfer. So no more payments are confirmed by it than it made
 * equal transfers. An unmatched one yields, assigned or not: a proof is the payer's evidence. False
 * when other payments have used them all.
 */
async function useUpMoved(
  tx: Database,
  row: PaymentRecord,
  { observation, signature }: SeenPayment,
): Promise<boolean> {
  if (row.mode !== 'received' || observation.state !== 'landed') return true
  const { accountId, network, sender, recipient, asset, amount: amountAtomic } = row
  const moved = countEqual({ sender, recipient, asset, amountAtomic }, observation.moved)
  // Anything else is used up by its name or its message, and is one transfer.
  if (moved === 0) return true
  const name = { accountId, network, signature }
  const { paid, unmatched } = await lockUses(tx, { ...name, id: row.id }, row)
  if (paid >= moved) return false
  if (unmatched.length === 0) return true
  // The one that was listed of this very proof, or one where more would be listed than is left.
  const key = await findClaimKey(tx, row.id)
  const yields =
    unmatched.find(({ authorizationKey }) => authorizationKey !== '' && authorizationKey === key) ??
    (paid + unmatched.length >= moved ? unmatched[0] : undefined)
  if (!yields) return true
  if (yields.refundedBy) throw new TransferRefundedError(yields.refundedBy)
  const { assignedPaymentId: paymentId } = yields
  if (paymentId !== null)
    await releaseAssigned(tx, {
      scope: accountId,
      network,
      key: assignmentKey({ ...yields, signature }),
      paymentId,
    })
  await markOneMatched(tx, yields.id, row.id)
  return true
}

/**
 * The key under which a plain transfer is used up, the same at every endpoint; null where the node
 * does not show it.
 */
export function transferKey(
  network: string,
  { signature, messageHash }: { signature: string; messageHash: string | undefined },
): string | null {
  if (familyOf(network) === 'evm') return `txid:${signature}`
  return messageHash === undefined ? null : `message:${messageHash}`
}

/**
 * The part of what a transaction moved that is this payment; a presented proof may be paid by a
 * transaction that moves more.
 */
function transferOf(
  row: MonitoredRecord,
  { transfer, ...observation }: Exclude<Observation, { state: 'not_found' }>,
): ObservedTransfer | null | undefined {
  const moved = row.mode === 'received' && 'moved' in observation ? observation.moved : undefined
  return moved?.find((candidate) => matchesPayment(row, candidate, null)) ?? transfer
}

/**
 * The status changes from the payment's status to what the chain shows, all of them legal; none
 * when it is there already.
 */
function pathFrom(row: PaymentRecord, { observation, signature }: SeenPayment): PaymentStatus[] {
  if (failedOtherwise(row, observation)) return []
  const other = row.signature !== null && row.signature !== signature
  if (observation.state !== 'landed')
    return row.status === 'created' || row.status === 'rolled_back' ? ['pending'] : []
  const paid: PaymentStatus[] = observation.finalized ? ['confirmed', 'finalized'] : ['confirmed']
  const target = observation.succeeded
    ? observation.confirmed
      ? paid
      : []
    : failedFor(observation)
  switch (row.status) {
    case 'created':
      return ['pending', ...target]
    case 'pending':
      return target
    case 'rolled_back':
      return target.length > 0 ? target : ['pending']
    case 'expired':
      return observation.succeeded ? target : []
    case 'confirmed':
      return !other && observation.succeeded && observation.finalized ? ['finalized'] : []
    default:
      return []
  }
}

/**
 * Whether a transaction failed that the payer's wallet made itself, from the code of an order: the
 * same code may still pay, and another transaction of it may be under way, so the order stays open
 * until its deadline. What the service built, with its blockhash, can run only once.
 */
function failedOtherwise(
  { mode, refundOf, unsignedTransaction }: PaymentRecord,
  observation: SeenPayment['observation'],
): boolean {
  const failedBlockhash = 'failedBlockhash' in observation ? observation.failedBlockhash : undefined
  if (failedBlockhash === undefined || mode !== 'local' || refundOf !== null) return false
  const built = decodeTransaction(Buffer.from(unsignedTransaction ?? '', 'base64'))
  return !built.ok || built.blockhash !== failedBlockhash
}

/**
 * `failed` is permanent, so it waits for finality: until then a reorg may still turn the
 * transaction into a payment.
 */
function failedFor(observation: Landed): PaymentStatus[] {
  return observation.finalized ? ['failed'] : []
}

function factsOf(
  row: PaymentRecord,
  { observation, signature }: SeenPayment,
  move: { to: PaymentStatus; at: Date; evidence: Evidence | null },
): MoveFacts {
  const tied = { draft: false, evidence: move.evidence }
  if (observation.state !== 'landed') {
    const nonce = 'transfer' in observation ? observation.transfer?.nonce : null
    // Speeding it up changes the fees and keeps the nonce.
    const payerNonce = move.evidence === 'fingerprint' ? { payerNonce: nonce } : {}
    return {
      ...tied,
      ...payerNonce,
      reportedSignature: signature,
      nonce: nonce ?? row.nonce,
      broadcastAt: row.broadcastAt ?? move.at,
    }
  }
  const { height, blockHash, blockTime, feeAtomic, feePayer, failure, transfer } = observation
  const confirmedAt = move.to === 'confirmed' ? move.at : undefined
  return {
    ...tied,
    signature,
    blockHeight: height,
    blockHash,
    blockTime,
    // Which of the proofs that it settles has the fee is decided when they are used up.
    ...(!(row.mode === 'received' && move.to === 'pending') && { fee: feeAtomic, feePayer }),
    nonce: transfer?.nonce ?? row.nonce,
    ...(move.to === 'failed' && { failure }),
    // The reason it was given up no longer applies.
    ...(move.to === 'confirmed' && { failure: null }),
    ...(confirmedAt && { confirmedAt }),
  }
}

/**
 * Rolls back a confirmation whose block is gone; its transaction is looked for again, and in the
 * blocks that a reorganization may have replaced whatever else pays the order. False when the payment
 * has changed status since it was read.
 */
export async function rollBack(context: Applying, payment: MonitoredRecord): Promise<boolean> {
  return context.db.transaction(async (tx) => {
    const row = await lockPayment(tx, payment.id)
    if (
      row?.status !== 'confirmed' ||
      row.signature !== payment.signature ||
      row.blockHash !== payment.blockHash
    )
      return false
    const at = context.now()
    // What our wallet signed is followed by its attempts, also where another one has paid. A payer's message may have landed under another signature.
    const attempts = row.mode === 'received' ? await readAttempts(tx, row.id) : []
    const isOurs = attempts.some(({ signer }) => signer !== null)
    const reportedSignature = isOurs ? row.reportedSignature : row.signature
    const facts = { ...NOT_IN_BLOCK, confirmedAt: null, reportedSignature }
    // First, so that the tallies take it from the status under which it was noted.
    if (row.mode === 'received' && row.signature !== null)
      await reopenFee(tx, { paymentId: row.id, signature: row.signature })
    await movePayment(tx, { id: row.id, from: 'confirmed', to: 'rolled_back', at, facts })
    await recordEvent(tx, {
      accountId: row.accountId,
      paymentId: row.id,
      status: 'rolled_back',
      source: 'watcher',
      blockHeight: row.blockHeight,
      at,
    })
    // They may have been read while the order was confirmed, and nothing was looked for in them for it.
    if (row.mode === 'local' && row.blockHeight !== null && familyOf(row.network) === 'evm')
      await lowerCursor(tx, row.network, row.blockHeight - MAX_REORG)
    return true
  })
}
