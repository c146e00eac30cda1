import * as v from 'valibot'
import { keyId } from './api-key-body.ts'
import { timestamp, wholeNumber } from './fields.ts'

/** What the API says of its own use. */

/** Each with its length and with how far back it is kept; older counts stay in the longer periods. */
export const USAGE_PERIODS = {
  minute: { ms: 60_000, keptDays: 2 },
  hour: { ms: 3_600_000, keptDays: 90 },
  day: { ms: 86_400_000, keptDays: 3660 },
} as const
export type UsagePeriod = keyof typeof USAGE_PERIODS

export const STATUS_CLASSES = ['2xx', '3xx', '4xx', '5xx'] as const
export type StatusClass = (typeof STATUS_CLASSES)[number]

/** An answer holds at most so many rows; a longer one is refused, never cut. */
export const MOST_USAGE_ROWS = 10_000

export const UsageQuery = v.strictObject({
  period: v.optional(
    v.picklist(Object.keys(USAGE_PERIODS) as [UsagePeriod, ...UsagePeriod[]]),
    'hour',
  ),
  /** Unix milliseconds, inclusive; both ends are widened to whole periods. The last 60 minutes, 24 hours or 30 days otherwise. */
  since: v.optional(wholeNumber(0, 999_999_999_999_999)),
  /** Unix milliseconds, exclusive. */
  until: v.optional(wholeNumber(0, 999_999_999_999_999)),
  keyId: v.optional(keyId),
  /** An endpoint's name; `unmatched` for paths there are none for. */
  endpoint: v.optional(
    v.pipe(v.string(), v.regex(/^[A-Za-z]{1,60}$/, "Expected an endpoint's name.")),
  ),
})

export const UsageBody = v.object({
  success: v.literal(true),
  period: v.picklist(Object.keys(USAGE_PERIODS) as [UsagePeriod, ...UsagePeriod[]]),
  since: timestamp,
  until: timestamp,
  totalRequests: v.number(),
  /** Oldest first. Periods without a request have no row. */
  usage: v.array(
    v.object({
      /** Start of the period, UTC. */
      startsAt: timestamp,
      keyId: v.string(),
      endpoint: v.string(),
      status: v.picklist(STATUS_CLASSES),
      requests: v.number(),
    }),
  ),
})
