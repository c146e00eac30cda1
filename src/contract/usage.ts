import * as v from 'valibot'
import { keyId } from './api-key-body.ts'
import { logged, publicText, timestamp, wholeNumber } from './fields.ts'

/** The usage of the API. */

/**
 * Each with its length and how long its counts are kept; older counts stay in the longer periods.
 */
export const USAGE_PERIODS = {
  minute: { ms: 60_000, retentionDays: 2 },
  hour: { ms: 3_600_000, retentionDays: 90 },
  day: { ms: 86_400_000, retentionDays: 3660 },
} as const
export type UsagePeriod = keyof typeof USAGE_PERIODS

export const STATUS_CLASSES = ['2xx', '3xx', '4xx', '5xx'] as const
export type StatusClass = (typeof STATUS_CLASSES)[number]

/** The most rows in an answer; a longer one is refused, never truncated. */
export const MOST_USAGE_ROWS = 10_000

export const UsageQuery = v.strictObject({
  period: v.optional(
    v.picklist(Object.keys(USAGE_PERIODS) as [UsagePeriod, ...UsagePeriod[]]),
    'hour',
  ),
  /**
   * Unix milliseconds, inclusive; both ends are widened to whole periods. By default the last 60
   * minutes, 24 hours or 30 days.
   */
  since: v.optional(wholeNumber(0, 999_999_999_999_999)),
  /** Unix milliseconds, exclusive. */
  until: v.optional(wholeNumber(0, 999_999_999_999_999)),
  keyId: v.optional(keyId),
  /**
   * An endpoint's name; `unmatched` for paths without an endpoint.
   *
   */
  endpoint: v.optional(
    v.pipe(v.string(), v.regex(/^[A-Za-z]{1,60}$/, "Expected an endpoint's name."), logged()),
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
      keyId: publicText,
      endpoint: publicText,
      status: v.picklist(STATUS_CLASSES),
      requests: v.number(),
    }),
  ),
})
