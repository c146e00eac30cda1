import { onward, requireWallet, spender } from '../session/rule.ts'
import type { Rule } from '../session/rule.ts'
import { walletsOf } from './wallets-of.ts'

export const paymentList: Rule<'paymentList'> = async (call) => {
  const { context, visitor, input } = call
  const wallets = walletsOf(requireWallet(visitor), input.query.wallets)
  const request = onward(call)
  const query = { ...request.query, ...(wallets && { wallets: wallets.join(',') }) }
  return context.upstream.read('paymentList', { ...request, query }, () =>
    context.budgets.spend(spender(visitor), 'sync'),
  )
}
