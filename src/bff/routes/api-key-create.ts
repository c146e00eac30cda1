import { requireKeyApproval } from '../session/key-approval.ts'
import { requireConfirmation } from './confirmed-key.ts'
import { onward, requireOperator, spender } from '../session/rule.ts'
import type { Rule } from '../session/rule.ts'

/** The new key passes through once: answers are kept by nobody, logged by nobody, and a repetition gets none. */
export const apiKeyCreate: Rule<'apiKeyCreate'> = async (call) => {
  const { context, visitor, input, approval } = call
  requireOperator(visitor)
  requireConfirmation(call.confirmation, input.body.name)
  await requireKeyApproval(context, visitor, {
    approval,
    operation: { kind: 'create', terms: input.body },
  })
  return context.upstream.write('apiKeyCreate', onward(call), () =>
    context.budgets.spend(spender(visitor), 'action'),
  )
}
