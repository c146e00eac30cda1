import type { PaymentStatus } from '#contract/payment.ts'
import { Badge } from './Badge.tsx'
import { Icon } from './Icon.tsx'
import { statusWords } from './status-words.ts'

/** A status as picture and word; hovering tells what it means. */
export function StatusPill({ status, className }: { status: PaymentStatus | 'unknown'; className?: string }) {
  const { label, meaning, tone, icon } = statusWords[status]
  return (
    <Badge className={className} icon={<Icon name={icon} size={14} />} title={meaning} tone={tone}>
      {label}
    </Badge>
  )
}
