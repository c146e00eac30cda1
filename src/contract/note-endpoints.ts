import * as v from 'valibot'
import { boundedText, paymentId, timestamp } from './fields.ts'

/** What sellers write beside their payments. The proxy keeps it; the service and the payer never see it. */

export const MOST_LABELS = 10
/** As many as one page of payments holds. */
export const MOST_NOTED = 500

/** One line without control characters, as people write on a folder. */
export const Label = v.pipe(
  v.string(),
  v.trim(),
  v.regex(
    /^[^\p{Cc}\p{Cs},]{1,40}$/u,
    'Expected 1 to 40 characters, none of them a comma or a control character.',
  ),
)

const Labels = v.pipe(
  v.array(Label),
  v.maxLength(MOST_LABELS, `Expected at most ${MOST_LABELS} labels.`),
)
const paymentIds = v.pipe(
  v.array(paymentId),
  v.minLength(1),
  v.maxLength(MOST_NOTED, `Expected at most ${MOST_NOTED} payments.`),
)

export const PaymentNote = v.object({
  paymentId: v.string(),
  labels: v.array(v.string()),
  /** Empty for none. */
  note: v.string(),
  /** When it was matched with the books; null while it is not. Unix milliseconds. */
  reconciledAt: v.nullable(timestamp),
  updatedAt: timestamp,
})
export type PaymentNote = v.InferOutput<typeof PaymentNote>

const Notes = v.object({ notes: v.array(PaymentNote) })

export const noteEndpoints = {
  /** The notes there are on these payments; in a body, since so many ids are too long for an address. */
  noteRead: {
    method: 'POST',
    path: '/notes/read',
    body: v.strictObject({ paymentIds }),
    response: Notes,
  },
  /** Changes what is named, on all of the payments, and leaves the rest of each as it is. */
  noteWrite: {
    method: 'POST',
    path: '/notes',
    body: v.strictObject({
      paymentIds,
      addLabels: v.optional(Labels),
      removeLabels: v.optional(Labels),
      note: v.optional(boundedText(2000)),
      reconciled: v.optional(v.boolean()),
    }),
    response: Notes,
  },
  /** The labels in use, the most used first. */
  noteLabels: {
    method: 'GET',
    path: '/notes/labels',
    response: v.object({ labels: v.array(v.object({ label: v.string(), payments: v.number() })) }),
  },
} as const
