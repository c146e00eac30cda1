import type { EndpointReply } from '#contract/endpoints.ts'
import { stringifyJson } from '#contract/json.ts'
import { createPaymentId } from '#contract/payment.ts'
import type { Context } from '../../context/context.ts'
import { findPayment, insertPayment, type PaymentRecord } from '../../db/payments.ts'
import {
  deleteOrder,
  findOrder,
  insertOrder,
  type SettlementQuestion,
} from '../../db/settlement-orders.ts'
import { recordEvent } from '../../db/record-event.ts'
import { findAdoptable } from '../../payments/attribution.ts'
import { chainOf } from '../../context/network.ts'
import type { Job } from '../outcome.ts'
import { transferOf } from '../settle.ts'
import { notifyMonitor } from '../../chains/chain.ts'
import type { Prepared } from './prepare.ts'
import { resourceOf } from '../../verification/terms.ts'
import { reply } from './reply.ts'

/**
 * Records what the payee is about to settle, so that its landing is seen, and returns the
 * transaction. The same question has one payment.
 */
export async function order(
  context: Context,
  job: Job,
  prepared: Prepared,
): Promise<EndpointReply<'transactionReceive'>> {
  const row =
    (await findOwn(context, job)) ??
    (await findOrdered(context, job)) ??
    (await insert(context, job, prepared)) ??
    (await findOrdered(context, job))
  if (!row) throw new Error('A settlement was ordered at the same moment, and is not there.')
  notifyMonitor(chainOf(context, row.network))
  return reply(context, {
    payment: row,
    prepared,
    checks: job.report.checks,
    alreadyProcessed: false,
  })
}

/** The order of this account that the payer's transaction pays: it is followed as what it is. */
async function findOwn(
  context: Context,
  { accountId, terms, verifiedProof }: Job,
): Promise<PaymentRecord | undefined> {
  const { payer, signature } = verifiedProof
  if (payer === null || verifiedProof.authorization) return undefined
  const { network } = terms.network
  const transfer = transferOf({ terms, verifiedProof })
  const row = await findAdoptable(context.db, {
    accountId,
    network,
    transfer,
    signature: signature ?? '',
    block: null,
    resource: resourceOf({ terms, verifiedProof }),
  })
  return row?.mode === 'local' && (row.status === 'created' || row.status === 'pending')
    ? row
    : undefined
}

/** What was built for this question before, unless it was given up since. */
async function findOrdered(
  { db }: Pick<Context, 'db'>,
  job: Job,
): Promise<PaymentRecord | undefined> {
  const found = await findOrder(db, questionOf(job))
  const row = found && (await findPayment(db, found.paymentId))
  return row?.status === 'expired' ? undefined : row
}

function questionOf({ accountId, terms, verifiedProof, fingerprint }: Job): SettlementQuestion {
  return { accountId, network: terms.network.network, key: keyOf(verifiedProof), fingerprint }
}

/** Undefined when the same question was asked at the same moment. */
async function insert(
  context: Context,
  job: Job,
  prepared: Prepared,
): Promise<PaymentRecord | undefined> {
  const { accountId, terms, verifiedProof, report } = job
  const { network, asset, payTo, amountAtomic, resource } = terms
  const { signature, memo, payer, nonce } = verifiedProof
  const at = context.now()
  const paymentId = createPaymentId()
  const write = context.db.transaction(async (tx) => {
    const row = await insertPayment(tx, {
      id: paymentId,
      accountId,
      mode: 'received',
      status: 'created',
      network: network.network,
      asset: asset.address,
      symbol: asset.symbol,
      decimals: asset.decimals,
      amount: amountAtomic,
      sender: payer ?? '',
      recipient: payTo,
      resource: resource ?? storable(verifiedProof.resource),
      nonce: nonce ?? null,
      builtHeight: prepared.builtHeight,
      expiresAt:
        prepared.goodUntil === null ? null : new Date(Math.min(prepared.goodUntil, MAX_TIME)),
      createdAt: at,
      updatedAt: at,
    })
    const lastValidBlockHeight = memo === null ? null : prepared.lastValidBlockHeight
    const checks = stringifyJson(report.checks)
    // A payment that was given up makes room: what lands from now on is the new payment.
    const earlier = await findOrder(tx, questionOf(job))
    if (earlier && !(await findOrdered({ db: tx }, job))) await deleteOrder(tx, earlier.paymentId)
    const inserted = await insertOrder(tx, {
      ...questionOf(job),
      paymentId,
      signature,
      memo,
      lastValidBlockHeight,
      checks,
      createdAt: at,
    })
    if (!inserted) throw new DuplicateOrderError()
    for (const kind of ['payment', 'verification'] as const)
      await recordEvent(tx, {
        kind,
        accountId,
        paymentId,
        status: 'created',
        source: 'service',
        blockHeight: null,
        at,
      })
    return row
  })
  return write.catch((error: unknown) => {
    if (error instanceof DuplicateOrderError) return undefined
    throw error
  })
}

/** Rolls back the payment that was written for a question of the same moment. */
class DuplicateOrderError extends Error {}

/** An authorization may have no expiry; a date has a maximum. */
const MAX_TIME = Date.UTC(9999, 0)

function keyOf({ key }: Job['verifiedProof']): string {
  if (key === null) throw new TypeError('Only what was signed for others is ordered.')
  return key
}

/** The payer chose this text; Postgres cannot hold a null character. */
function storable(resource: string | null): string | null {
  return resource === null || resource.includes('\0') ? null : resource
}
