import type { EndpointInput, EndpointReply } from '#contract/endpoints.ts'
import { createPaymentId } from '#contract/payment.ts'
import { ProblemError } from '#contract/problem.ts'
import type { Chain } from '../chains/chain.ts'
import type { Actor, Context } from '../context/context.ts'
import { findPayment, type PaymentRecord } from '../db/payments.ts'
import { unseal } from '../wallets/seal.ts'
import { notifyMonitor } from '../chains/notify.ts'
import { checkRecipient } from '../payments/check-recipient.ts'
import { estimateConfirmation } from '../payments/estimate.ts'
import { findEarlier, isSecondOfKey, persist } from './persist.ts'
import { readSenderFunds } from './nonce-queue.ts'
import { chainOf } from '../context/network.ts'
import { broadcast, recordPending } from './broadcast.ts'
import { readSend } from './read-send.ts'
import type { Refund } from '../payments/reserve-refund.ts'
import { refuseBuilt } from '../payments/refuse-built.ts'
import type { PersistedPayment } from './recover-commit.ts'
import { describePayment, readPaymentBody } from '../payments/status.ts'

export type SendRequest = {
  body: EndpointInput<'paymentSend'>['body']
  /** The key of the request and its fingerprint. */
  idempotency: { key: string; fingerprint: string } | undefined
  /** How long the answer may wait for the confirmation. */
  waitMs: number
}

const POLL_MS = 100

/**
 * Pays from a managed wallet: validates, simulates, then reserves, signs and stores the signed
 * bytes in one commit, and only then broadcasts. From that commit on the payment is executed even
 * if this process dies. A request repeated under its key gets the same payment.
 * @throws `INVALID_PARAMETERS`, `INVALID_RECIPIENT`, `INSUFFICIENT_BALANCE`,
 * `IDEMPOTENCY_CONFLICT`, `CHAIN_UNAVAILABLE`; never once the payment is stored
 */
export async function sendPayment(
  context: Context,
  actor: Actor,
  request: SendRequest,
): Promise<EndpointReply<'paymentSend'>> {
  return sendOnce(context, actor, {
    ...request,
    prepare: () => prepareSend(context, actor, request),
  })
}

/**
 * Sends what `prepare` stores, once per key: a repeated request gets the payment that the first one
 * made.
 */
export async function sendOnce(
  context: Context,
  actor: Actor,
  {
    idempotency,
    waitMs,
    prepare,
  }: Pick<SendRequest, 'idempotency' | 'waitMs'> & { prepare: () => Promise<PersistedPayment> },
): Promise<EndpointReply<'paymentSend'>> {
  const earlier = await findEarlier(context, actor.accountId, idempotency)
  if (earlier) return answer(context, earlier, waitMs)
  try {
    return await carryOut(context, await prepare(), waitMs)
  } catch (error) {
    // Another request under this key was faster: its payment is the answer. It may have taken what
    // this one was refused for.
    const other =
      isSecondOfKey(error) || error instanceof ProblemError
        ? await findEarlier(context, actor.accountId, idempotency)
        : undefined
    if (!other) throw error
    return answer(context, other, waitMs)
  }
}

/**
 * Validates, simulates, signs and stores a payment from a managed wallet. `refund`: what it
 * refunds.
 */
export async function prepareSend(
  context: Context,
  actor: Actor,
  { body, idempotency, refund }: Pick<SendRequest, 'body' | 'idempotency'> & { refund?: Refund },
): Promise<PersistedPayment> {
  const { wish, wallet } = await readSend(context, actor, { body, bounded: refund === undefined })
  const { network, asset, amountAtomic, priorityFeeAtomic } = wish
  const sender = wallet.address
  const recipient = checkRecipient(body.recipientAddress, { network: network.network, sender })
  const chain = chainOf(context, network.network)
  context.atPoint?.('send:validated')
  const wanted = {
    paymentId: createPaymentId(),
    network: network.network,
    asset,
    sender,
    recipient,
    amountAtomic,
  }
  const [built, funds] = await Promise.all([
    chain.build(wanted, { priorityFeeAtomic }),
    readSenderFunds(context, chain, sender),
  ])
  if (!built.ok) throw refuseBuilt(built, body.recipientAddress)
  context.atPoint?.('send:simulated')

  const secret = await unseal(context.vault, wallet, wallet)
  const intent = { ...wanted, maxFeeAtomic: built.feeAtomic }
  const { resource, metadata } = body
  const order = {
    accountId: actor.accountId,
    network,
    intent,
    built,
    priorityFeeAtomic,
    resource,
    metadata,
    refund,
    idempotency,
  }
  return persist(context, chain, { order, funds, secret }).finally(() => secret.fill(0))
}

/**
 * From here on nothing fails the request: the watcher finishes what this process does not, and
 * losing the database now does not undo the payment.
 */
async function carryOut(
  context: Context,
  kept: PersistedPayment,
  waitMs: number,
): Promise<EndpointReply<'paymentSend'>> {
  const { payment } = kept
  context.atPoint?.('send:persisted')
  const chain = chainOf(context, payment.network)
  try {
    await launch(context, chain, kept)
    return await answer(context, payment, waitMs)
  } catch (error) {
    context.log.error(
      { paymentId: payment.id, err: error },
      'a payment was kept, and its request could not be followed to the end; the watcher goes on',
    )
    const body = await describePayment(context, { ...payment, status: 'pending' }, [])
    return { ...body, estimatedConfirmation: estimateConfirmation(chain.network) }
  }
}

async function launch(
  context: Context,
  chain: Chain,
  { payment, attempt }: PersistedPayment,
): Promise<void> {
  await broadcast(context, chain, attempt)
  context.atPoint?.('send:broadcast')
  await recordPending(context, payment.id)
  context.atPoint?.('send:told')
  notifyMonitor(chain)
}

async function answer(
  context: Context,
  payment: PaymentRecord,
  waitMs: number,
): Promise<EndpointReply<'paymentSend'>> {
  await untilDecided(context, payment.id, waitMs)
  const { network } = chainOf(context, payment.network)
  const body = await readPaymentBody(context, payment.id)
  // Stored but not marked as broadcast, because a process died in between or the network is away:
  // as open as one that has left.
  const status = body.status === 'created' ? 'pending' : body.status
  return { ...body, status, estimatedConfirmation: estimateConfirmation(network) }
}

/**
 * Waits until the outcome is known or the time is up. The row counts: another process may follow
 * this chain.
 */
async function untilDecided(context: Context, id: string, waitMs: number): Promise<void> {
  const until = performance.now() + waitMs
  for (;;) {
    const row = await findPayment(context.db, id)
    const left = until - performance.now()
    if ((row?.status !== 'created' && row?.status !== 'pending') || left <= 0) return
    await new Promise((resolve) => setTimeout(resolve, Math.min(POLL_MS, left)))
  }
}
