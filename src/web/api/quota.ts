import { createStore } from '../local-data/store.ts'

/**
 * What is left of the merchant's plan at the service, from the latest response. Times are Unix
 * milliseconds.
 */
export type QuotaState = { limit: number; remaining: number; resetAt: number; readAt: number }

const quota = createStore<QuotaState | undefined>(undefined)

/**
 * Reads the rate-limit headers of a response; without them nothing changes. `X-RateLimit-Reset` is
 * in Unix seconds.
 */
export function noteQuota(headers: Headers, readAt = Date.now()): void {
  const read = (name: string) => Number(headers.get(name) ?? Number.NaN)
  const [limit, remaining, reset] = [
    read('X-RateLimit-Limit'),
    read('X-RateLimit-Remaining'),
    read('X-RateLimit-Reset'),
  ]
  if (!Number.isFinite(limit) || limit <= 0 || !Number.isFinite(remaining)) return
  quota.set({
    limit,
    remaining: Math.max(0, Math.min(limit, remaining)),
    resetAt: Number.isFinite(reset) ? reset * 1000 : readAt,
    readAt,
  })
}

/** Undefined until a response reported it. */
export const useQuota = quota.use

export const getQuota = quota.get

/** The current remainder: the plan refills evenly, completely within a minute. */
export function remainingAt({ limit, remaining, readAt }: QuotaState, now: number): number {
  return Math.min(limit, Math.floor(remaining + (Math.max(0, now - readAt) / 60_000) * limit))
}
