import type { EventSource, PaymentStatus } from '#contract/payment.ts'
import type { Observation } from '../chains/chain.ts'
import type { Context } from '../context/context.ts'
import {
  findPayment,
  lockPayment,
  movePayment,
  NOT_IN_BLOCK,
  type PaymentRecord,
} from '../db/payments.ts'
import {
  consumeLanded,
  deleteOrder,
  findOrder,
  type SettlementQuestion,
  type SettlementOrder,
} from '../db/settlement-orders.ts'
import { recordEvent } from '../db/record-event.ts'
import { lockTransfer } from '../db/unmatched.ts'
import { applyObservation } from '../payments/apply-observation.ts'
import { asTaken } from '../payments/payment-result.ts'
import {
  readSignedAuthorization,
  authorizationEndReason,
} from '../payments/signed-authorization.ts'
import { claimantOfOrder } from '../payments/attribution.ts'
import { chainOf } from '../context/network.ts'
import { findLanded, type Ordered } from './find-landed.ts'

/**
 * How long a settlement is looked for in every round. What its payee has not begun by then counts
 * as expired, until the chain shows it.
 */
const RETENTION_MS = 24 * 60 * 60 * 1000

const WAITING: readonly PaymentStatus[] = ['created', 'pending', 'rolled_back']

export type MonitoredOrder = Ordered & { source: EventSource }

/**
 * Checks whether a settlement built for its payee has landed; then the proof is used up, in one
 * commit.
 */
export async function monitorOrder(
  context: Context,
  { payment, order, chain, source }: MonitoredOrder,
): Promise<void> {
  const waiting = WAITING.includes(payment.status)
  if (!waiting && payment.status !== 'expired') return
  const seen = await findLanded({ payment, order, chain })
  if (seen.state === 'seen') return apply(context, { payment, order, chain, source }, seen)
  if (!waiting) return
  const failure = await whyOver(context, { payment, order, chain }, seen.used)
  if (failure !== undefined) return end(context, payment.id, { failure, forEver: true })
  const old =
    payment.status === 'created' &&
    context.now().getTime() > payment.createdAt.getTime() + RETENTION_MS
  if (old && !seen.used)
    await end(context, payment.id, {
      failure: 'Nobody settled this within a day: nothing was paid so far.',
      forEver: false,
    })
}

/**
 * The same when another endpoint is asked about a proof: undefined when nothing was built for this
 * question.
 */
export async function monitorQuestion(
  context: Context,
  question: SettlementQuestion,
): Promise<PaymentRecord | undefined> {
  const order = await findOrder(context.db, question)
  const payment = order && (await findPayment(context.db, order.paymentId))
  if (!order || !payment) return undefined
  await monitorOrder(context, {
    payment,
    order,
    chain: chainOf(context, payment.network),
    source: 'service',
  })
  return findPayment(context.db, payment.id)
}

type Seen = { signature: string; observation: Observation }

/** Rolls back the use of a proof whose transaction has no transfer left for it. */
class TransferTakenError extends Error {}

async function apply(
  context: Context,
  { order, chain, source }: MonitoredOrder,
  { signature, observation }: Seen,
): Promise<void> {
  const { paymentId } = order
  const paid = observation.state === 'landed' && observation.succeeded && observation.confirmed
  try {
    await context.db.transaction(async (tx) => {
      if (paid && !(await useUp(tx, order, signature)))
        return endWithin(context, tx, { paymentId, failure: TAKEN, forEver: true })
      const seen = { paymentId, signature, observation, source }
      if ((await applyObservation({ ...context, db: tx }, seen)) === 'taken' && paid)
        throw new TransferTakenError()
    })
  } catch (error) {
    if (!(error instanceof TransferTakenError)) throw error
    const final = await chain.observe(signature, asTaken)
    if (final.state === 'landed' && final.finalized && !final.succeeded)
      await end(context, paymentId, { failure: TAKEN, forEver: true })
  }
}

const TAKEN = 'What settled this paid another payment, which was asked for before.'

async function useUp(
  tx: Context['db'],
  order: SettlementOrder,
  signature: string,
): Promise<boolean> {
  // The payment, the transfer, then the claim, as everywhere.
  const row = await lockPayment(tx, order.paymentId)
  if (row) await lockTransfer(tx, { accountId: row.accountId, network: row.network, signature })
  const claimant = row && (await claimantOfOrder(tx, row))
  return claimant ? consumeLanded(tx, order, claimant) : false
}

/** What ended it, as the chain itself proves; undefined while it may still land. */
async function whyOver(
  context: Context,
  { payment, order, chain }: Ordered,
  used: boolean,
): Promise<string | undefined> {
  const authorized = readSignedAuthorization(chain, order.key, payment)
  if (authorized) return authorizationEndReason(context, payment, { ...authorized, used })
  const { asset, sender, recipient, amount: amountAtomic, nonce, builtHeight, createdAt } = payment
  // A memo that cannot be searched for proves nothing by its absence.
  if (nonce === null && order.memo === null) return undefined
  const over = await chain.canNeverLand({
    paymentId: order.memo ?? payment.id,
    asset,
    sender,
    recipient,
    amountAtomic,
    nonce,
    builtHeight,
    lastValidBlockHeight: order.lastValidBlockHeight,
    createdAt,
    reported: null,
    open: true,
    signed: order.signature === null ? [] : [order.signature],
  })
  return over ? 'Nobody settled this before it ended: nothing was paid.' : undefined
}

/**
 * `forEver`: it can never land, and the next request gets another payment; otherwise the chain may
 * still show it.
 */
type End = { failure: string; forEver: boolean }

function end(context: Context, paymentId: string, ending: End): Promise<void> {
  return context.db.transaction((tx) => endWithin(context, tx, { paymentId, ...ending }))
}

/** Nothing of it was ever seen, or what was seen is gone. */
async function endWithin(
  context: Context,
  tx: Context['db'],
  { paymentId, failure, forEver }: End & { paymentId: string },
): Promise<void> {
  const row = await lockPayment(tx, paymentId)
  if (!row) return
  const waiting = WAITING.includes(row.status)
  if (waiting) {
    const to = row.status === 'created' ? 'expired' : 'failed'
    const at = context.now()
    const facts = { failure, ...NOT_IN_BLOCK }
    await movePayment(tx, { id: row.id, from: row.status, to, at, facts })
    await recordEvent(tx, {
      accountId: row.accountId,
      paymentId: row.id,
      status: to,
      source: 'watcher',
      blockHeight: null,
      at,
    })
  }
  // Last: the order says who paid the fee that was just subtracted from the tallies.
  if (forEver && (waiting || row.status === 'expired')) await deleteOrder(tx, paymentId)
}
