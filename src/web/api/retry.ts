import { ApiError } from './errors.ts'
import { waitForPause } from './rate-limit-pause.ts'

const WAIT_MS = 1_000
const WAITS = 5
/**
 * Far more than a dashboard in normal use needs; a proxy that only ever refuses is reported as
 * such.
 */
const PAUSES = 30

/**
 * Retries until there is an answer, for requests whose idempotency key makes them safe to repeat:
 * if the same request is still running elsewhere (a reload in the middle), this waits for it and
 * never races it. It also waits out a pause that the proxy asks for.
 * @throws ApiError
 */
export async function requestWithRetry<T>(request: () => Promise<T>): Promise<T> {
  for (let waits = 0, pauses = 0; ;) {
    try {
      return await request()
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      if (error.code === 'IDEMPOTENCY_IN_PROGRESS' && waits++ < WAITS)
        await sleep((error.retryAfter ?? 0) * 1000 || WAIT_MS)
      else if (error.code === 'RATE_LIMIT' && pauses++ < PAUSES)
        await (error.retryAfter ? waitForPause() : sleep(WAIT_MS))
      else throw error
    }
  }
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms)
  })
}
