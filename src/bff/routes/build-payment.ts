import { parseAddress, type Family, readRecipient } from '#contract/address.ts'
import type { EndpointInput, EndpointResponse } from '#contract/endpoints.ts'
import { familyOf } from '#contract/network.ts'
import { ProblemError } from '#contract/problem.ts'
import { recipientProblem } from '#contract/reason-problems.ts'
import type { BffConfig } from '../config/config.ts'
import type { ProxyContext } from '../context/context.ts'
import {
  insertSessionPayment,
  findPaymentsFrom,
  hasSessionPayment,
  type OpenSession,
} from '../db/sessions.ts'
import { fieldsOf, refuseLinkMetadata, refuseSenderVerified } from '../http/parse.ts'
import { startAnonymousSession } from '../session/open-session.ts'
import { createId } from '../session/random.ts'
import { spender, may, type Rule } from '../session/rule.ts'
import type { Visitor } from '../session/visitor.ts'
import type { UpstreamReply, UpstreamRequest } from '../upstream/upstream.ts'
import { readPayment } from './read-payment.ts'
import { refundRequest } from './refund.ts'

type BuildRequest = {
  context: ProxyContext
  visitor: Visitor
  requestId: string
  idempotencyKey: string | undefined
  /** The wallet that pays, in its normal form. */
  sender: string
  /** The service's request, without what this program alone may say. */
  body: Record<string, unknown>
  /** In place of it, where the payment refunds another one. */
  refund?: UpstreamRequest | undefined
}

export type MadePayment = {
  reply: UpstreamReply<'transactionSend'> | UpstreamReply<'transactionRefund'>
  sessionId: string
  setCookie: string | undefined
}

/**
 * Has the service build a payment for a visitor. The order is verified where the session has proven the sender; any other is a draft until evidence comes.
 * A visitor without a session gets an anonymous one, which may see the payments it made and nothing else. It is named before the service is asked: the
 * idempotency key is the session's, and equal keys of two visitors build two payments.
 */
export async function requestPaymentBuild({
  context,
  visitor,
  requestId,
  idempotencyKey,
  sender,
  body,
  refund,
}: BuildRequest): Promise<MadePayment> {
  const { session } = visitor
  const sessionId = session?.id ?? createId('ses')
  const senderVerified = session?.wallets.includes(sender) ?? false
  const keyScope = verifiedScope(sessionId, senderVerified)
  const spend = () => {
    if (!senderVerified && !refund) context.budgets.spendDraft(visitor.address)
    context.budgets.spend(spender(visitor), 'action')
  }
  const reply = refund
    ? await context.upstream.write('transactionRefund', { ...refund, keyScope }, spend)
    : await context.upstream.write(
        'transactionSend',
        { body: { ...body, senderVerified }, requestId, idempotencyKey, keyScope },
        spend,
      )
  const started = session
    ? undefined
    : await startAnonymousSession(context, visitor.site, sessionId)
  await insertSessionPayment(context.db, {
    sessionId,
    paymentId: reply.parsed.paymentId,
    sender,
    createdAt: context.now(),
  })
  return { reply, sessionId, setCookie: started?.setCookie }
}

/**
 * Keeps apart what is asked before and after a session has proven the sender: the requests differ, and under one key
 * the service would refuse the second. The id of a session has no dot, and a colon ends the scope: no key of a
 * browser leads from one to the other.
 */
export function verifiedScope(sessionId: string, senderVerified: boolean): string {
  return senderVerified ? `${sessionId}.verified` : sessionId
}

type Body = EndpointInput<'transactionSend'>['body']

/**
 * Anyone may have a payment to the seller built; an operator, one to any recipient; the payee of a
 * payment, its refund. The sender need not be a wallet of the session: the answer is an unsigned
 * transaction, useful only to the holder of the sender's key.
 */
