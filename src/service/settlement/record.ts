import { fact } from '#contract/facts.ts'
import { stringifyJson } from '#contract/json.ts'
import { createPaymentId, isPaid, type PaymentStatus } from '#contract/payment.ts'
import type { ProblemError } from '#contract/problem.ts'
import { isUniqueViolation, type Database } from '#postgres/open.ts'
import type { Observation, ObservedTransfer, TransferBlock } from '../chains/chain.ts'
import type { Context } from '../context/context.ts'
import { insertAttempt } from '../db/attempts.ts'
import { consumeClaim, KEYLESS_SCOPE, type OpenClaim } from '../db/claims.ts'
import {
  extendValidity,
  findBySignature,
  findPayment,
  insertPayment,
  type NewPayment,
  type PaymentRecord,
} from '../db/payments.ts'
import {
  authorizationKeyOf,
  lockTransfer,
  markMatched,
  TransferRefundedError,
} from '../db/unmatched.ts'
import { recordEvents, type NewEvent } from '../db/record-event.ts'
import { applyObservation } from '../payments/apply-observation.ts'
import { findAdoptable, isAdoptable } from '../payments/attribution.ts'
import { resourceOf } from '../verification/terms.ts'
import { undecided } from '../verification/verification-report.ts'
import type { ProofUnderCheck, LandedObservation } from '../verification/validate-transfer.ts'

export type Recorded = ProofUnderCheck & {
  lease: OpenClaim
  fingerprint: string
  transfer: ObservedTransfer
}
/** `signature`: the transaction that pays, where one is known. */
type Known = Recorded & { signature: string | null }

/**
 * Uses up the proof and records its payment, in one commit: a used proof has a payment, and a
 * payment's proof is used.
 */
export async function recordLanded(
  context: Context,
  recorded: Known,
  landed: LandedObservation,
): Promise<PaymentRecord> {
  const { checks } = recorded.report
  const made = checks.length
  return context.db.transaction((tx) => {
    // An attempt that was rolled back has added its own.
    checks.length = made
    return usedFor({ ...context, db: tx }, recorded, landed)
  })
}

async function usedFor(
  context: Context,
  recorded: Known,
  landed: LandedObservation,
): Promise<PaymentRecord> {
  const statuses: PaymentStatus[] = landed.finalized ? ['confirmed', 'finalized'] : ['confirmed']
  const own = await adoptOrder(context, recorded, landed)
  if (own && isPaid(own.status)) {
    await consume(context.db, recorded, { paymentId: own.id, transaction: null })
    await recordEvents(context.db, verifiedEvents(own, context.now()))
    return own
  }
  const facts = {
    signature: recorded.signature,
    blockHeight: landed.height,
    blockHash: landed.blockHash,
    blockTime: landed.blockTime,
    fee: landed.feeAtomic,
    feePayer: landed.feePayer,
  }
  return insertReceived(context, recorded, { statuses, row: facts, transaction: null })
}

export type ValidityLimits = { lastValidBlockHeight: number | null; builtHeight: number }

/**
 * What the service is about to broadcast. `signer`: the managed wallet that pays the network fee
 * for it, where the payer does not.
 */
export type OutgoingSettlement = {
  bytes: Uint8Array
  signature: string
  signer: string | null
  nonce: number | null
  maxFee: bigint
}

/**
 * The same before a transaction is broadcast: from here on its bytes are sent until the chain shows
 * the outcome. Without bytes another party broadcasts what the payer signed, and its use is looked
 * for.
 */
export async function recordBroadcast(
  context: Context,
  recorded: Recorded,
  { limits, signed }: { limits: ValidityLimits; signed: OutgoingSettlement | null },
): Promise<PaymentRecord> {
  const { checks } = recorded.report
  const made = checks.length
  return context.db.transaction((tx) => {
    checks.length = made
    return recordBroadcastIn({ ...context, db: tx }, recorded, { limits, signed })
  })
}

