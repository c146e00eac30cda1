import { t } from '@lingui/core/macro'
import type { PaymentRow } from '#contract/payment-body.ts'
import { isPaid } from '#contract/payment.ts'
import { Icon, type IconName } from '../ui/Icon.tsx'
import { cx } from '../ui/button-class.ts'

const icons = {
  received: 'arrowIn',
  sent: 'arrowOut',
  internal: 'refresh',
  external: 'payments',
} as const satisfies Record<PaymentRow['type'], IconName>

/** The picture of a direction; the word stands beside it. Green is for money that arrived. */
export function Direction({ type, status, draft }: Pick<PaymentRow, 'type' | 'status' | 'draft'>) {
  const arrived = type === 'received' && isPaid(status)
  return (
    <span
      className={cx(
        'inline-flex size-8 shrink-0 items-center justify-center rounded-full',
        arrived ? 'bg-good-soft text-good-ink' : 'bg-neutral-soft text-neutral-ink',
      )}
    >
      <Icon name={draft ? 'clock' : icons[type]} />
    </span>
  )
}

type Seen = Pick<PaymentRow, 'type' | 'status' | 'draft' | 'refundOf'>

/** Which way a payment goes, in a word. A refund is one at any status. Nothing that did not arrive is called received or sent, and what a stranger only had built is no payment yet. */
export function directionWords({ type, status, draft, refundOf }: Seen): string {
  if (draft) return t`Incomplete`
  if (refundOf !== null) return t({ message: 'Refund', context: 'payment' })
  if (type === 'internal') return t`Internal`
  if (type === 'external') return t`Between others`
  const received = type === 'received'
  if (isPaid(status)) return received ? t`Received` : t({ message: 'Sent', context: 'money' })
  if (status === 'created' || status === 'pending') return received ? t`Incoming` : t`Outgoing`
  return received ? t`Not received` : t`Not paid`
}
