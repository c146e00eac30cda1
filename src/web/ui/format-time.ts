export type TimeZoneChoice = 'local' | 'utc'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** Date and time to the second, with the zone named. */
export function formatFull(at: number, zone: TimeZoneChoice, locale?: string): string {
  return new Intl.DateTimeFormat(locale, {
    dateStyle: 'medium',
    timeStyle: 'medium',
    timeZone: zone === 'utc' ? 'UTC' : undefined,
  })
    .format(at)
    .concat(zone === 'utc' ? ' UTC' : '')
}

/** `14:05` today, `12 Nov, 14:05` this year, with the year before that; with seconds where steps follow each other. */
export function formatShort(at: number, zone: TimeZoneChoice, { now, seconds, locale }: { now: number; seconds?: boolean; locale?: string }): string {
  const timeZone = zone === 'utc' ? 'UTC' : undefined
  const dayOf = (time: number) => new Intl.DateTimeFormat('en-CA', { timeZone }).format(time)
  const options: Intl.DateTimeFormatOptions = { timeZone, hour: '2-digit', minute: '2-digit', ...(seconds && { second: '2-digit' }) }
  if (dayOf(at) !== dayOf(now)) Object.assign(options, { day: 'numeric', month: 'short' })
  if (dayOf(at).slice(0, 4) !== dayOf(now).slice(0, 4)) Object.assign(options, { year: 'numeric' })
  return new Intl.DateTimeFormat(locale, options).format(at)
}

/** `just now`, `3 min ago`, `in 40 s`. */
export function formatRelative(at: number, now: number, locale?: string): string {
  const distance = at - now
  const size = Math.abs(distance)
  const format = new Intl.RelativeTimeFormat(locale, { numeric: 'auto', style: 'short' })
  if (size < 5_000) return 'just now'
  if (size < MINUTE) return format.format(Math.trunc(distance / 1000), 'second')
  if (size < HOUR) return format.format(Math.trunc(distance / MINUTE), 'minute')
  if (size < DAY) return format.format(Math.trunc(distance / HOUR), 'hour')
  return format.format(Math.trunc(distance / DAY), 'day')
}

/** `1.4 s`, `48 s`, `3 min 5 s`. */
export function formatDuration(ms: number): string {
  if (ms < 10_000) return `${(ms / 1000).toFixed(1)} s`
  if (ms < MINUTE) return `${Math.round(ms / 1000)} s`
  const seconds = Math.round((ms % MINUTE) / 1000)
  return seconds ? `${Math.floor(ms / MINUTE)} min ${seconds} s` : `${Math.floor(ms / MINUTE)} min`
}