/** The same in the caller's transaction, which `context.db` is. */
export async function recordBroadcastIn(
  context: Context,
  recorded: Recorded,
  { limits, signed }: { limits: ValidityLimits; signed: OutgoingSettlement | null },
): Promise<PaymentRecord> {
  const { db: tx } = context
  const transaction = signed && Buffer.from(signed.bytes).toString('base64')
  const known = { ...recorded, signature: signed?.signature ?? null }
  const own = await adoptOrder(context, known, { state: 'pending', transfer: recorded.transfer })
  if (own?.status === 'pending') {
    if (own.mode === 'local' && limits.lastValidBlockHeight !== null)
      await extendValidity(tx, own.id, limits.lastValidBlockHeight)
    await consume(tx, known, { paymentId: own.id, transaction })
    await recordEvents(tx, verifiedEvents(own, context.now()))
    return own
  }
  const row = {
    reportedSignature: known.signature,
    nonce: recorded.transfer.nonce,
    expiresAt: endOf(recorded),
    ...limits,
  }
  const inserted = await insertReceived(context, known, { statuses: ['pending'], row, transaction })
  if (signed && transaction !== null) {
    const { signer, signature, nonce, maxFee } = signed
    const at = context.now()
    await insertOnce(tx, {
      paymentId: inserted.id,
      number: 1,
      network: inserted.network,
      signer,
      signature,
      signedTransaction: transaction,
      nonce,
      lastValidBlockHeight: limits.lastValidBlockHeight,
      maxFee,
      createdAt: at,
      broadcastAt: at,
    })
  }
  return inserted
}

/** Another account may be settling the same payment right now: its bytes are sent once. */
async function insertOnce(tx: Database, row: Parameters<typeof insertAttempt>[1]): Promise<void> {
  await insertAttempt(tx, row).catch((error: unknown) => {
    throw isUniqueViolation(error, 'attempt_signature') ? beingSettled() : error
  })
}

export function beingSettled(): ProblemError {
  return undecided(
    'This payment is being settled at this moment. Nothing is decided; send the same request again.',
  )
}

/** The last second of the year 9999. */
const LAST_SECOND = 253_402_300_799n

/**
 * The last moment at which what was signed can be executed, where the signature names one; times
 * beyond the calendar are capped at its end.
 */
function endOf({ verifiedProof }: Recorded): Date | null {
  if (!verifiedProof.authorization) return null
  const { validBefore } = verifiedProof.authorization
  return new Date(Number(validBefore > LAST_SECOND ? LAST_SECOND : validBefore) * 1000)
}

/**
 * The order of this account that the proof's transfer pays, updated to what the chain shows: one
 * with evidence, and for exactly the resource that the payment is for. Undefined where there is
 * none; then the proof makes a separate received payment.
 * @throws ProofRefusedError `already_used` when the transfer has paid an order for something else
 */
async function adoptOrder(
  context: Context,
  known: Known,
  observation: Observation,
): Promise<PaymentRecord | undefined> {
  const { lease, verifiedProof, report, signature } = known
  const own = await findOrder(
    context.db,
    known,
    observation.state === 'landed' ? observation : null,
  )
  const paid = lease.order !== undefined || (own !== undefined && own.signature === signature)
  const resource = resourceOf(known)
  const same = own !== undefined && isAdoptable(own, resource)
  if (paid)
    report.check('already_used', {
      name: 'paid_order',
      source: 'record',
      ok: same,
      expected: { code: 'order_for', params: { resource } },
      got:
        own && own.resource !== resource
          ? { code: 'order', params: { order: own.id, resource: own.resource } }
          : fact('another_order'),
    })
  if (!own || !same) return undefined
  // What others submit for the payer is identified by its authorization, not by a transaction.
  if (verifiedProof.authorization || signature === null) return undefined
  await applyObservation(context, {
    paymentId: own.id,
    signature,
    observation,
    source: 'service',
    claimed: true,
  })
  const row = await findPayment(context.db, own.id)
  return (row?.signature ?? row?.reportedSignature) === signature ? row : undefined
}

