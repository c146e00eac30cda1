import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { ApiError } from './errors.ts'
import { requestWithRetry } from './retry.ts'
import { notePause } from './rate-limit-pause.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** Refuses so often with an error, then answers; tells when it was asked. */
function asked(refusals: number, refuse: () => ApiError) {
  const start = Date.now()
  const at: number[] = []
  const ask = () => {
    at.push(Date.now() - start)
    return at.length > refusals ? Promise.resolve('answer') : Promise.reject(refuse())
  }
  return { at, ask }
}

test('a pause is sat out, and the same is asked again when it is over', async () => {
  const { at, ask } = asked(2, () => {
    notePause(3)
    return new ApiError({ code: 'RATE_LIMIT', status: 429, retryAfter: 3 })
  })
  const answer = requestWithRetry(ask)
  await vi.advanceTimersByTimeAsync(2_900)
  expect(at).toEqual([0])
  await vi.advanceTimersByTimeAsync(4_000)
  expect(await answer).toBe('answer')
  expect(at).toEqual([0, 3_000, 6_000])
})

test('a refusal that names no time is not answered with a storm', async () => {
  const { at, ask } = asked(2, () => new ApiError({ code: 'RATE_LIMIT', status: 429 }))
  const answer = requestWithRetry(ask)
  await vi.advanceTimersByTimeAsync(2_000)
  expect(await answer).toBe('answer')
  expect(at).toEqual([0, 1_000, 2_000])
})

test('a request of ours that still runs is waited for; anything else is told at once', async () => {
  const running = asked(
    1,
    () => new ApiError({ code: 'IDEMPOTENCY_IN_PROGRESS', status: 409, retryAfter: 2 }),
  )
  const answer = requestWithRetry(running.ask)
  await vi.advanceTimersByTimeAsync(2_000)
  expect(await answer).toBe('answer')
  const refused = asked(1, () => new ApiError({ code: 'INSUFFICIENT_BALANCE', status: 402 }))
  await expect(requestWithRetry(refused.ask)).rejects.toMatchObject({
    code: 'INSUFFICIENT_BALANCE',
  })
  expect(refused.at).toHaveLength(1)
})

test('a proxy that only ever refuses is told in the end', async () => {
  const { at, ask } = asked(Infinity, () => new ApiError({ code: 'RATE_LIMIT', status: 429 }))
  const told = requestWithRetry(ask).catch((error: unknown) => error)
  await vi.advanceTimersByTimeAsync(60_000)
  expect(await told).toMatchObject({ code: 'RATE_LIMIT' })
  expect(at).toHaveLength(31)
})
