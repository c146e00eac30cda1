import { onward, requirePayee, spender } from '../session/rule.ts'
import type { Rule } from '../session/rule.ts'

/** The service looks at the chain before it builds. */
const WITHIN_MS = 45_000

/** The transaction by which a payee settles a proof alone: for the payee, or the operator. What comes is unsigned, of use to the payee's key only. */
export const transactionReceive: Rule<'transactionReceive'> = async (call) => {
  const { context, visitor, input } = call
  requirePayee(visitor, input.body.walletAddress)
  return context.upstream.write(
    'transactionReceive',
    { ...onward(call), timeoutMs: WITHIN_MS },
    () => context.budgets.spend(spender(visitor), 'action'),
  )
}