/** What the transfer has already paid, or the best of the open orders that it could pay. */
async function findOrder(
  tx: Database,
  known: Known,
  block: TransferBlock | null,
): Promise<PaymentRecord | undefined> {
  const { accountId, lease, terms, verifiedProof, transfer, signature } = known
  if (lease.order !== undefined) return findPayment(tx, lease.order)
  if (verifiedProof.authorization || signature === null) return undefined
  // What our wallet signs is recorded as an attempt, and only a received payment has attempts.
  if (verifiedProof.feePayer && block === null) return undefined
  const { network } = terms.network
  const paid = await findBySignature(tx, { accountId, network, signature })
  return (
    paid ??
    findAdoptable(tx, {
      accountId,
      network,
      transfer,
      signature,
      block,
      resource: resourceOf(known),
    })
  )
}

type Received = {
  statuses: readonly PaymentStatus[]
  row: Partial<NewPayment>
  transaction: string | null
}

async function insertReceived(
  context: Context,
  recorded: Known,
  { statuses, row, transaction }: Received,
): Promise<PaymentRecord> {
  const { accountId, terms, transfer } = recorded
  const at = context.now()
  const inserted = await insertPayment(context.db, {
    ...row,
    id: createPaymentId(),
    accountId,
    mode: 'received',
    status: statuses.at(-1) ?? 'pending',
    network: terms.network.network,
    asset: terms.asset.address,
    symbol: terms.asset.symbol,
    decimals: terms.asset.decimals,
    amount: transfer.amountAtomic,
    sender: transfer.sender,
    recipient: transfer.recipient,
    resource: storable(resourceOf(recorded)),
    confirmedAt: statuses.includes('confirmed') ? at : null,
    createdAt: at,
    updatedAt: at,
  })
  await consume(context.db, recorded, { paymentId: inserted.id, transaction })
  const event = { accountId, paymentId: inserted.id, source: 'service', at } as const
  await recordEvents(context.db, [
    ...statuses.map((status) => ({ ...event, status, blockHeight: inserted.blockHeight })),
    ...verifiedEvents(inserted, at),
  ])
  return inserted
}

/** `applyObservation` reports a settlement that the chain shows only later. */
function verifiedEvents(row: PaymentRecord, at: Date): NewEvent[] {
  const { accountId, id: paymentId, status, blockHeight } = row
  const kinds = isPaid(status)
    ? (['verification', 'settlement'] as const)
    : (['verification'] as const)
  return kinds.map((kind) => ({
    kind,
    accountId,
    paymentId,
    status,
    source: 'service',
    blockHeight,
    at,
  }))
}

/** The payer chose this text; Postgres cannot hold a null character. */
function storable(resource: string | null): string | null {
  return resource === null || resource.includes('\0') ? null : resource
}

async function consume(
  tx: Database,
  { accountId, lease, fingerprint, report, signature }: Known,
  facts: { paymentId: string; transaction: string | null },
): Promise<void> {
  // Callers without a key decide nothing about the money of an account.
  const transfer =
    signature === null || lease.scope === KEYLESS_SCOPE
      ? undefined
      : { accountId, network: lease.network, signature }
  if (transfer) await lockTransfer(tx, transfer)
  const used = await consumeClaim(tx, lease, {
    ...facts,
    fingerprint,
    checks: stringifyJson(report.checks),
  })
  // Rolls everything back: another attempt has taken over.
  if (!used)
    throw undecided(
      'This request took longer than its hold on the proof. Nothing is decided; send the same request again.',
    )
  // It is no longer unmatched, even if a person had assigned it to something.
  try {
    if (transfer)
      await markMatched(
        tx,
        { ...transfer, authorizationKey: authorizationKeyOf(lease.key) },
        facts.paymentId,
      )
  } catch (error) {
    if (!(error instanceof TransferRefundedError)) throw error
    report.check('already_used', {
      name: 'single_use',
      source: 'record',
      ok: false,
      expected: fact('never_used'),
      got: fact('used'),
    })
  }
}
