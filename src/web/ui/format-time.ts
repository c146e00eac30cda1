import { t } from '@lingui/core/macro'
import { formatDate, formatDistance, formatNumber } from '../locales/formats.ts'

export type TimeZoneChoice = 'local' | 'utc'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** Date and time to the second, with the zone named. */
export function formatFull(at: number, zone: TimeZoneChoice, locale?: string): string {
  const text = formatDate(
    at,
    { dateStyle: 'medium', timeStyle: 'medium', timeZone: zone === 'utc' ? 'UTC' : undefined },
    locale,
  )
  return zone === 'utc' ? `${text} UTC` : text
}

/** `14:05` today, `12 Nov, 14:05` this year, with the year before that; with seconds where steps follow each other. */
export function formatShort(
  at: number,
  zone: TimeZoneChoice,
  { now, seconds, locale }: { now: number; seconds?: boolean; locale?: string },
): string {
  const timeZone = zone === 'utc' ? 'UTC' : undefined
  const dayOf = (time: number) => formatDate(time, { timeZone }, 'en-CA')
  const options: Intl.DateTimeFormatOptions = {
    timeZone,
    hour: '2-digit',
    minute: '2-digit',
    ...(seconds && { second: '2-digit' }),
  }
  if (dayOf(at) !== dayOf(now)) Object.assign(options, { day: 'numeric', month: 'short' })
  if (dayOf(at).slice(0, 4) !== dayOf(now).slice(0, 4)) Object.assign(options, { year: 'numeric' })
  return formatDate(at, options, locale)
}

/** A UTC day, `2026-11-21`, as `Nov 21`. */
export function formatDay(day: string): string {
  return day
    ? formatDate(new Date(`${day}T00:00:00Z`), { day: 'numeric', month: 'short', timeZone: 'UTC' })
    : ''
}

/** `just now`, `3 min ago`, `in 40 s`. */
export function formatRelative(at: number, now: number, locale?: string): string {
  const distance = at - now
  const size = Math.abs(distance)
  if (size < 5_000) return t`just now`
  if (size < MINUTE) return formatDistance(Math.trunc(distance / 1000), 'second', locale)
  if (size < HOUR) return formatDistance(Math.trunc(distance / MINUTE), 'minute', locale)
  if (size < DAY) return formatDistance(Math.trunc(distance / HOUR), 'hour', locale)
  return formatDistance(Math.trunc(distance / DAY), 'day', locale)
}

/** `1.4 s`, `48 s`, `3 min 5 s`. Rounded first: no part of it reaches 60. */
export function formatDuration(ms: number): string {
  const whole = Math.round(ms / 1000)
  if (whole < 60) {
    const digits = ms < 9950 ? 1 : 0
    const seconds = formatNumber(digits ? ms / 1000 : whole, {
      minimumFractionDigits: digits,
      maximumFractionDigits: digits,
    })
    return t`${seconds} s`
  }
  const minutes = Math.floor(whole / 60)
  const seconds = whole % 60
  return seconds ? t`${minutes} min ${seconds} s` : t`${minutes} min`
}
