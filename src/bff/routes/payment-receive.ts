import { onward, requireOperator, spender } from '../session/rule.ts'
import type { Rule } from '../session/rule.ts'

/** Beside the time the caller gives the service, what the way there and back takes. */
const ROUND_TRIP_MS = 5_000

/** Accepts a proof, which uses it up and writes it into the account: the operator's alone. */
export const paymentReceive: Rule<'paymentReceive'> = async (call) => {
  const { context, visitor, input } = call
  requireOperator(visitor)
  const timeoutMs = input.body.timeout * 1000 + ROUND_TRIP_MS
  return context.upstream.write('paymentReceive', { ...onward(call), timeoutMs }, () =>
    context.budgets.spend(spender(visitor), 'action'),
  )
}
