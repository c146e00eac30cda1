import { isPaid } from '#contract/payment.ts'
import type { PaymentRow } from '#contract/payment-body.ts'
import { cx } from '../ui/cx.ts'
import { Icon, type IconName } from '../ui/Icon.tsx'

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
