import { LosslessNumber } from '#contract/json.ts'
import type { PaymentStatusBody } from '#contract/payment-body.ts'
import type { RefundRequest } from '#contract/refund-request.ts'
import type { ProxyContext } from '../context/context.ts'
import { onward, requireSession, spender, type Rule } from '../session/rule.ts'
import { refuseField } from './own-fields.ts'
import { readPayment } from './read-payment.ts'

/** For the parties of a payment. Who of the account declined a request is for people of the account. */
export const refundRequestRead: Rule<'refundRequestRead'> = async (call) => {
  const { context, visitor, input } = call
  const session = requireSession(visitor)
  const { parsed: original } = await readPayment({
    ...call,
    session,
    paymentId: input.params.paymentId,
  })
  const reply = await context.upstream.read('refundRequestRead', onward(call), () =>
    context.budgets.spend(spender(visitor), 'tail'),
  )
  if (session.member) return reply
  const { parsed } = reply
  const next = isToMerchant(context, original) ? parsed.next : null
  return { ...reply, value: { ...parsed, requests: parsed.requests.map(forPayer), next } }
}

/** For all who see the payment. That its payer asks is for the signature to show, and for the service to verify. */
export const refundRequestCreate: Rule<'refundRequestCreate'> = async (call) => {
  const { context, visitor, input } = call
  const { paymentId } = input.body
  const session = requireSession(visitor)
  const { parsed: original } = await readPayment({ ...call, session, paymentId })
  if (!isToMerchant(context, original))
    throw refuseField('paymentId', 'Expected a payment to the merchant.')
  const reply = await context.upstream.write('refundRequestCreate', onward(call), () => {
    context.budgets.spendRefundRequest(visitor.address, paymentId)
    context.budgets.spend(spender(visitor), 'action')
  })
  const { parsed } = reply
  return { ...reply, value: { ...parsed, request: forPayer(parsed.request) } }
}

/** An account without registered wallets does not tell its own payments from those of strangers. */
export function isToMerchant(
  { config }: ProxyContext,
  { direction, recipient }: Pick<PaymentStatusBody, 'direction' | 'recipient'>,
): boolean {
  return direction === 'received' || config.sellerWallets.includes(recipient)
}

function forPayer(request: RefundRequest): unknown {
  const { amount, declined } = request
  return {
    ...request,
    amount: new LosslessNumber(amount),
    declined: declined && { ...declined, by: null },
  }
}