export const transactionSend: Rule<'transactionSend'> = async (call) => {
  const { context, visitor, input, raw, requestId, idempotencyKey } = call
  refuseSenderVerified(input.body)
  refuseLinkMetadata(input.body.metadata)
  const refund = await refundRequest(call)
  const mayPayAnybody = visitor.session !== undefined && may(visitor.session, 'operator')
  if (!mayPayAnybody && !refund) requireSeller(input.body, context.config)
  const buildRequest = {
    context,
    visitor,
    requestId,
    idempotencyKey,
    sender: input.body.walletAddress,
    body: fieldsOf(raw.body),
    refund,
  }
  const { reply, setCookie } = await requestPaymentBuild(buildRequest)
  return {
    value: reply.value,
    headers: { ...reply.headers, ...(setCookie !== undefined && { 'Set-Cookie': setCookie }) },
  }
}

function requireSeller(body: Body, { sellerWallets }: Pick<BffConfig, 'sellerWallets'>): void {
  const { recipientAddress } = body
  const read = readRecipient(recipientAddress, familyOfOrder(body))
  if (!read.ok) throw recipientProblem(read.reason, { received: recipientAddress })
  if (sellerWallets.includes(read.address)) return
  throw new ProblemError('FORBIDDEN', {
    message: "This checkout pays only the seller's own wallets.",
    details: { recipientAddress: `Expected one of ${sellerWallets.join(', ')}.` },
  })
}

/** The network family that the order names, or otherwise the one of its sender's address. */
function familyOfOrder({ network, walletAddress }: Body): Family {
  if (network !== undefined) return familyOf(network)
  const sender = parseAddress(walletAddress)
  return sender.ok ? sender.family : 'evm'
}

/** How many of its payments a session verifies after a sign-in; later ones are verified when they are read or reported. */
const MOST = 10
const MADE_WITHIN_MS = 24 * 3_600_000

type Asking = { context: ProxyContext; visitor: Visitor; requestId: string }
type Payment = EndpointResponse<'paymentStatus'>

/** Whether the session made a payment whose sender it has proven since, and a transfer waits for exactly that. */
export async function awaitsVerification(
  { context }: Asking,
  session: OpenSession,
  payment: Payment,
): Promise<boolean> {
  const { attribution, paymentId, sender } = payment
  if (attribution.evidence !== null || !session.wallets.includes(sender)) return false
  return (
    (attribution.transfer ?? payment.signature) !== null &&
    hasSessionPayment(context.db, session.id, paymentId)
  )
}

/** Tells the service that the sender of a payment is verified, with the transfer that waits for it. */
export function verifySender(
  { context, visitor, requestId }: Asking,
  session: OpenSession,
  payment: Payment,
): Promise<UpstreamReply<'transactionSubmitted'>> {
  const signature = payment.attribution.transfer ?? payment.signature
  const body = { paymentId: payment.paymentId, signature, senderVerified: true }
  const request = {
    body,
    requestId,
    idempotencyKey: `verify-${payment.paymentId}-${signature ?? ''}`,
    keyScope: verifiedScope(session.id, true),
  }
  return context.upstream.write('transactionSubmitted', request, () =>
    context.budgets.spend(spender(visitor), 'tail'),
  )
}

/** After a sign-in: the newest orders that this session made from the wallet before, where their transfer was seen or reported. Never throws. */
export async function verifyOrdersOf(
  asking: Asking,
  session: OpenSession,
  wallet: string,
): Promise<void> {
  const { context, requestId } = asking
  try {
    const since = new Date(context.now().getTime() - MADE_WITHIN_MS)
    const made = await findPaymentsFrom(
      context.db,
      { sessionId: session.id, sender: wallet, since },
      MOST,
    )
    for (const paymentId of made) {
      const { parsed } = await readPayment({ ...asking, session, paymentId })
      if (await awaitsVerification(asking, session, parsed))
        await verifySender(asking, session, parsed)
    }
  } catch (error) {
    context.log.warn(
      { err: error, requestId },
      'the orders of a session could not be verified after its sign-in; they are when they are read or reported',
    )
  }
}
