import { describeAmountProblem, formatAmount, parseAmount } from '#contract/amount.ts'
import type { EndpointInput, EndpointReply } from '#contract/endpoints.ts'
import { hostedLimitReason } from '#contract/hosted-intent.ts'
import { NATIVE_ETH, nativeAsset } from '#contract/network.ts'
import { createPaymentId } from '#contract/payment.ts'
import { ProblemError } from '#contract/problem.ts'
import type { LimitReason } from '#contract/reasons.ts'
import { renderLimitReason } from '#contract/render-en.ts'
import { isUniqueViolation } from '#postgres/open.ts'
import { type Chain, type SenderFunds, notifyMonitor } from '../chains/chain.ts'
import type { Actor, Context } from '../context/context.ts'
import { chainOf, refuseParameters } from '../context/network.ts'
import { findPayment, type PaymentRecord, findByIdempotencyKey } from '../db/payments.ts'
import { awaitChanges } from '../db/record-event.ts'
import { findWallet, type WalletRecord } from '../db/wallet-ledger.ts'
import {
  checkRecipient,
  readIntent,
  type IntentReading,
  refuseBuilt,
} from '../payments/read-intent.ts'
import { estimateConfirmation } from '../payments/describe-money.ts'
import type { Refund } from '../payments/reserve-refund.ts'
import { describePayment, readPaymentBody } from '../payments/status.ts'
import { broadcastStored, recordPending } from './broadcast.ts'
import { readSenderFunds, runInQueue } from './nonce-queue.ts'
import { requireKnownHistory } from './require-sending.ts'
import { type PersistedPayment, recoverCommit, reserve, type TransferOrder } from './reserve.ts'

export type SendRequest = {
  body: EndpointInput<'paymentSend'>['body']
  /** The key of the request and its fingerprint. */
  idempotency: { key: string; fingerprint: string } | undefined
  /** How long the answer may wait for the confirmation. */
  waitMs: number
}

/** How often a payment is read whose changes another process may record. */
const POLL_MS = 1_000

/**
 * Pays from a managed wallet: validates, simulates, then reserves, signs and stores the signed
 * bytes in one commit, and only then broadcasts. From that commit on the payment is executed even
 * if this process dies. A request repeated under its key gets the same payment.
 * @throws `INVALID_PARAMETERS`, `INVALID_RECIPIENT`, `INSUFFICIENT_BALANCE`, `SIGNING_REFUSED`,
 * `IDEMPOTENCY_CONFLICT`, `CHAIN_UNAVAILABLE`, `SERVICE_UNAVAILABLE`; never once the payment is
 * stored
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
    return await broadcastPersisted(context, await prepare(), waitMs)
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
  const { order: requested, wallet } = await readSend(context, actor, {
    body,
    bounded: refund === undefined,
  })
  const { network, asset, amountAtomic, priorityFeeAtomic } = requested
  const sender = wallet.address
  const recipient = checkRecipient(body.recipientAddress, { network: network.network, sender })
  const chain = chainOf(context, network.network)
  context.atPoint?.('send:validated')
  const transfer = {
    paymentId: createPaymentId(),
    network: network.network,
    asset,
    sender,
    recipient,
    amountAtomic,
  }
  const [built, funds] = await Promise.all([
    chain.build(transfer, { priorityFeeAtomic }),
    readSenderFunds(context, chain, sender),
  ])
  if (!built.ok) throw refuseBuilt(built, body.recipientAddress)
  await requireKnownHistory(context, chain, { sender, funds })
  context.atPoint?.('send:simulated')

  await context.signer.open(wallet)
  const intent = { ...transfer, maxFeeAtomic: built.feeAtomic }
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
  return persist(context, chain, { order, funds, wallet })
}

/**
 * From here on nothing fails the request: the watcher finishes what this process does not, and
 * losing the database now does not undo the payment.
 */
