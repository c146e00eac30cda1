import type { EndpointResponse } from '#contract/endpoints.ts'
import type { ProxyContext } from '../context/context.ts'
import { findPaymentsFrom, hasSessionPayment, type OpenSession } from '../db/sessions.ts'
import type { Visitor } from '../session/visitor.ts'
import type { UpstreamReply } from '../upstream/upstream.ts'
import { verifiedScope } from './build-payment.ts'
import { readPayment } from './read-payment.ts'
import { spender } from '../session/rule.ts'

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
