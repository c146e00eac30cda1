import { onward, requireOperator, spender } from '../session/rule.ts'
import type { Rule } from '../session/rule.ts'

/** How the account's keys are used: the operator's. */
export const usage: Rule<'usage'> = async (call) => {
  const { context, visitor } = call
  requireOperator(visitor)
  return context.upstream.read('usage', onward(call), () =>
    context.budgets.spend(spender(visitor), 'sync'),
  )
}
