import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense } from 'react'
import { isPaid } from '#contract/payment.ts'
import { requestsOfPaymentQuery } from '../../api/inbox.ts'
import { paymentQuery } from '../../api/queries.ts'
import { loadMessages } from '../../locales/language.ts'

const POLL_MS = 3_000
/** A payer who is not signed in has no live events. */
const DECISION_POLL_MS = 10_000

const Card = lazy(async () => {
  const [RefundRequestCard] = await Promise.all([
    import('./RefundRequestCard.tsx').then((module) => module.RefundRequestCard),
    loadMessages('paying'),
  ])
  return { default: RefundRequestCard }
})

/**
 * For the payer of a payment: what they asked back of it, and a way to ask. Nothing until the service has the payment as paid, and where there is nothing
 * to ask for.
 */
export function LazyRefundRequestCard({
  paymentId,
  heading,
  onForm,
}: {
  paymentId: string
  /** One level below its parent heading. */
  heading: 'h2' | 'h3'
  onForm?: (open: boolean) => void
}) {
  const { data: payment } = useQuery({
    ...paymentQuery(paymentId),
    refetchInterval: ({ state: { data } }) => (data && isPaid(data.status) ? false : POLL_MS),
  })
  const paid = payment !== undefined && isPaid(payment.status) && payment.refundOf === null
  const { data } = useQuery({
    ...requestsOfPaymentQuery(paymentId),
    enabled: paid,
    refetchInterval: ({ state: { data: read } }) =>
      read?.requests.some(({ state }) => state !== 'refunded') ? DECISION_POLL_MS : false,
  })
  if (!paid || !data || (data.requests.length === 0 && data.next === null)) return null
  return (
    <Suspense fallback={null}>
      <Card heading={heading} onForm={onForm} payment={payment} requests={data} />
    </Suspense>
  )
}
