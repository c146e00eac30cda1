import { skipToken, useQuery } from '@tanstack/react-query'
import { callProxy } from '../../api/client.ts'
import { isPaid, type PaymentState } from '../../payment-flow/machine.ts'

/** Whether the link has all its payments without this one, or its invoice is void: the merchant owes a refund. Read again when it is final. */
export function useSurplus(state: Extract<PaymentState, { sent: unknown }>): boolean {
  const { link } = state.order
  const { paymentId } = state.built
  const { data } = useQuery({
    queryKey: ['linkSurplus', paymentId, state.step],
    queryFn:
      link && isPaid(state)
        ? ({ signal }) =>
            callProxy('linkSurplus', { body: { link: link.text, paymentId } }, { signal })
        : skipToken,
    retry: 1,
  })
  return data?.surplus ?? false
}
