import { readPayment } from './read-payment.ts'
import { requireSession } from '../session/rule.ts'
import type { Rule } from '../session/rule.ts'
import { awaitsVerification, verifySender } from './verify-orders.ts'

/** A session that has proven the sender of a payment it made since is the evidence that a transfer may wait for: the service is told, and asked again. */
export const paymentStatus: Rule<'paymentStatus'> = async (call) => {
  const session = requireSession(call.visitor)
  const wanted = { ...call, paymentId: call.input.params.paymentId, session }
  const reply = await readPayment(wanted)
  if (!(await awaitsVerification(call, session, reply.parsed))) return reply
  return verifySender(call, session, reply.parsed).then(
    () => readPayment(wanted),
    // What the service refuses changes nothing about what was read.
    () => reply,
  )
}
