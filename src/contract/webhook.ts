import * as v from 'valibot'
import { GRACE_SECONDS } from './api-key-body.ts'
import type { Endpoint } from './endpoint.ts'
import { StreamEvent } from './event.ts'
import { boundedText, timestamp, wholeNumber } from './fields.ts'
import { PAYMENT_STATUSES } from './payment.ts'

/** Deliveries of events to a merchant's server, signed as https://www.standardwebhooks.com says. */

/** An account has at most so many endpoints. */
export const MOST_WEBHOOKS = 10

/** A change of a payment's status, a proof that was found good, a payment that was settled. */
export const WEBHOOK_TYPES = [
  ...PAYMENT_STATUSES.map((status) => `payment.${status}` as const),
  'verification',
  'settlement',
] as const
export type WebhookType = (typeof WEBHOOK_TYPES)[number]

/** `dead`: no attempt follows until it is redelivered. */
const STATES = ['pending', 'delivered', 'dead'] as const
export type WebhookState = (typeof STATES)[number]

/** Why the last attempt failed: the address is none that we ask, nothing came in time, or the answer was no 2xx. */
const FAILURES = ['address_refused', 'no_answer', 'status'] as const
export type WebhookFailure = (typeof FAILURES)[number]

const url = v.pipe(
  boundedText(2_048),
  v.check((text) => URL.canParse(text), 'Expected an absolute https URL.'),
)
const types = v.pipe(
  v.array(v.picklist(WEBHOOK_TYPES, `Expected one of ${WEBHOOK_TYPES.join(', ')}.`)),
  v.maxLength(WEBHOOK_TYPES.length, `Expected at most ${WEBHOOK_TYPES.length} types.`),
)
/** The number of an event, as text. */
const cursor = v.pipe(v.string(), v.regex(/^[0-9]{1,18}$/, 'Expected the id of an event.'))

const webhookId = v.pipe(
  v.string(),
  v.regex(/^whk_[1-9A-HJ-NP-Za-km-z]{22}$/, 'Expected whk_ and 22 base58 characters.'),
)
const params = v.object({ id: webhookId })

const facts = {
  id: v.string(),
  url: v.string(),
  events: v.array(v.picklist(WEBHOOK_TYPES)),
  enabled: v.boolean(),
  createdAt: timestamp,
  /** When each of its secrets stops signing; null for the current one. */
  secrets: v.array(v.object({ expiresAt: v.nullable(timestamp) })),
  pending: v.number(),
  dead: v.number(),
}
const WebhookBody = v.object({ success: v.literal(true), ...facts })
const WebhookSecretBody = v.object({ success: v.literal(true), secret: v.string(), ...facts })

const Delivery = v.object({
  id: v.string(),
  /** The number of its event; null for a test. */
  cursor: v.nullable(v.string()),
  type: v.picklist([...WEBHOOK_TYPES, 'test']),
  paymentId: v.nullable(v.string()),
  state: v.picklist(STATES),
  attempts: v.number(),
  createdAt: timestamp,
  lastAttemptAt: v.nullable(timestamp),
  nextAttemptAt: v.nullable(timestamp),
  failure: v.nullable(v.picklist(FAILURES)),
  /** The body that was sent, and the start of what was answered. */
  request: v.nullable(v.string()),
  response: v.nullable(v.object({ status: v.number(), body: v.string(), durationMs: v.number() })),
})

/** What is sent. `previous` is the `cursor` of the delivery before it: a receiver that has that one misses nothing. */
export const WebhookMessage = v.object({
  type: v.picklist([...WEBHOOK_TYPES, 'test']),
  timestamp: v.string(),
  cursor: v.nullable(v.string()),
  previous: v.nullable(v.string()),
  data: v.nullable(StreamEvent),
})

const common = { scope: 'keys:manage', audience: 'key' } as const
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
    response: v.object({ success: v.literal(true), webhooks: v.array(v.object(facts)) }),
    problems: [],
  },
  webhookCreate: {
    summary: `Send events to a URL from now on; the signing secret is shown in this answer and never again. An account has at most ${MOST_WEBHOOKS} (\`FORBIDDEN\` beyond)`,
    ...common,
    body: v.strictObject({ url, events: v.optional(types, []) }),
    response: WebhookSecretBody,
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
    response: WebhookBody,
    problems: changing,
  },
  webhookDelete: {
    summary: 'Delete a webhook and the log of its deliveries',
    ...common,
    params,
    response: v.object({ success: v.literal(true), id: v.string() }),
    problems: ['NOT_FOUND'],
  },
  webhookRotate: {
    summary: 'Make a new signing secret; the old one signs too until the grace ends',
    ...common,
    params,
    body: v.strictObject({
      graceSeconds: v.picklist(GRACE_SECONDS, `Expected one of ${GRACE_SECONDS.join(', ')}.`),
    }),
    response: WebhookSecretBody,
    secret: 'secret',
    problems: changing,
  },
  webhookTest: {
    summary: 'Send a test event',
    ...common,
    params,
    response: v.object({ success: v.literal(true), delivery: Delivery }),
    problems: changing,
  },
  webhookDeliveries: {
    summary: 'Deliveries of the last 30 days with request and answer, newest first',
    ...common,
    params,
    query: v.strictObject({
      state: v.optional(v.picklist(STATES)),
      limit: v.optional(wholeNumber(1, 500), '50'),
      offset: v.optional(wholeNumber(0, 1_000_000_000), '0'),
    }),
    response: v.object({ success: v.literal(true), deliveries: v.array(Delivery) }),
    problems: ['NOT_FOUND'],
  },
  webhookRedeliver: {
    summary: 'Deliver again the events of a range, both ends included, each with the same id',
    ...common,
    params,
    body: v.strictObject({ from: cursor, to: cursor }),
    response: v.object({ success: v.literal(true), deliveries: v.number() }),
    problems: changing,
  },
} as const satisfies Record<string, Omit<Endpoint, 'method' | 'path'>>
