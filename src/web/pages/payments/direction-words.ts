import { t } from '@lingui/core/macro'
import { isPaid } from '#contract/payment.ts'
import type { PaymentRow } from '#contract/payment-body.ts'

/** Which way a payment goes, in a word. Nothing that did not arrive is called received or sent. */
export function directionWords({ type, status }: Pick<PaymentRow, 'type' | 'status'>): string {
  const received = type === 'received'
  if (isPaid(status)) return received ? t`Received` : t({ message: 'Sent', context: 'money' })
  if (status === 'created' || status === 'pending') return received ? t`Incoming` : t`Outgoing`
  return received ? t`Not received` : t`Not paid`
}
