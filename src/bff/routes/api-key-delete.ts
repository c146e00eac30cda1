import { readConfirmedKey } from './confirmed-key.ts'
import { onward, spender } from '../session/rule.ts'
import type { Rule } from '../session/rule.ts'

export const apiKeyDelete: Rule<'apiKeyDelete'> = async (call) => {
  const { context, visitor, input } = call
  await readConfirmedKey(call, input.params.id)
  return context.upstream.write('apiKeyDelete', onward(call), () =>
    context.budgets.spend(spender(visitor), 'action'),
  )
}
