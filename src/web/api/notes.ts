import { queryOptions } from '@tanstack/react-query'
import type { PaymentNote } from '#contract/payment-endpoints.ts'
import { callProxy, type CallOptions } from './client.ts'
import { queryClient } from './query-client.ts'

/** What the reader's side wrote about payments. The proxy stores it. */

export type NoteUpdate = {
  addLabels?: string[]
  removeLabels?: string[]
  note?: string
  reconciled?: boolean
}

/** The proxy's limit per call; a session that is not the operator's writes fewer. */
export const MOST_AT_ONCE = 500

export function notesQuery(paymentIds: readonly string[]) {
  return queryOptions({
    queryKey: ['notes', paymentIds],
    queryFn: ({ signal }) => readNotes(paymentIds, { signal }),
    staleTime: 60_000,
    gcTime: 60_000,
  })
}

export const labelsQuery = queryOptions({
  queryKey: ['notes', 'labels'],
  queryFn: async ({ signal }) => (await callProxy('noteLabels', {}, { signal })).labels,
  staleTime: 60_000,
})

export async function readNotes(
  paymentIds: readonly string[],
  options: CallOptions = {},
): Promise<ReadonlyMap<string, PaymentNote>> {
  if (paymentIds.length === 0) return new Map()
  const { notes } = await callProxy('noteRead', { body: { paymentIds: [...paymentIds] } }, options)
  return new Map(notes.map((note) => [note.paymentId, note]))
}

/**
 * Applies the change to all of the payments, in as many calls as needed. @throws ApiError; what was
 * written before it stays
 */
export async function writeNotes(
  paymentIds: readonly string[],
  change: NoteUpdate,
  atOnce = MOST_AT_ONCE,
): Promise<void> {
  try {
    for (let from = 0; from < paymentIds.length; from += atOnce) {
      await callProxy('noteWrite', {
        body: { paymentIds: paymentIds.slice(from, from + atOnce), ...change },
      })
    }
  } finally {
    void queryClient.invalidateQueries({ queryKey: ['notes'] })
  }
}
