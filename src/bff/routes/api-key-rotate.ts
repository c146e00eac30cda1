import { rotationOf } from '#contract/key-approval.ts'
import { requireKeyApproval } from '../session/key-approval.ts'
import { readConfirmedKey } from './confirmed-key.ts'
import { onward, spender } from '../session/rule.ts'
import type { Rule } from '../session/rule.ts'

export const apiKeyRotate: Rule<'apiKeyRotate'> = async (call) => {
  const { context, visitor, input, approval } = call
  const key = await readConfirmedKey(call, input.params.id)
  await requireKeyApproval(context, visitor, {
    approval,
    operation: rotationOf(key, input.body.graceSeconds),
  })
  return context.upstream.write('apiKeyRotate', onward(call), () =>
    context.budgets.spend(spender(visitor), 'action'),
  )
}
