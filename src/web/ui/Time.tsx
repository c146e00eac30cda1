import { usePreferences } from '../preferences.ts'
import { formatFull, formatRelative, formatShort } from './format-time.ts'
import { useNow } from './use-now.ts'

export type TimeProps = {
  /** Unix milliseconds. */
  at: number
  /** `relative` for what is near, `short` for rows, `full` for records. */
  look?: 'relative' | 'short' | 'full'
  className?: string
}

export function Time({ at, look = 'short', className }: TimeProps) {
  const zone = usePreferences().timeZone
  const now = useNow()
  const full = formatFull(at, zone)
  const text = look === 'full' ? full : look === 'short' ? formatShort(at, zone, now) : formatRelative(at, Math.max(now, at))
  return (
    <time className={`figures ${className ?? ''}`} dateTime={new Date(at).toISOString()} title={full}>
      {text}
    </time>
  )
}
