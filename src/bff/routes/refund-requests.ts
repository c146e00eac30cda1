import { LosslessNumber } from '#contract/json.ts'
import type { RefundRequest } from '#contract/refund-request.ts'
import { onward, requireSession, spender, type Rule } from '../session/rule.ts'
import { readPayment } from './read-payment.ts'

/** For the parties of a payment. Who of the account declined a request is for people of the account. */
export const refundRequestRead: Rule<'refundRequestRead'> = async (call) => {
  const { context, visitor, input } = call
  const session = requireSession(visitor)
  await readPayment({ ...call, session, paymentId: input.params.paymentId })
  const reply = await context.upstream.read('refundRequestRead', onward(call), () =>
    context.budgets.spend(spender(visitor), 'tail'),
  )
  if (session.member) return reply
  const { parsed } = reply
  return { ...reply, value: { ...parsed, requests: parsed.requests.map(forPayer) } }
}

/** For all who see the payment. That its payer asks is for the signature to show, and for the service to verify. */
export const refundRequestCreate: Rule<'refundRequestCreate'> = async (call) => {
  const { context, visitor, input } = call
  const { paymentId } = input.body
  const session = requireSession(visitor)
  await readPayment({ ...call, session, paymentId })
  const reply = await context.upstream.write('refundRequestCreate', onward(call), () => {
    context.budgets.spendRefundRequest(visitor.address, paymentId)
    context.budgets.spend(spender(visitor), 'action')
  })
  const { parsed } = reply
  return { ...reply, value: { ...parsed, request: forPayer(parsed.request) } }
}

function forPayer(request: RefundRequest): unknown {
  const { amount, declined } = request
  return {
    ...request,
    amount: new LosslessNumber(amount),
    declined: declined && { ...declined, by: null },
  }
}
