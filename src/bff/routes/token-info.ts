import { onward, spender } from '../session/rule.ts'
import type { Rule } from '../session/rule.ts'

/** For anybody: it says what every node of the chain says. */
export const tokenInfo: Rule<'tokenInfo'> = (call) =>
  call.context.upstream.read('tokenInfo', onward(call), () =>
    call.context.budgets.spend(spender(call.visitor), 'sync'),
  )
