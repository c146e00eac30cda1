import { expect, test } from 'vitest'
import { getQuota, noteQuota, remainingAt } from './quota.ts'

const headers = (limit: string, remaining: string, reset = '1790000060') =>
  new Headers({
    'X-RateLimit-Limit': limit,
    'X-RateLimit-Remaining': remaining,
    'X-RateLimit-Reset': reset,
  })

test('the latest answer tells what is left; one that does not say changes nothing', () => {
  noteQuota(headers('100', '40'), 5_000)
  expect(getQuota()).toEqual({
    limit: 100,
    remaining: 40,
    resetAt: 1_790_000_060_000,
    readAt: 5_000,
  })
  noteQuota(new Headers(), 6_000)
  noteQuota(headers('x', '1'), 6_000)
  expect(getQuota()?.readAt).toBe(5_000)
})

test('a minute brings the whole plan back, and never more than it', () => {
  const quota = { limit: 100, remaining: 10, resetAt: 0, readAt: 0 }
  expect([0, 6_000, 60_000, 600_000].map((now) => remainingAt(quota, now))).toEqual([
    10, 20, 100, 100,
  ])
})