async function broadcastPersisted(
  context: Context,
  persisted: PersistedPayment,
  waitMs: number,
): Promise<EndpointReply<'paymentSend'>> {
  const { payment } = persisted
  context.atPoint?.('send:persisted')
  const chain = chainOf(context, payment.network)
  try {
    await launch(context, chain, persisted)
    return await answer(context, payment, waitMs)
  } catch (error) {
    context.log.error(
      { paymentId: payment.id, err: error },
      'a payment was stored, and its request could not wait for its outcome; the watcher continues',
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
  await broadcastStored(context, chain, attempt)
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
  using wait = awaitChanges(context.db, id)
  for (;;) {
    const left = until - performance.now()
    if (left <= 0) return
    const row = await findPayment(context.db, id)
    if (row?.status !== 'created' && row?.status !== 'pending') return
    await wait.changed(Math.min(POLL_MS, left))
  }
}

/** How often a wallet is looked at before a payment is refused that would fit beside fewer others. */
const LOOKS = 5
const MAX_PAUSE_MS = 1_000

/**
 * Keeps a payment once its wallet bears it. What other payments of the nonce queue have left of the balance is certain a moment after they landed, so a refusal
 * that depends on it is looked at again.
 * @throws `INSUFFICIENT_BALANCE` when the wallet does not bear it beside what is under way; `SERVICE_UNAVAILABLE` when it is not known whether it was kept
 */
async function persist(
  context: Context,
  chain: Chain,
  { order, funds, wallet }: { order: TransferOrder; funds: SenderFunds; wallet: WalletRecord },
): Promise<PersistedPayment> {
  const { paymentId, network, sender, recipient } = order.intent
  let seen = funds
  for (let look = 1; ; look++) {
    const funded = { funds: seen, wallet }
    const outcome = await runInQueue(context, { network, sender }, () =>
      reserve(context, order, funded),
    ).catch(async (error: unknown) => {
      const persisted = await recoverCommit(context, {
        paymentId,
        nonceQueue: { network, sender },
        error,
      })
      return { ok: true as const, ...persisted }
    })
    if (outcome.ok) return outcome
    if (!outcome.uncertain || look === LOOKS) throw refuseBuilt(outcome.shortage, recipient)
    await new Promise((resolve) =>
      setTimeout(resolve, Math.min(chain.network.blockTimeMs, MAX_PAUSE_MS)),
    )
    seen = await readSenderFunds(context, chain, sender)
  }
}

type Idempotency = { key: string; fingerprint: string }

/**
 * The payment that a request under this key has made already, if any.
 * @throws `IDEMPOTENCY_CONFLICT` when that was another request
 */
async function findEarlier(
  context: Context,
  accountId: string,
  idempotency: Idempotency | undefined,
): Promise<PaymentRecord | undefined> {
  const earlier =
    idempotency && (await findByIdempotencyKey(context.db, accountId, idempotency.key))
  if (earlier && earlier.idempotencyFingerprint !== idempotency?.fingerprint)
    throw new ProblemError('IDEMPOTENCY_CONFLICT')
  return earlier
}

/** Whether a payment was refused because another request under its key had just been kept. */
function isSecondOfKey(error: unknown): boolean {
  return isUniqueViolation(error, 'payment_idempotency')
}

type Body = EndpointInput<'paymentSend'>['body']

/**
 * What a hosted payment asks for, and the wallet that pays it. `bounded`: its amount is; a refund is bounded by what arrived.
 * @throws `INVALID_PARAMETERS` with all that is wrong, in one answer
 */
async function readSend(
  context: Context,
  actor: Actor,
  { body, bounded }: { body: Body; bounded: boolean },
) {
  const intent = readIntent(context.config.networks, body)
  const wallet = await findWallet(context.db, {
    accountId: actor.accountId,
    address: body.walletAddress,
  })
  const limits = readLimits(intent, bounded ? body : { priorityFee: body.priorityFee })
  const details = { ...(intent.ok ? {} : intent.details), ...limits.details }
  if (intent.ok && !intent.asset.native)
    details.asset = `Expected the native currency: managed wallets do not pay tokens, received ${intent.asset.symbol}. Have the transaction built with /transaction/send.`
  if (!wallet)
    details.walletAddress ??=
      'Expected a wallet that the service manages for this account; GET /wallets lists them.'
  if (!intent.ok || !wallet || Object.keys(details).length > 0)
    throw refuseParameters(details, limits.reason)
  return { order: intent, wallet }
}

type Limits = { details: Record<string, string>; reason?: LimitReason }

/** What is beyond the limits, by field; `reason`: of the first such field. */
function readLimits(
  intent: IntentReading,
  body: { amount?: string | undefined; priorityFee?: string | undefined },
): Limits {
  const native = intent.ok ? nativeAsset(intent.network) : NATIVE_ETH
  const limits: Limits = { details: {} }
  for (const field of ['amount', 'priorityFee'] as const) {
    const text = body[field]
    if (text === undefined) continue
    const parsed = parseAmount(text, native.decimals)
    if (!parsed.ok && parsed.problem !== 'not_positive') {
      limits.details[field] = describeAmountProblem(parsed.problem, text, native.decimals)
      continue
    }
    const reason = hostedLimitReason(field, parsed.ok ? parsed.atomic : 0n, native)
    if (!reason) continue
    const received = parsed.ok ? formatAmount(parsed.atomic, native.decimals) : text
    limits.details[field] = renderLimitReason(reason, received)
    if (intent.ok) limits.reason ??= reason
  }
  return limits
}
