import * as v from 'valibot'
import type { Call } from './endpoint.ts'
import { publicText, timestamp } from './fields.ts'
import { PAYMENT_STATUSES } from './payment.ts'

/** A change of a payment's status, a proof that was found good, a payment that was settled, a payer's request for a refund. */
export const WEBHOOK_TYPES = [
  ...PAYMENT_STATUSES.map((status) => `payment.${status}` as const),
  'verification',
  'settlement',
  'refund_request',
] as const
export type WebhookType = (typeof WEBHOOK_TYPES)[number]

/** `dead`: no attempt follows until it is redelivered. */
export const WEBHOOK_STATES = ['pending', 'delivered', 'dead'] as const
export type WebhookState = (typeof WEBHOOK_STATES)[number]

/** Why the last attempt failed: the address is none that we ask, nothing came in time, or the answer was no 2xx. */
const FAILURES = ['address_refused', 'no_answer', 'status'] as const
export type WebhookFailure = (typeof FAILURES)[number]

const facts = {
  id: publicText,
  url: v.string(),
  events: v.array(v.picklist(WEBHOOK_TYPES)),
  enabled: v.boolean(),
  createdAt: timestamp,
  /** When each of its secrets stops signing; null for the current one. */
  secrets: v.array(v.object({ expiresAt: v.nullable(timestamp) })),
  pending: v.number(),
  dead: v.number(),
}
const Changed = v.object({ success: v.literal(true), ...facts })
const WithSecret = v.object({ success: v.literal(true), secret: v.string(), ...facts })

export const WebhookDeliveryBody = v.object({
  id: publicText,
  /** The number of its event; null for a test. */
  cursor: v.nullable(publicText),
  type: v.picklist([...WEBHOOK_TYPES, 'test']),
  paymentId: v.nullable(publicText),
  state: v.picklist(WEBHOOK_STATES),
  attempts: v.number(),
  createdAt: timestamp,
  lastAttemptAt: v.nullable(timestamp),
  nextAttemptAt: v.nullable(timestamp),
  failure: v.nullable(v.picklist(FAILURES)),
  /** The body that was sent, and the start of what was answered. */
  request: v.nullable(v.string()),
  response: v.nullable(v.object({ status: v.number(), body: v.string(), durationMs: v.number() })),
})
export type WebhookDeliveryBody = v.InferOutput<typeof WebhookDeliveryBody>

const Webhook = v.object(facts)
export type Webhook = v.InferOutput<typeof Webhook>

/** Additions: the merchant's servers that are sent events, and what they answered. */
export const webhookEndpoints = {
  webhookList: {
    method: 'GET',
    path: '/webhooks',
    response: v.object({ success: v.literal(true), webhooks: v.array(Webhook) }),
  },
  webhookCreate: { method: 'POST', path: '/webhooks', response: WithSecret },
  webhookUpdate: { method: 'POST', path: '/webhooks/:id', response: Changed },
  webhookDelete: {
    method: 'DELETE',
    path: '/webhooks/:id',
    response: v.object({ success: v.literal(true), id: publicText }),
  },
  webhookRotate: { method: 'POST', path: '/webhooks/:id/secret', response: WithSecret },
  webhookTest: {
    method: 'POST',
    path: '/webhooks/:id/test',
    response: v.object({ success: v.literal(true), delivery: WebhookDeliveryBody }),
  },
  webhookDeliveries: {
    method: 'GET',
    path: '/webhooks/:id/deliveries',
    /** `total`: how many there are with this state and time; null where no time is named. */
    response: v.object({
      success: v.literal(true),
      deliveries: v.array(WebhookDeliveryBody),
      total: v.nullable(v.number()),
    }),
  },
  webhookRedeliver: {
    method: 'POST',
    path: '/webhooks/:id/redeliver',
    response: v.object({ success: v.literal(true), deliveries: v.number() }),
  },
} as const satisfies Record<string, Call>
