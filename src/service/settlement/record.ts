import { fact } from '#contract/facts.ts'
import { stringifyJson } from '#contract/json.ts'
import { createPaymentId, isPaid, type PaymentStatus } from '#contract/payment.ts'
import type { ProblemError } from '#contract/problem.ts'
import { isUniqueViolation, type Database } from '#postgres/open.ts'
import type { Observation, ObservedTransfer, TransferBlock } from '../chains/chain.ts'
import type { Context } from '../context/context.ts'
import { consumeClaim, KEYLESS_SCOPE, type Consumed, type OpenClaim } from '../db/claims.ts'
import {
  extendValidity,
  findBySignature,
  findPayment,
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
import { recordPresented } from '../db/record-payment.ts'
import { reserveFee, type ReservedFee } from '../db/settlement-fees.ts'
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
  /** Of which account the budget pays it, null for callers without a key; undefined where no wallet of ours pays. */
  budgetOf?: string | null
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
    const fee = feeOf(own.id, recorded, signed)
    if (fee) await reserveFee(tx, fee)
    return own
  }
  const row = {
    reportedSignature: known.signature,
    nonce: recorded.transfer.nonce,
    expiresAt: endOf(recorded),
    ...limits,
  }
  return insertReceived(context, known, {
    statuses: ['pending'],
    row,
    transaction,
    signed,
    lastValidBlockHeight: limits.lastValidBlockHeight,
  }).catch((error: unknown) => {
    // Another account may be settling the same payment right now: its bytes are sent once.
    throw isUniqueViolation(error, 'attempt_signature') ? beingSettled() : error
  })
}

function feeOf(
  paymentId: string,
  { terms }: Recorded,
  signed: OutgoingSettlement | null,
): ReservedFee | undefined {
  if (!signed || signed.signer === null || signed.budgetOf === undefined) return undefined
  const { signer: wallet, budgetOf: accountId, maxFee: feeAtomic } = signed
  return { paymentId, network: terms.network.network, wallet, accountId, feeAtomic }
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
  signed?: OutgoingSettlement | null
  lastValidBlockHeight?: number | null
}

async function insertReceived(
  context: Context,
  recorded: Known,
  { statuses, row, transaction, signed = null, lastValidBlockHeight = null }: Received,
): Promise<PaymentRecord> {
  const { accountId, terms, transfer, lease } = recorded
  const { db: tx } = context
  const at = context.now()
  const paymentId = createPaymentId()
  const status = statuses.at(-1) ?? 'pending'
  const { network } = terms.network
  const name = nameOf(recorded)
  if (name) await lockTransfer(tx, name)
  const attempt = signed && {
    paymentId,
    number: 1,
    network,
    signer: signed.signer,
    signature: signed.signature,
    signedTransaction: Buffer.from(signed.bytes).toString('base64'),
    paymentProof: null,
    nonce: signed.nonce,
    lastValidBlockHeight,
    maxFee: signed.maxFee,
    createdAt: at,
    broadcastAt: at,
  }
  const blockHeight = row.blockHeight ?? null
  const inserted = await recordPresented(
    tx,
    {
      ...row,
      id: paymentId,
      accountId,
      mode: 'received',
      status,
      network,
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
    },
    {
      events: [
        ...statuses.map((each) => ({ status: each, source: 'service', blockHeight, at }) as const),
        ...verifiedEvents({ accountId, id: paymentId, status, blockHeight }, at),
      ],
      signed: attempt ?? undefined,
      lease,
      consumed: consumedOf(recorded, { paymentId, transaction }),
      fee: feeOf(paymentId, recorded, signed),
    },
  )
  if (!inserted) throw lostClaim()
  if (name) await match(tx, recorded, { name, paymentId })
  return inserted
}

/** `applyObservation` reports a settlement that the chain shows only later. */
function verifiedEvents(
  row: Pick<PaymentRecord, 'accountId' | 'id' | 'status' | 'blockHeight'>,
  at: Date,
): NewEvent[] {
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
  recorded: Known,
  facts: { paymentId: string; transaction: string | null },
): Promise<void> {
  const name = nameOf(recorded)
  if (name) await lockTransfer(tx, name)
  if (!(await consumeClaim(tx, recorded.lease, consumedOf(recorded, facts)))) throw lostClaim()
  if (name) await match(tx, recorded, { name, paymentId: facts.paymentId })
}

function consumedOf(
  { fingerprint, report }: Known,
  facts: { paymentId: string; transaction: string | null },
): Consumed {
  return { ...facts, fingerprint, checks: stringifyJson(report.checks) }
}

/** Rolls everything back: another attempt has taken over. */
function lostClaim(): ProblemError {
  return undecided(
    'This request took longer than its hold on the proof. Nothing is decided; send the same request again.',
  )
}

type TransferName = Parameters<typeof lockTransfer>[1]

/** Callers without a key decide nothing about the money of an account. */
function nameOf({ accountId, lease, signature }: Known): TransferName | undefined {
  return signature === null || lease.scope === KEYLESS_SCOPE
    ? undefined
    : { accountId, network: lease.network, signature }
}

/** It is no longer unmatched, even if a person had assigned it to something. */
async function match(
  tx: Database,
  { lease, report }: Known,
  { name, paymentId }: { name: TransferName; paymentId: string },
): Promise<void> {
  try {
    const authorizationKey = authorizationKeyOf(lease.key)
    await markMatched(tx, { ...name, authorizationKey }, paymentId)
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
