import type { ProxyContext } from '../context/context.ts'
import type { Visitor } from '../session/visitor.ts'
import { maySee } from '../session/open-session.ts'
import type { OpenSession } from '../db/sessions.ts'
import { ForwardedError } from '../upstream/problem.ts'
import { projectForParties, type UpstreamReply } from '../upstream/upstream.ts'
import { notFound, spender } from '../session/rule.ts'

type StatusRequest = {
  context: ProxyContext
  visitor: Visitor
  session: OpenSession
  paymentId: string
  requestId: string
}

/** A payment that the session may see. @throws ProblemError `NOT_FOUND`, the same for one that is not there and one that is someone else's */
export async function readPayment({
  context,
  visitor,
  session,
  paymentId,
  requestId,
}: StatusRequest): Promise<UpstreamReply<'paymentStatus'>> {
  const reply = await context.upstream
    .read('paymentStatus', { params: { paymentId }, requestId }, () =>
      context.budgets.spend(spender(visitor), 'tail'),
    )
    .catch((error: unknown) => {
      throw error instanceof ForwardedError && error.code === 'NOT_FOUND' ? notFound() : error
    })
  if (!(await maySee(context, session, reply.parsed))) throw notFound()
  // The reply is shared with other readers.
  return session.member ? reply : { ...reply, value: projectForParties(reply.value) }
}
