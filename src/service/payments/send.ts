import { describeAmountProblem, formatAmount, parseAmount } from '#contract/amount.ts'
import type { EndpointInput, EndpointReply } from '#contract/endpoints.ts'
import { nativeAsset } from '#contract/network.ts'
import { createPaymentId } from '#contract/payment.ts'
import { ProblemError } from '#contract/problem.ts'
import type { Chain } from '../chains/chain.ts'
import type { Actor, Context } from '../context.ts'
import { crashPoint } from '../crash.ts'
import { findByIdempotencyKey, findPayment, type PaymentRecord } from '../db/payments.ts'
import { findWallet } from '../db/wallets.ts'
import { unseal } from '../wallets/seal.ts'
import { wakeWatcher } from '../watchers/wake.ts'
import { checkRecipient } from './check-recipient.ts'
import { estimateConfirmation } from './estimate.ts'
import { readLaneFunds } from './lane.ts'
import { chainOf, refuseParameters } from './network.ts'
import { push, tellPending } from './push.ts'
import { readWish, type Wish } from './read-wish.ts'
import { refuseBuilt } from './refuse-built.ts'
import { reserve } from './reserve.ts'
import { readPaymentBody } from './status.ts'

type Body = EndpointInput<'paymentSend'>['body']
export type SendRequest = {
  body: Body
  /** The key of the request and what it asks. */
  idempotency: { key: string; fingerprint: string } | undefined
  /** How long the answer may wait for the confirmation. */
  waitMs: number
}

/** In the native currency, both ends included: specification, section 8. */
const BOUNDS = { amount: ['0.001', '100'], priorityFee: ['0.00001', '0.01'] } as const
const POLL_MS = 100

/**
 * Pays from a managed wallet: validates, simulates, then reserves, signs and keeps the signed bytes in one commit, and only then broadcasts.
 * From that commit on the payment is carried out whatever happens to this process. A request repeated under its key gets the same payment.
 * @throws `INVALID_PARAMETERS`, `INVALID_RECIPIENT`, `INSUFFICIENT_BALANCE`, `IDEMPOTENCY_CONFLICT`, `CHAIN_UNAVAILABLE`; never once the payment is kept
 */
export async function sendPayment(context: Context, actor: Actor, request: SendRequest): Promise<EndpointReply<'paymentSend'>> {
  const earlier = request.idempotency && (await findByIdempotencyKey(context.db, actor.accountId, request.idempotency.key))
  if (earlier && earlier.idempotencyFingerprint !== request.idempotency?.fingerprint) throw new ProblemError('IDEMPOTENCY_CONFLICT')
  const payment = earlier ?? (await carryOut(context, actor, request))
  const chain = chainOf(context, payment.network)
  await untilDecided(context, payment.id, request.waitMs)
  return { ...(await readPaymentBody(context, payment.id)), estimatedConfirmation: estimateConfirmation(chain.network) }
}

async function carryOut(context: Context, actor: Actor, { body, idempotency }: SendRequest): Promise<PaymentRecord> {
  const { wish, wallet } = await readSend(context, actor, body)
  const { network, asset, amountAtomic, priorityFeeAtomic } = wish
  const sender = wallet.address
  const recipient = checkRecipient(body.recipientAddress, { network: network.network, sender })
  const chain = chainOf(context, network.network)
  crashPoint(context, 'send:validated')
  const wanted = { paymentId: createPaymentId(), network: network.network, asset, sender, recipient, amountAtomic }
  const [built, funds] = await Promise.all([chain.build(wanted, priorityFeeAtomic), readLaneFunds(context, chain, sender)])
  if (!built.ok) throw refuseBuilt(built, body, amountAtomic)
  crashPoint(context, 'send:simulated')

  const secret = await unseal(context.vault, wallet, wallet)
  const intent = { ...wanted, maxFeeAtomic: built.feeAtomic }
  const { accountId } = actor
  const order = { accountId, network, intent, built, funds, priorityFeeAtomic, resource: body.resource, metadata: body.metadata, idempotency }
  const kept = await reserve(context, order, secret).finally(() => secret.fill(0))
  crashPoint(context, 'send:persisted')
  await launch(context, chain, kept)
  return kept.payment
}

/** From here on nothing may fail the request: the watcher finishes what this process does not. */
async function launch(context: Context, chain: Chain, { payment, attempt }: Awaited<ReturnType<typeof reserve>>): Promise<void> {
  await push(context, chain, attempt)
  crashPoint(context, 'send:broadcast')
  await tellPending(context, payment.id)
  crashPoint(context, 'send:told')
  wakeWatcher(chain)
}

/** All that is wrong with a request, in one answer. */
async function readSend(context: Context, actor: Actor, body: Body) {
  const wish = readWish(context.config.networks, body)
  const wallet = await findWallet(context.db, { accountId: actor.accountId, address: body.walletAddress })
  const details = { ...(wish.ok ? {} : wish.details), ...outOfBounds(wish, body) }
  if (!wallet) details.walletAddress ??= 'Expected a wallet that the service manages for this account; GET /wallets lists them.'
  if (!wish.ok || !wallet || Object.keys(details).length > 0) throw refuseParameters(details)
  return { wish, wallet }
}

function outOfBounds(wish: Wish, body: Body): Record<string, string> {
  const decimals = wish.ok ? nativeAsset(wish.network).decimals : 18
  const details: Record<string, string> = {}
  for (const field of ['amount', 'priorityFee'] as const) {
    const text = body[field]
    const problem = text === undefined ? undefined : boundProblem(text, decimals, BOUNDS[field])
    if (problem !== undefined) details[field] = problem
  }
  return details
}

function boundProblem(text: string, decimals: number, [least, most]: readonly [string, string]): string | undefined {
  const [value, min, max] = [text, least, most].map((number) => parseAmount(number, decimals))
  if (!value || !min?.ok || !max?.ok) return undefined
  if (!value.ok)
    return value.problem === 'not_positive' ? `Expected at least ${least}, received ${text}.` : describeAmountProblem(value.problem, text, decimals)
  if (value.atomic < min.atomic) return `Expected at least ${least}, received ${formatAmount(value.atomic, decimals)}.`
  if (value.atomic > max.atomic) return `Expected at most ${most}, received ${formatAmount(value.atomic, decimals)}.`
  return undefined
}

/** Waits until the outcome is known, or the time is up. The row is what counts: another process may follow this chain. */
async function untilDecided(context: Context, id: string, waitMs: number): Promise<void> {
  const until = performance.now() + waitMs
  for (;;) {
    const row = await findPayment(context.db, id)
    const left = until - performance.now()
    if ((row?.status !== 'created' && row?.status !== 'pending') || left <= 0) return
    await new Promise((resolve) => setTimeout(resolve, Math.min(POLL_MS, left)))
  }
}
