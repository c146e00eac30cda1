import { formatAmount } from '#contract/amount.ts'
import type { EndpointReply } from '#contract/endpoints.ts'
import { LosslessNumber } from '#contract/json.ts'
import { familyOf, nativeAsset, SOLANA_FINAL_CONFIRMATIONS } from '#contract/network.ts'
import { ProblemError } from '#contract/problem.ts'
import { isLate, quoteOf } from '#contract/quote.ts'
import type { Head } from '../chains/chain.ts'
import type { Actor, Context } from '../context/context.ts'
import { readDeployment } from '../db/deployment.ts'
import {
  findPayment,
  findPayments,
  findStatuses,
  readEventsOf,
  type EventRecord,
  type PaymentRecord,
} from '../db/payments.ts'
import { readRefunds } from '../db/refunds.ts'
import { findAssigned, findFitting, type UnmatchedRecord } from '../db/unmatched.ts'
import { describeMoney, describeRefund, readMetadata } from './describe-money.ts'
import { evidenceRequest } from './attribution.ts'
import { readPaid, type PaidFee } from './paid-fee.ts'

/** @throws `NOT_FOUND` for an unknown payment and for another account's alike */
export async function readOwnPayment(
  context: Context,
  actor: Actor,
  id: string,
): Promise<PaymentRecord> {
  const row = await findPayment(context.db, id)
  if (row?.accountId !== actor.accountId) throw notFound(id)
  return row
}

/** The status body of a payment of this account. */
export async function readStatus(
  context: Context,
  actor: Actor,
  id: string,
): Promise<EndpointReply<'paymentStatus'>> {
  const row = await readOwnPayment(context, actor, id)
  return bodyOf(await describePayments(context, [row]), id)
}

/** What became of these payments. Those that are unknown or another account's are left out. Two queries. */
export async function readStatuses(
  { db }: Context,
  actor: Actor,
  ids: readonly string[],
): Promise<EndpointReply<'paymentStatuses'>> {
  const [rows, refunds] = await Promise.all([
    findStatuses(db, actor.accountId, ids),
    readRefunds(db, ids),
  ])
  return {
    success: true,
    payments: rows.map(({ id, status, amount, blockTime, metadata }) => {
      const quote = quoteOf(readMetadata(metadata))
      return {
        paymentId: id,
        status,
        refund: describeRefund(amount, refunds.get(id)),
        refundFinal: (refunds.get(id)?.final ?? 0n) >= amount,
        late: quote !== undefined && isLate(quote, blockTime?.getTime()),
      }
    }),
  }
}

type Body = EndpointReply<'paymentStatus'>

/** The status body of any payment: for readers that know whose it is, like the event stream. */
export async function readPaymentBody(context: Context, id: string): Promise<Body> {
  return bodyOf(await readPaymentBodies(context, [id]), id)
}

/** The same of several payments, in as many queries as of one. */
export async function readPaymentBodies(
  context: Context,
  ids: readonly string[],
): Promise<Map<string, Body>> {
  return describePayments(context, await findPayments(context.db, ids))
}

/** @throws `NOT_FOUND` */
function bodyOf(bodies: ReadonlyMap<string, Body>, id: string): Body {
  const body = bodies.get(id)
  if (!body) throw notFound(id)
  return body
}

function notFound(id: string): ProblemError {
  return new ProblemError('NOT_FOUND', { message: `There is no payment ${id}.` })
}

async function describePayments(
  context: Context,
  rows: readonly PaymentRecord[],
): Promise<Map<string, Body>> {
  if (rows.length === 0) return new Map()
  const { db } = context
  const ids = rows.map(({ id }) => id)
  const [events, attributions, refunds, paidOf] = await Promise.all([
    readEventsOf(db, ids),
    readAttributions(context, rows),
    readRefunds(db, ids),
    readPaid(db, rows),
  ])
  const bodies = rows.map(async (row) => ({
    ...(await describePayment(context, row, events.get(row.id) ?? [])),
    fee: describeFee(context, row, paidOf(row)),
    attribution: attributions(row),
    refund: describeRefund(row.amount, refunds.get(row.id)),
  }))
  return new Map((await Promise.all(bodies)).map((body) => [body.paymentId, body]))
}

