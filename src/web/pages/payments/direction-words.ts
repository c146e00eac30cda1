import { isPaid } from '#contract/payment.ts'
import type { PaymentRow } from '#contract/payment-body.ts'

/** Which way a payment goes, in a word. Nothing that did not arrive is called received or sent. */
export function directionWords({ type, status }: Pick<PaymentRow, 'type' | 'status'>): string {
  const received = type === 'received'
  if (isPaid(status)) return received ? 'Received' : 'Sent'
  if (status === 'created' || status === 'pending') return received ? 'Incoming' : 'Outgoing'
  return received ? 'Not received' : 'Not paid'
}
