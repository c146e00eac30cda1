import type { EventSource } from '#contract/payment.ts'
import type { Observation } from '../chains/chain.ts'
import type { Context } from '../context.ts'
import { findPayment, lockPayment, movePayment, type PaymentRecord } from '../db/payments.ts'
import { consumeLanded, deleteOrder, findOrder, type Question, type SettlementOrder } from '../db/settlement-orders.ts'
import { recordEvent } from '../events/record.ts'
import { applyObservation } from '../payments/apply-observation.ts'
import { chainOf } from '../payments/network.ts'
import { findLanded, readAuthorization, type Ordered } from './find-landed.ts'

/** An authorization that nobody has carried out so long after its end never will be, even on a chain whose blocks are late. */
const OVER_AFTER_MS = 15 * 60 * 1000
/** Nobody takes a proof that is older. */
const KEPT_MS = 24 * 60 * 60 * 1000

const WAITING: readonly PaymentRecord['status'][] = ['created', 'pending', 'rolled_back']

export type Following = Ordered & { source: EventSource }

/** Looks whether a settlement that its payee was given has landed; with it the proof is used up, in one commit. */
export async function followOrder(context: Context, { payment, order, chain, source }: Following): Promise<void> {
  if (!WAITING.includes(payment.status)) return
  const seen = await findLanded({ payment, order, chain })
  if (seen.state === 'seen') return apply(context, { order, source }, seen)
  if (seen.state === 'void') return end(context, payment.id, 'What the payer signed was taken back, or used long ago: nothing was paid for this.')
  if (await isOver(context, { payment, order, chain })) await end(context, payment.id, 'Nobody settled this before it ended: nothing was paid.')
}

/** The same, for whoever is asked about a proof at another door: undefined when nothing was built for this question. */
export async function followQuestion(context: Context, question: Question): Promise<PaymentRecord | undefined> {
  const order = await findOrder(context.db, question)
  const payment = order && (await findPayment(context.db, order.paymentId))
  if (!order || !payment) return undefined
  await followOrder(context, { payment, order, chain: chainOf(context, payment.network), source: 'service' })
  return findPayment(context.db, payment.id)
}

type Seen = { signature: string; observation: Observation }

async function apply(context: Context, { order, source }: { order: SettlementOrder; source: EventSource }, { signature, observation }: Seen): Promise<void> {
  const { paymentId } = order
  const paid = observation.state === 'landed' && observation.succeeded && observation.confirmed
  await context.db.transaction(async (tx) => {
    if (!paid || (await consumeLanded(tx, order))) return applyObservation({ ...context, db: tx }, { paymentId, signature, observation, source })
    await endWithin(context, tx, { paymentId, failure: 'What settled this paid another payment, which was asked for before.' })
  })
}

/** Whether the chain can no longer show it. */
async function isOver(context: Context, { payment, order, chain }: Ordered): Promise<boolean> {
  const now = context.now().getTime()
  if (now > payment.createdAt.getTime() + KEPT_MS) return true
  if (readAuthorization({ payment, order })) return payment.expiresAt !== null && now > payment.expiresAt.getTime() + OVER_AFTER_MS
  const { asset, sender, recipient, amount: amountAtomic, nonce, builtHeight, createdAt } = payment
  // A memo that nobody can look for proves nothing by its absence.
  if (nonce === null && order.memo === null) return false
  return chain.canNeverLand({
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
}

function end(context: Context, paymentId: string, failure: string): Promise<void> {
  return context.db.transaction((tx) => endWithin(context, tx, { paymentId, failure }))
}

/** Nothing of it was ever seen, or what was seen is gone. */
async function endWithin(context: Context, tx: Context['db'], { paymentId, failure }: { paymentId: string; failure: string }): Promise<void> {
  const row = await lockPayment(tx, paymentId)
  if (!row || !WAITING.includes(row.status)) return
  const to = row.status === 'created' ? 'expired' : 'failed'
  const at = context.now()
  await movePayment(tx, { id: row.id, from: row.status, to, at, facts: { failure } })
  await deleteOrder(tx, paymentId)
  await recordEvent(tx, { accountId: row.accountId, paymentId: row.id, status: to, source: 'watcher', blockHeight: null, at })
}
