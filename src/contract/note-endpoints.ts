import * as v from 'valibot'
import type { Call } from './endpoint.ts'
import { timestamp } from './fields.ts'

/** What the proxy keeps beside payments: what sellers write, and the e-mail address a payer gave. The service sees none of it. */

export const PaymentNote = v.object({
  paymentId: v.string(),
  labels: v.array(v.string()),
  /** Empty for none. */
  note: v.string(),
  /** When it was marked as booked by the merchant; null while it is not. Unix milliseconds. */
  reconciledAt: v.nullable(timestamp),
  /** What the payer of a link gave; null for none, and for a session that is not an operator's. */
  email: v.nullable(v.string()),
  updatedAt: timestamp,
})
export type PaymentNote = v.InferOutput<typeof PaymentNote>

const Notes = v.object({ notes: v.array(PaymentNote) })

export const noteEndpoints = {
  /** The notes there are on these payments; in a body, since so many ids are too long for an address. */
  noteRead: { method: 'POST', path: '/notes/read', response: Notes },
  /** Changes what is named, on all of the payments, and leaves the rest of each as it is. */
  noteWrite: { method: 'POST', path: '/notes', response: Notes },
  /** The labels in use, the most used first. */
  noteLabels: {
    method: 'GET',
    path: '/notes/labels',
    response: v.object({ labels: v.array(v.object({ label: v.string(), payments: v.number() })) }),
  },
} as const satisfies Record<string, Call>
