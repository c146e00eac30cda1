import { onward, requireOperator, spender } from '../session/rule.ts'
import type { Rule } from '../session/rule.ts'

/** The operator's. This program's own key is in the list without its hint. */
export const apiKeyList: Rule<'apiKeyList'> = async (call) => {
  const { context, visitor } = call
  requireOperator(visitor)
  return context.upstream.read('apiKeyList', onward(call), () =>
    context.budgets.spend(spender(visitor), 'sync'),
  )
}
