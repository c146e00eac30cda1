import { hasSessionPayment } from '../db/sessions.ts'
import { readPayment } from './payment-status.ts'
import { onward, requireSession, spender } from './rule.ts'
import type { Rule } from './rule.ts'

/** Only who made a payment or is part of it reports it: a report of a stranger would send the service looking for a wrong transaction. */
export const transactionSubmitted: Rule<'transactionSubmitted'> = async (call) => {
  const { context, visitor, input } = call
  const session = requireSession(visitor)
  const { paymentId } = input.body
  if (!(await hasSessionPayment(context.db, session.id, paymentId))) await readPayment({ ...call, paymentId, session })
  return context.upstream.write('transactionSubmitted', onward(call), () => context.budgets.spend(spender(visitor), 'action'))
}
