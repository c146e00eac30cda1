import * as v from 'valibot'
import { keyId } from './api-key-body.ts'
import { logged, publicText, timestamp, wholeNumber } from './fields.ts'
import { STATUS_CLASSES, UsageQuery } from './usage.ts'

/** The log of the requests that an account's keys made. */

/** How long a request is kept. */
export const REQUEST_LOG_DAYS = 7

/** `error`: all that were refused or failed, also proofs that a facilitator's answer of status 200 refuses. */
const REQUEST_RESULTS = [...STATUS_CLASSES, 'error'] as const

const RequestQuery = v.strictObject({
  keyId: v.optional(keyId),
  result: v.optional(v.picklist(REQUEST_RESULTS)),
  /** The start of the path. */
  path: v.optional(
    v.pipe(
      v.string(),
      v.regex(/^\/[-\w./:]{0,199}$/, 'Expected the start of a path, such as /payment/send.'),
      logged(),
    ),
  ),
  /** The `X-Request-Id` of a response, and `error.requestId`. */
  requestId: v.optional(
    v.pipe(
      v.string(),
      v.regex(/^[0-9A-Za-z_-]{8,64}$/, 'Expected a request id: 8 to 64 letters, digits, - or _.'),
      logged(),
    ),
  ),
  /** Unix milliseconds, inclusive. */
  since: v.optional(wholeNumber(0, 999_999_999_999_999)),
  /** Unix milliseconds, exclusive. */
  until: v.optional(wholeNumber(0, 999_999_999_999_999)),
  cursor: v.optional(
    v.pipe(
      v.string(),
      v.regex(/^[0-9]{1,15}\.[0-9]{1,18}$/, 'Expected nextCursor of an answer before.'),
      logged(),
    ),
  ),
})

export const LoggedRequestBody = v.object({
  id: publicText,
  requestId: publicText,
  keyId: publicText,
  /** When it came. */
  at: timestamp,
  method: v.string(),
  /** Without its query. A part that names nothing known is hidden. */
  path: v.string(),
  /** The endpoint's name; `unmatched` for a path without one. */
  endpoint: publicText,
  status: v.number(),
  /** `error.code`, or the reason why a facilitator's answer refuses the payment; null for a success. */
  code: v.nullable(publicText),
  durationMs: v.number(),
  /** The start of what was sent and answered, as JSON without secrets, proofs and personal fields; null where there was nothing. */
  request: v.nullable(v.string()),
  response: v.nullable(v.string()),
  /** Requests of the same key just before this one that were not recorded, because there were too many. */
  skipped: v.number(),
})
export type LoggedRequestBody = v.InferOutput<typeof LoggedRequestBody>

export const RequestLogBody = v.object({
  success: v.literal(true),
  /** Newest first, at most 50. */
  requests: v.array(LoggedRequestBody),
  /** Null at the end. A page may be short, or empty, while more follows. */
  nextCursor: v.nullable(publicText),
})

const common = { scope: 'keys:manage', audience: 'browser', problems: [] } as const

/** Additions: how often the account's keys were used, and for what. */
export const requestRows = {
  usage: {
    summary: 'Requests counted per key, endpoint and status, by minute, hour or day',
    ...common,
    query: UsageQuery,
  },
  /** It shows payments, so its key needs `payment:read` too. */
  requestList: {
    summary: `Requests of the account's keys in the last ${REQUEST_LOG_DAYS} days, newest first`,
    ...common,
    query: RequestQuery,
  },
} as const
