import type { Authenticated } from '../keys/authenticate.ts'
import type { Limit } from '../limits/limits.ts'

/**
 * What bounds the requests of a key: its account's plan, which all keys of the account share, and its own limit where that is lower.
 * A key whose limit is as high as the account's is bounded by the account's already.
 */
export function limitsOf({
  accountId,
  keyId,
  accountPerMinute,
  requestsPerMinute,
}: Authenticated): Limit[] {
  const account = { pool: accountId, perMinute: accountPerMinute }
  return requestsPerMinute < accountPerMinute
    ? [account, { pool: keyId, perMinute: requestsPerMinute }]
    : [account]
}
