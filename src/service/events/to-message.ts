import type * as v from 'valibot'
import type { StreamEvent } from '#contract/event.ts'
import type { PaymentStatusBody } from '#contract/payment-body.ts'
import type { Database } from '#postgres/open.ts'
import { readNewestRequest } from '../refunds/refund-requests.ts'
import { countUpTo, type EventRow } from './read.ts'

/** What a reader of the stream gets; amounts as their handler wrote them. */
export type EventMessage = v.InferInput<typeof StreamEvent>
export type ReadPayment = (paymentId: string) => Promise<v.InferInput<typeof PaymentStatusBody>>

/**
 * An event as it goes over the stream: the payment as it is known now, with the status and the history it had at this event. A reader that
 * replays a day therefore sees every status once, in order.
 */
export async function toMessage(
  db: Database,
  row: EventRow,
  readPayment: ReadPayment,
): Promise<EventMessage> {
  const payment = await readPayment(row.paymentId)
  const events = payment.events.slice(0, await countUpTo(db, row))
  const failure = row.status === 'failed' ? payment.failure : null
  const message = {
    ...payment,
    type: row.kind,
    id: String(row.number),
    status: row.status,
    failure,
    events,
  }
  if (row.kind !== 'refund_request') return message
  return { ...message, refundRequest: await readNewestRequest(db, row.paymentId) }
}
