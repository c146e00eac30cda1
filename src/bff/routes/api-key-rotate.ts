import { readConfirmedKey } from './confirmed-key.ts'
import { onward, spender } from './rule.ts'
import type { Rule } from './rule.ts'

export const apiKeyRotate: Rule<'apiKeyRotate'> = async (call) => {
  const { context, visitor, input } = call
  await readConfirmedKey(call, input.params.id)
  return context.upstream.write('apiKeyRotate', onward(call), () => context.budgets.spend(spender(visitor), 'action'))
}
