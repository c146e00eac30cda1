import { onward, requirePayee, spender } from '../session/rule.ts'
import type { Rule } from '../session/rule.ts'

/** Whether a proof is good now: for its payee, or the operator. It only reads, so asking often uses nothing up but the budget. */
export const facilitatorVerify: Rule<'facilitatorVerify'> = async (call) => {
  const { context, visitor, input } = call
  const { payTo } = input.body.paymentRequirements
  requirePayee(visitor, typeof payTo === 'string' ? payTo : '')
  return context.upstream.write('facilitatorVerify', onward(call), () =>
    context.budgets.spend(spender(visitor), 'action'),
  )
}
