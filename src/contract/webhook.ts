import * as v from 'valibot'
import { GRACE_SECONDS } from './api-key-body.ts'
import type { Endpoint } from './endpoint.ts'
import { StreamEvent } from './event.ts'
import { boundedText, logged, timestamp, wholeNumber } from './fields.ts'
import { WEBHOOK_STATES, WEBHOOK_TYPES } from './webhook-endpoints.ts'

/** Deliveries of events to a merchant's server, signed as https://www.standardwebhooks.com says. What browsers load of it is in webhook-endpoints.ts. */

/** An account has at most so many endpoints. */
export const MOST_WEBHOOKS = 10

const url = v.pipe(
  boundedText(2_048),
  v.check((text) => URL.canParse(text), 'Expected an absolute https URL.'),
)
const types = v.pipe(
  v.array(v.picklist(WEBHOOK_TYPES, `Expected one of ${WEBHOOK_TYPES.join(', ')}.`)),
  v.maxLength(WEBHOOK_TYPES.length, `Expected at most ${WEBHOOK_TYPES.length} types.`),
)
/** The number of an event, as text. */
const cursor = v.pipe(
  v.string(),
  v.regex(/^[0-9]{1,18}$/, 'Expected the id of an event.'),
  logged(),
)

const webhookId = v.pipe(
  v.string(),
  v.regex(/^whk_[1-9A-HJ-NP-Za-km-z]{22}$/, 'Expected whk_ and 22 base58 characters.'),
  logged(),
)
const params = v.object({ id: webhookId })

/** What is sent. `previous` is the `cursor` of the delivery before it: a receiver that has that one misses nothing. */
export const WebhookMessage = v.object({
  type: v.picklist([...WEBHOOK_TYPES, 'test']),
  timestamp: v.string(),
  cursor: v.nullable(v.string()),
  previous: v.nullable(v.string()),
  data: v.nullable(StreamEvent),
})

const common = { scope: 'keys:manage', audience: 'browser' } as const
const changing = ['NOT_FOUND', 'IDEMPOTENCY_CONFLICT', 'IDEMPOTENCY_IN_PROGRESS'] as const

/** Additions. A webhook tells what payments say, so its key needs `payment:read` too. */
export const webhookRows = {
  eventList: {
    summary: 'Events of the account after one, oldest first, 100 at a time',
    scope: 'payment:read',
    audience: 'key',
    query: v.strictObject({ after: v.optional(cursor, '0') }),
    /** `next`: what to ask with as `after`; the same while nothing is new. */
    response: v.object({
      success: v.literal(true),
      events: v.array(StreamEvent),
      next: v.string(),
    }),
    problems: [],
  },
  webhookList: {
    summary: "The account's webhooks, oldest first",
    ...common,
    problems: [],
  },
  webhookCreate: {
    summary: `Send events to a URL from now on; the signing secret is shown in this answer and never again. An account has at most ${MOST_WEBHOOKS} (\`FORBIDDEN\` beyond)`,
    ...common,
    body: v.strictObject({ url, events: v.optional(types, []) }),
    secret: 'secret',
    problems: ['IDEMPOTENCY_CONFLICT', 'IDEMPOTENCY_IN_PROGRESS'],
  },
  webhookUpdate: {
    summary: 'Change a webhook; one that is enabled again gets every event it missed',
    ...common,
    params,
    body: v.strictObject({
      url: v.optional(url),
      events: v.optional(types),
      enabled: v.optional(v.boolean()),
    }),
    problems: changing,
  },
  webhookDelete: {
    summary: 'Delete a webhook and the log of its deliveries',
    ...common,
    params,
    problems: ['NOT_FOUND'],
  },
  webhookRotate: {
    summary: 'Make a new signing secret; the old one signs too until the grace ends',
    ...common,
    params,
    body: v.strictObject({
      graceSeconds: v.picklist(GRACE_SECONDS, `Expected one of ${GRACE_SECONDS.join(', ')}.`),
    }),
    secret: 'secret',
    problems: changing,
  },
  webhookTest: {
    summary: 'Send a test event',
    ...common,
    params,
    problems: changing,
  },
  webhookDeliveries: {
    summary:
      'Deliveries of the last 30 days with request and answer, newest first. With `since` or `until`, `total` counts those that were made in that time',
    ...common,
    params,
    query: v.strictObject({
      state: v.optional(v.picklist(WEBHOOK_STATES)),
      since: v.optional(wholeNumber(0, 999_999_999_999_999)),
      until: v.optional(wholeNumber(0, 999_999_999_999_999)),
      limit: v.optional(wholeNumber(1, 500), '50'),
      offset: v.optional(wholeNumber(0, 1_000_000_000), '0'),
    }),
    problems: ['NOT_FOUND'],
  },
  webhookRedeliver: {
    summary:
      'Deliver again the events of a range, each with the same id: `from` and `to` are cursors, both included; or what was made from `since` until before `until`, of one `state` where it is named',
    ...common,
    params,
    body: v.strictObject({
      from: v.optional(cursor),
      to: v.optional(cursor),
      since: v.optional(timestamp),
      until: v.optional(timestamp),
      state: v.optional(v.picklist(WEBHOOK_STATES)),
    }),
    problems: changing,
  },
} as const satisfies Record<
  string,
  Omit<Endpoint, 'method' | 'path' | 'response'> & Partial<Pick<Endpoint, 'response'>>
>
