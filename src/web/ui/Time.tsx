import { usePreferences } from '../local-data/preferences.ts'
import { formatFull, formatRelative, formatShort } from './format-time.ts'
import { useNow } from './use-now.ts'

export type TimeProps = {
  /** Unix milliseconds. */
  at: number
  /** `relative` for what is near, `short` for rows, `seconds` for steps, `full` for records. */
  look?: 'relative' | 'short' | 'seconds' | 'full'
  className?: string
}

export function Time({ at, look = 'short', className }: TimeProps) {
  const zone = usePreferences().timeZone
  const now = useNow()
  const full = formatFull(at, zone)
  const text =
    look === 'full'
      ? full
      : look === 'relative'
        ? formatRelative(at, Math.max(now, at))
        : formatShort(at, zone, { now, seconds: look === 'seconds' })
  return (
    <time
      className={`figures ${className ?? ''}`}
      dateTime={new Date(at).toISOString()}
      title={full}
    >
      {text}
    </time>
  )
}
