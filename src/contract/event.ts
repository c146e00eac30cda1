import * as v from 'valibot'
import { PaymentStatusBody } from './payment-body.ts'

/** One message of the live stream: a payment changed its status. `id` is a sequence that only grows; resume with the last one seen. */
export const PaymentEvent = v.object({
  type: v.literal('payment'),
  id: v.string(),
  payment: PaymentStatusBody,
})
export type PaymentEvent = v.InferOutput<typeof PaymentEvent>

/** What a client says on `GET /ws`. */
export const SocketRequest = v.variant('method', [
  v.strictObject({ method: v.literal('authenticate'), apiKey: v.string() }),
  v.strictObject({
    method: v.literal('subscribe'),
    keys: v.pipe(v.array(v.string()), v.minLength(1), v.maxLength(50)),
    since: v.optional(v.pipe(v.string(), v.regex(/^[0-9]{1,18}$/))),
  }),
  v.strictObject({ method: v.literal('unsubscribe'), keys: v.pipe(v.array(v.string()), v.minLength(1), v.maxLength(50)) }),
])
export type SocketRequest = v.InferOutput<typeof SocketRequest>

/** What the service says on `GET /ws`. */
export const SocketMessage = v.variant('type', [
  v.object({ type: v.literal('authenticated'), userId: v.string(), plan: v.string() }),
  /**
   * `lastEventId`: the newest event under these keys when the subscription began, `"0"` without one. With `since`, every event above
   * `since` is sent; without it, every event above `lastEventId`. A client therefore always knows the position it can resume from.
   */
  v.object({ type: v.literal('subscribed'), keys: v.array(v.string()), lastEventId: v.string(), timestamp: v.number() }),
  v.object({ type: v.literal('unsubscribed'), keys: v.array(v.string()), timestamp: v.number() }),
  v.object({ type: v.literal('error'), code: v.string(), message: v.string() }),
  PaymentEvent,
])
export type SocketMessage = v.InferOutput<typeof SocketMessage>
