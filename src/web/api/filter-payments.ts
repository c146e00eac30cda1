import type { PaymentRow } from '#contract/payment-body.ts'
import { labelsQuery, readNotes } from './notes.ts'
import { matchesNotes, type ListQuery, type NoteFilter } from './payment-filter.ts'
import type { Viewer } from './queries.ts'
import { queryClient } from './query-client.ts'
import { readAllPayments } from './read-all.ts'

/** What came of one more stretch of the list: the rows that are asked for, and how many were looked at so far, of how many. */
export type FilteredPayments = { rows: readonly PaymentRow[]; looked: number; of: number }

/**
 * The payments of a query whose notes are asked for, newest first. The service narrows by what it knows and never hears of a note; the rest is told
 * apart here, page after page. It ends as soon as a label has no payment left. @throws ApiError
 */
export async function* filterPayments(
  viewer: Viewer,
  { query, noted }: { query: ListQuery; noted: NoteFilter },
  options: { until: number | undefined; signal: AbortSignal },
): AsyncGenerator<FilteredPayments> {
  let left = await labelled(noted)
  let looked = 0
  if (left === 0) return
  for await (const { payments, total } of readAllPayments(viewer, query, options)) {
    const ids = payments.map(({ paymentId }) => paymentId)
    const notes = await readNotes(ids, { signal: options.signal })
    if (noted.label)
      left -= payments.filter(({ paymentId }) =>
        notes.get(paymentId)?.labels.includes(noted.label ?? ''),
      ).length
    looked += payments.length
    yield {
      rows: payments.filter(({ paymentId }) => matchesNotes(noted, notes.get(paymentId))),
      looked,
      of: Math.max(total, looked),
    }
    if (left <= 0) return
  }
}

/** How many payments have the label, beside all other filters; infinite where none is asked for. */
async function labelled({ label }: NoteFilter): Promise<number> {
  if (!label) return Infinity
  const labels = await queryClient.fetchQuery({ ...labelsQuery, staleTime: 0 })
  // The list names the hundred most used: beyond them nobody knows when a label has no payment left.
  return (
    labels.find((each) => each.label === label)?.payments ?? (labels.length < 100 ? 0 : Infinity)
  )
}
