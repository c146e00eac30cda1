import type { ProxyContext } from '../context/context.ts'
import { insertSessionPayment } from '../db/sessions.ts'
import type { Visitor } from '../session/visitor.ts'
import { startAnonymousSession } from '../session/start-session.ts'
import { createId } from '../session/random.ts'
import type { UpstreamReply, UpstreamRequest } from '../upstream/upstream.ts'
import { spender } from '../session/rule.ts'

type Wanted = {
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
export async function buildPayment({
  context,
  visitor,
  requestId,
  idempotencyKey,
  sender,
  body,
  refund,
}: Wanted): Promise<MadePayment> {
  const { session } = visitor
  const sessionId = session?.id ?? createId('ses')
  const senderVerified = session?.wallets.includes(sender) ?? false
  const keyScope = verifiedScope(sessionId, senderVerified)
  const spend = () => context.budgets.spend(spender(visitor), 'action')
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

/** Keeps apart what is asked before and after a session has proven the sender: the requests differ, and under one key the service would refuse the second. */
export function verifiedScope(scope: string, senderVerified: boolean): string {
  return senderVerified ? `${scope}:verified` : scope
}
