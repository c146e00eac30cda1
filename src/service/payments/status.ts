import { formatAmount } from '#contract/amount.ts'
import type { EndpointReply } from '#contract/endpoints.ts'
import { LosslessNumber } from '#contract/json.ts'
import { familyOf, nativeAsset, SOLANA_FINAL_CONFIRMATIONS } from '#contract/network.ts'
import { ProblemError } from '#contract/problem.ts'
import { isLate, quoteOf } from '#contract/quote.ts'
import type { Database } from '#postgres/open.ts'
import type { Head } from '../chains/chain.ts'
import type { Actor, Context } from '../context/context.ts'
import { readDeployment } from '../db/deployment.ts'
import {
  findPayment,
  findStatuses,
  readEvents,
  type EventRecord,
  type PaymentRecord,
} from '../db/payments.ts'
import { readRefunds } from '../db/refunds.ts'
import { findAssigned, findFitting } from '../db/unmatched.ts'
import { describeMoney } from './describe-money.ts'
import { describeRefund } from './describe-refund.ts'
import { readMetadata } from './metadata.ts'
import { evidenceRequest } from './payer-evidence.ts'

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
  return toBody(context, await readOwnPayment(context, actor, id))
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
        late: quote !== undefined && isLate(quote, blockTime?.getTime()),
      }
    }),
  }
}

/** The status body of any payment: for readers that know whose it is, like the event stream. */
export async function readPaymentBody(
  context: Context,
  id: string,
): Promise<EndpointReply<'paymentStatus'>> {
  const row = await findPayment(context.db, id)
  if (!row) throw notFound(id)
  return toBody(context, row)
}

function notFound(id: string): ProblemError {
  return new ProblemError('NOT_FOUND', { message: `There is no payment ${id}.` })
}

async function toBody(
  context: Context,
  row: PaymentRecord,
): Promise<EndpointReply<'paymentStatus'>> {
  const [events, attribution, refunds] = await Promise.all([
    readEvents(context.db, row.id),
    readAttribution(context, row),
    readRefunds(context.db, [row.id]),
  ])
  return {
    ...(await describePayment(context, row, events)),
    attribution,
    refund: describeRefund(row.amount, refunds.get(row.id)),
  }
}

/** What is missing to tie a transfer to this order, where one was seen that fits it. */
async function readAttribution(
  { db }: Context,
  row: PaymentRecord,
): Promise<EndpointReply<'paymentStatus'>['attribution']> {
  const tied = { evidence: row.evidence, missing: [], transfer: null }
  if (row.evidence !== null || row.mode !== 'local' || familyOf(row.network) !== 'evm')
    return { ...tied, request: null, assigned: null }
  const [fitting, deployment, assigned] = await Promise.all([
    findFitting(db, row),
    readDeployment(db),
    readAssigned(db, row.id),
  ])
  if (!fitting) return { ...tied, request: evidenceRequest(row, deployment), assigned }
  return {
    assigned,
    evidence: null,
    missing: ['payer_signature', 'sender_verification'],
    transfer: fitting.signature,
    request: evidenceRequest(row, deployment, fitting.nonce),
  }
}

/** What a person assigned to an order. */
async function readAssigned(
  db: Database,
  paymentId: string,
): Promise<EndpointReply<'paymentStatus'>['attribution']['assigned']> {
  const row = await findAssigned(db, paymentId)
  if (!row) return null
  return {
    transferId: row.id,
    transfer: row.signature,
    by: row.assignedBy,
    at: (row.assignedAt ?? row.createdAt).getTime(),
    note: row.assignedNote,
  }
}

/** The status body of a row and its events. Asks no database, and never throws. */
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
    fee: describeFee(context, row),
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

function describeFee(context: Context, row: PaymentRecord): EndpointReply<'paymentStatus'>['fee'] {
  if (row.fee === null) return null
  const network = context.config.networks.find(({ network: id }) => id === row.network)
  const decimals = network
    ? nativeAsset(network).decimals
    : familyOf(row.network) === 'evm'
      ? 18
      : 9
  return {
    amount: new LosslessNumber(formatAmount(row.fee, decimals)),
    amountAtomic: row.fee.toString(),
  }
}
