import { verifiedScope } from './build-payment.ts'
import { fieldsOf, refuseSenderVerified } from './own-fields.ts'
import { readPayment } from './read-payment.ts'
import { onward, requireSession, spender } from '../session/rule.ts'
import type { Rule } from '../session/rule.ts'

/**
 * Only who made a payment or is part of it reports it: a report of a stranger would send the service looking for a wrong transaction.
 * A session that has proven the sender verifies the order with its report.
 */
export const transactionSubmitted: Rule<'transactionSubmitted'> = async (call) => {
  const { context, visitor, input, raw } = call
  const session = requireSession(visitor)
  refuseSenderVerified(input.body)
  const { parsed } = await readPayment({ ...call, paymentId: input.body.paymentId, session })
  const senderVerified = session.wallets.includes(parsed.sender)
  const request = {
    ...onward(call),
    body: { ...fieldsOf(raw.body), senderVerified },
    keyScope: verifiedScope(session.id, senderVerified),
  }
  return context.upstream.write('transactionSubmitted', request, () =>
    context.budgets.spend(spender(visitor), 'action'),
  )
}
