import { expect, test } from 'vitest'
import { formatDuration, formatFull, formatRelative, formatShort } from './format-time.ts'

const at = Date.UTC(2026, 10, 21, 23, 30, 5)

test('a full time names UTC when it is told in it', () => {
  expect(formatFull(at, 'utc', 'en-GB')).toBe('21 Nov 2026, 23:30:05 UTC')
})

test('a short time says no more than is needed to tell it apart', () => {
  const short = (now: number) => formatShort(at, 'utc', { now, locale: 'en-GB' })
  expect(short(at + 60_000)).toBe('23:30')
  expect(short(at + 3_600_000)).toBe('21 Nov, 23:30')
  expect(short(Date.UTC(2027, 0, 1))).toBe('21 Nov 2026, 23:30')
  expect(formatShort(at, 'utc', { now: at, seconds: true, locale: 'en-GB' })).toBe('23:30:05')
})

test('what just happened is not counted in seconds', () => {
  expect(formatRelative(at, at + 4_000, 'en')).toBe('just now')
  expect(formatRelative(at, at + 40_000, 'en')).toBe('40 sec. ago')
  expect(formatRelative(at, at + 3 * 3_600_000, 'en')).toBe('3 hr. ago')
})

test('days that passed are counted, and none is called yesterday that was the day before', () => {
  const [created, now] = [Date.UTC(2026, 10, 25, 2), Date.UTC(2026, 10, 27, 1)]
  expect(formatRelative(created, now, 'en')).toBe('1 day ago')
  expect(formatRelative(created, now, 'es')).toBe('hace 1 d')
  expect(formatRelative(created, now + 86_400_000, 'es')).toBe('hace 2 d')
})

test('durations are told in the unit a person would use', () => {
  expect([1_240, 48_400, 185_000, 120_000].map(formatDuration)).toEqual([
    '1.2 s',
    '48 s',
    '3 min 5 s',
    '2 min',
  ])
})

test('a duration never has 60 seconds', () => {
  expect([119_700, 59_600, 9_960, 59_499].map(formatDuration)).toEqual([
    '2 min',
    '1 min',
    '10 s',
    '59 s',
  ])
})