/** What is missing to tie a transfer to each of these orders, where one was seen that fits it. */
async function readAttributions(
  { db }: Context,
  rows: readonly PaymentRecord[],
): Promise<(row: PaymentRecord) => Body['attribution']> {
  const untied = rows.filter(
    ({ evidence, mode, network }) =>
      evidence === null && mode === 'local' && familyOf(network) === 'evm',
  )
  const tied = { missing: [], transfer: null, request: null, assigned: null }
  if (untied.length === 0) return ({ evidence }) => ({ ...tied, evidence })
  const ids = untied.map(({ id }) => id)
  const [fitting, deployment, assigned] = await Promise.all([
    findFitting(db, ids),
    readDeployment(db),
    findAssigned(db, ids),
  ])
  const open = new Set(ids)
  return (row) => {
    if (!open.has(row.id)) return { ...tied, evidence: row.evidence }
    const transfer = fitting.get(row.id)
    return {
      evidence: null,
      missing: transfer ? ['payer_signature', 'sender_verification'] : [],
      transfer: transfer?.signature ?? null,
      request: evidenceRequest(row, deployment, transfer?.nonce),
      assigned: describeAssigned(assigned.get(row.id)),
    }
  }
}

/** What a person assigned to an order. */
function describeAssigned(row: UnmatchedRecord | undefined): Body['attribution']['assigned'] {
  if (!row) return null
  return {
    transferId: row.id,
    transfer: row.signature,
    by: row.assignedBy,
    at: (row.assignedAt ?? row.createdAt).getTime(),
    note: row.assignedNote,
  }
}

/** The status body of a row and its events, without what other tables tell. Asks no database, and never throws. */
export async function describePayment(
  context: Context,
  row: PaymentRecord,
  events: readonly EventRecord[],
): Promise<EndpointReply<'paymentStatus'>> {
  const head = await context.chains.get(row.network)?.recentHead()
  return {
    success: true,
    paymentId: row.id,
    mode: row.mode,
    direction: row.direction,
    signature:
      row.signature ??
      (row.status === 'created' || row.status === 'pending' ? row.reportedSignature : null),
    status: row.status,
    ...describeMoney(row),
    blockHeight: row.blockHeight,
    blockTime: row.blockTime?.getTime() ?? null,
    ...countConfirmations(context, row, head),
    fee: null,
    timestamp: row.createdAt.getTime(),
    expiresAt: row.expiresAt?.getTime() ?? null,
    lastValidBlockHeight: row.lastValidBlockHeight,
    metadata: readMetadata(row.metadata),
    paymentProof: row.paymentProof,
    failure: row.failure,
    refundOf: row.refundOf,
    refund: describeRefund(row.amount, undefined),
    draft: row.draft,
    refundReason: row.refundReason,
    refundNote: row.refundNote,
    attribution: {
      evidence: row.evidence,
      missing: [],
      transfer: null,
      request: null,
      assigned: null,
    },
    events: events.map(({ status, at, blockHeight, source }) => ({
      status,
      at: at.getTime(),
      blockHeight,
      source,
    })),
  }
}

/** Blocks on top of the payment's own, and itself. On Solana they count up to the cluster's lockout, at which a payment is final. */
function countConfirmations(
  context: Context,
  row: PaymentRecord,
  head: Head | undefined,
): { confirmations: number; requiredConfirmations: number } {
  const configured =
    context.config.networks.find(({ network }) => network === row.network)?.confirmations ?? 1
  const solana = familyOf(row.network) === 'solana'
  const requiredConfirmations = solana ? SOLANA_FINAL_CONFIRMATIONS : configured
  if (row.blockHeight === null) return { confirmations: 0, requiredConfirmations }
  const known =
    row.status === 'finalized' || (row.status === 'confirmed' && !solana)
      ? requiredConfirmations
      : 1
  const counted = head === undefined ? known : Math.max(known, head.height - row.blockHeight + 1)
  return {
    confirmations: solana ? Math.min(counted, SOLANA_FINAL_CONFIRMATIONS) : counted,
    requiredConfirmations,
  }
}

function describeFee(
  context: Context,
  row: PaymentRecord,
  paid: PaidFee | undefined,
): EndpointReply<'paymentStatus'>['fee'] {
  if (!paid) return null
  const { feeAtomic, payer, ofTransaction } = paid
  const network = context.config.networks.find(({ network: id }) => id === row.network)
  const decimals = network
    ? nativeAsset(network).decimals
    : familyOf(row.network) === 'evm'
      ? 18
      : 9
  return {
    amount: new LosslessNumber(formatAmount(feeAtomic, decimals)),
    amountAtomic: feeAtomic.toString(),
    payer,
    ofTransaction,
  }
}
