import { onward, requireWallet, spender } from '../session/rule.ts'
import type { Rule } from '../session/rule.ts'
import { walletsOf } from './wallets-of.ts'

export const paymentSummary: Rule<'paymentSummary'> = async (call) => {
  const { context, visitor, input } = call
  const wallets = walletsOf(requireWallet(visitor), input.query.wallets)
  const request = onward(call)
  const query = { ...request.query, ...(wallets && { wallets: wallets.join(',') }) }
  return context.upstream.read('paymentSummary', { ...request, query }, () =>
    context.budgets.spend(spender(visitor), 'sync'),
  )
}
