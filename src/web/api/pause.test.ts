import { afterEach, expect, test, vi } from 'vitest'
import { notePause, pauseSeconds } from './pause.ts'

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
