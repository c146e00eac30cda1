import { Badge } from './Badge.tsx'
import { Icon } from './Icon.tsx'
import { type ShownStatus, statusLabel, statusMeaning, statusWords } from './status-words.ts'

/** A status as picture and word; hovering tells what it means. */
export function StatusPill({ status, className }: { status: ShownStatus; className?: string }) {
  const { tone, icon } = statusWords[status]
  return (
    <Badge
      className={className}
      icon={<Icon name={icon} size={14} />}
      title={statusMeaning(status)}
      tone={tone}
    >
      {statusLabel(status)}
    </Badge>
  )
}
