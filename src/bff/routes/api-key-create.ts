import { requireConfirmation } from './confirmed-key.ts'
import { onward, requireOperator, spender } from './rule.ts'
import type { Rule } from './rule.ts'

/** The new key passes through once: answers are kept by nobody, logged by nobody, and a repetition gets none. */
export const apiKeyCreate: Rule<'apiKeyCreate'> = async (call) => {
  const { context, visitor, input } = call
  requireOperator(visitor)
  requireConfirmation(call.confirmation, input.body.name)
  return context.upstream.write('apiKeyCreate', onward(call), () => context.budgets.spend(spender(visitor), 'action'))
}
