import * as v from 'valibot'
import { boundedText } from './fields.ts'
import { PaymentStatusBody } from './payment-body.ts'
import { RefundRequest } from './refund-request.ts'

/**
 * What the stream tells of: a payment changed its status, a proof was found good, the payment of a proof is settled on its chain, a payer asked for a refund
 * or the request was declined or opened again.
 */
export const EVENT_KINDS = ['payment', 'verification', 'settlement', 'refund_request'] as const
export type EventKind = (typeof EVENT_KINDS)[number]

/** What a client subscribes to beside wallets: one key a kind. A wallet's address brings all kinds of its payments. */
export const EVENT_KEYS = {
  payments: 'payment',
  verifications: 'verification',
  settlements: 'settlement',
  refundRequests: 'refund_request',
} as const satisfies Record<string, EventKind>

/** `id` is a sequence that only grows, over all kinds; resume with the last one seen. */
const streamed = { id: v.string(), ...PaymentStatusBody.entries }

/** One message of the live stream: the payment's status body as it was at this event. */
export const PaymentEvent = v.object({ type: v.literal('payment'), ...streamed })
export type PaymentEvent = v.InferOutput<typeof PaymentEvent>

/** A message of the live stream of any kind. `refundRequest`: the newest of the payment, with events of that kind. */
export const StreamEvent = v.object({
  type: v.picklist(EVENT_KINDS),
  ...streamed,
  refundRequest: v.optional(RefundRequest),
})

/** That a payment's request for a refund changed: what of it a browser's stream carries. */
export const RefundRequestNews = v.object({
  type: v.literal('refund_request'),
  id: v.string(),
  paymentId: v.string(),
})

const keys = v.pipe(
  v.array(boundedText(100)),
  v.minLength(1, 'Expected at least one key.'),
  v.maxLength(50, 'Expected at most 50 keys.'),
)

/** What a client says on `GET /ws`. */
export const SocketRequest = v.variant('method', [
  v.strictObject({ method: v.literal('authenticate'), apiKey: boundedText(200) }),
  v.strictObject({
    method: v.literal('subscribe'),
    keys,
    since: v.optional(v.pipe(v.string(), v.regex(/^[0-9]{1,18}$/, 'Expected the id of an event.'))),
  }),
  v.strictObject({ method: v.literal('unsubscribe'), keys }),
])
export type SocketRequest = v.InferOutput<typeof SocketRequest>

/** What the service says on `GET /ws`. */
export const SocketMessage = v.variant('type', [
  v.object({ type: v.literal('authenticated'), userId: v.string(), plan: v.string() }),
  /**
   * `lastEventId`: the newest event of the account, under whatever key, when the subscription began, `"0"` without one. With `since`, every event
   * under these keys above `since` is sent; without it, every one above `lastEventId`. A client therefore always knows the position it can resume from.
   */
  v.object({
    type: v.literal('subscribed'),
    keys: v.array(v.string()),
    lastEventId: v.string(),
    timestamp: v.number(),
  }),
  v.object({ type: v.literal('unsubscribed'), keys: v.array(v.string()), timestamp: v.number() }),
  v.object({ type: v.literal('error'), code: v.string(), message: v.string() }),
  PaymentEvent,
  v.object({ type: v.literal('verification'), ...streamed }),
  v.object({ type: v.literal('settlement'), ...streamed }),
  v.object({ type: v.literal('refund_request'), ...streamed }),
])
export type SocketMessage = v.InferOutput<typeof SocketMessage>

/** What a beat says: whether the proxy itself hears of payments now. A proxy that says nothing of it was built before it could. */
export const Heartbeat = v.object({ live: v.optional(v.boolean(), true) })
export type Heartbeat = v.InferOutput<typeof Heartbeat>
