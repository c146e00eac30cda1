import { notFound, onward, requireWallet, spender } from '../session/rule.ts'
import type { Rule } from '../session/rule.ts'

/** Of a wallet the session proved; the operator's, of any. */
export const paymentHistory: Rule<'paymentHistory'> = async (call) => {
  const { context, visitor, input } = call
  const session = requireWallet(visitor)
  if (!session.operator && !session.wallets.includes(input.params.walletAddress)) throw notFound()
  return context.upstream.read('paymentHistory', onward(call), () =>
    context.budgets.spend(spender(visitor), 'sync'),
  )
}
