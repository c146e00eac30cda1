import { isPaid } from '#contract/payment.ts'
import type { PaymentRow } from '#contract/payment-body.ts'
import { cx } from '../../ui/cx.ts'
import { Icon } from '../../ui/Icon.tsx'

/** The picture of sent or received; the word stands beside it. Green is for money that arrived. */
export function Direction({ type, status }: Pick<PaymentRow, 'type' | 'status'>) {
  const arrived = type === 'received' && isPaid(status)
  return (
    <span
      className={cx(
        'inline-flex size-8 shrink-0 items-center justify-center rounded-full',
        arrived ? 'bg-good-soft text-good-ink' : 'bg-neutral-soft text-neutral-ink',
      )}
    >
      <Icon name={type === 'received' ? 'arrowIn' : 'arrowOut'} />
    </span>
  )
}
