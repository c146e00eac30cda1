import { onward, requireOperator, spender } from '../session/rule.ts'
import type { Rule } from '../session/rule.ts'

/** Time for the round trip, on top of the time the caller gives the service. */
const ROUND_TRIP_MS = 5_000

/** Accepts a proof, which consumes it and records it in the account: for operators only. */
export const paymentReceive: Rule<'paymentReceive'> = async (call) => {
  const { context, visitor, input } = call
  requireOperator(visitor)
  const timeoutMs = input.body.timeout * 1000 + ROUND_TRIP_MS
  return context.upstream.write('paymentReceive', { ...onward(call), timeoutMs }, () =>
    context.budgets.spend(spender(visitor), 'action'),
  )
}
