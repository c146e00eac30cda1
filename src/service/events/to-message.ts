import type * as v from 'valibot'
import type { StreamEvent } from '#contract/event.ts'
import type { PaymentStatusBody } from '#contract/payment-body.ts'
import type { Database } from '#postgres/open.ts'
import { readNewestRequests } from '../refunds/refund-requests.ts'
import { countUpTo, type EventRow } from './read.ts'

/** What a reader of the stream gets; amounts as their handler wrote them. */
export type EventMessage = v.InferInput<typeof StreamEvent>
type PaymentBody = v.InferInput<typeof PaymentStatusBody>
export type ReadPayment = (paymentId: string) => Promise<PaymentBody>
export type ReadPayments = (
  paymentIds: readonly string[],
) => Promise<ReadonlyMap<string, PaymentBody>>

/**
 * An event as it goes over the stream: the payment as it is known now, with the status and the history it had at this event. A reader that
 * replays a day therefore sees every status once, in order.
 */
export async function toMessage(
  db: Database,
  row: EventRow,
  readPayment: ReadPayment,
): Promise<EventMessage> {
  const { paymentId } = row
  const payments = new Map([[paymentId, await readPayment(paymentId)]])
  const [message] = await toMessages(db, [row], payments)
  if (!message) throw new Error(`The event ${row.number} has no payment.`)
  return message
}

/** The same of several events, with the bodies of their payments, in as many queries as of one. */
export async function toMessages(
  db: Database,
  rows: readonly EventRow[],
  payments: ReadonlyMap<string, PaymentBody>,
): Promise<EventMessage[]> {
  if (rows.length === 0) return []
  const requested = rows.flatMap((row) => (row.kind === 'refund_request' ? [row.paymentId] : []))
  const [changes, requests] = await Promise.all([
    countUpTo(db, rows),
    readNewestRequests(db, [...new Set(requested)]),
  ])
  return rows.flatMap((row) => {
    const payment = payments.get(row.paymentId)
    if (!payment) return []
    const message = {
      ...payment,
      type: row.kind,
      id: String(row.number),
      status: row.status,
      failure: row.status === 'failed' ? payment.failure : null,
      events: payment.events.slice(0, changes.get(row.id) ?? 0),
    }
    if (row.kind !== 'refund_request') return [message]
    return [{ ...message, refundRequest: requests.get(row.paymentId) }]
  })
}
