import { afterEach, expect, test, vi } from 'vitest'
import { notePause, waitForPause, pauseSeconds } from './rate-limit-pause.ts'

afterEach(() => vi.useRealTimers())

test('a pause counts down to nothing, and a shorter one never ends it', () => {
  vi.useFakeTimers()
  notePause(20)
  vi.advanceTimersByTime(5_000)
  notePause(3)
  expect(pauseSeconds()).toBe(15)
  vi.advanceTimersByTime(15_000)
  expect(pauseSeconds()).toBe(0)
  expect(vi.getTimerCount()).toBe(0)
})

test('a clock that is set back after a pause does not make the next one longer', () => {
  vi.useFakeTimers()
  notePause(600)
  vi.advanceTimersByTime(600_000)
  vi.setSystemTime(Date.now() - 600_000)
  notePause(3)
  expect(pauseSeconds()).toBe(3)
  vi.advanceTimersByTime(3_000)
  expect(pauseSeconds()).toBe(0)
})

test('a waiting request resumes when the pause is over, and an aborted one is rejected at once', async () => {
  vi.useFakeTimers()
  await waitForPause()
  notePause(100)
  const order: string[] = []
  const waiting = waitForPause().then(() => order.push('on'))
  const given = new AbortController()
  const gone = waitForPause(given.signal).catch(() => order.push('gone'))
  given.abort(new Error('left'))
  await gone
  expect(order).toEqual(['gone'])
  await vi.advanceTimersByTimeAsync(100_000)
  await waiting
  expect(order).toEqual(['gone', 'on'])
})
