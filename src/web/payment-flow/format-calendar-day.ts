import { formatDate } from '../locales/formats.ts'

/** `2026-11-25` as people write it, the same day in every time zone. */
export function formatCalendarDay(day: string): string {
  return formatDate(Date.parse(`${day}T00:00:00Z`), { dateStyle: 'medium', timeZone: 'UTC' })
}
