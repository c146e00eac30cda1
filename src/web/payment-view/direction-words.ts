import { t } from '@lingui/core/macro'
import { isPaid } from '#contract/payment.ts'
import type { PaymentRow } from '#contract/payment-body.ts'

type Seen = Pick<PaymentRow, 'type' | 'status' | 'draft'>

/** Which way a payment goes, in a word. Nothing that did not arrive is called received or sent, and what a stranger only had built is no payment yet. */
export function directionWords({ type, status, draft }: Seen): string {
  if (draft) return t`Incomplete`
  if (type === 'internal') return t`Internal`
  if (type === 'external') return t`Between others`
  const received = type === 'received'
  if (isPaid(status)) return received ? t`Received` : t({ message: 'Sent', context: 'money' })
  if (status === 'created' || status === 'pending') return received ? t`Incoming` : t`Outgoing`
  return received ? t`Not received` : t`Not paid`
}
