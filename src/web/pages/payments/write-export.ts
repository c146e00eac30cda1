import type { PaymentRow } from '#contract/payment-body.ts'
import { filterPayments } from '../../api/filter-payments.ts'
import { readNotes } from '../../api/notes.ts'
import type { ListQuery, NoteFilter } from '../../api/payment-filter.ts'
import type { Viewer } from '../../api/queries.ts'
import { readAllPayments } from '../../api/read-all.ts'
import { exportHead, exportRows, exportTail, type ExportOptions } from './export-rows.ts'

export type ExportSource =
  | { kind: 'rows'; rows: readonly PaymentRow[] }
  | {
      kind: 'filter'
      viewer: Viewer
      query: ListQuery
      noted: NoteFilter | undefined
      until: number | undefined
    }

/** `rows`: how many payments stand in it. */
export type ExportPart = { text: string; rows: number }

const NOTES_AT_ONCE = 500

/**
 * The file in parts. A page is read when the part before it has been taken, so only one page is in
 * memory, however many payments there are.
 * @throws ApiError, or the signal's reason
 */
export async function* writeExport(
  pages: AsyncIterable<readonly PaymentRow[]>,
  options: ExportOptions,
  signal: AbortSignal,
): AsyncGenerator<ExportPart> {
  yield { text: exportHead(options), rows: 0 }
  let first = true
  for await (const rows of pages) {
    for (let from = 0; from < rows.length; from += NOTES_AT_ONCE) {
      const some = rows.slice(from, from + NOTES_AT_ONCE)
      const notes = withNotes(options)
        ? await readNotes(
            some.map(({ paymentId }) => paymentId),
            { signal },
          )
        : new Map<string, never>()
      yield { text: exportRows(some, notes, { ...options, first }), rows: some.length }
      first = false
    }
    signal.throwIfAborted()
  }
  yield { text: exportTail(options), rows: 0 }
}

const withNotes = ({ format }: ExportOptions) => format === 'csv' || format === 'json'

/** The payments of an export, page after page by cursor, the newest first. @throws ApiError */
export async function* pagesOf(
  source: ExportSource,
  signal: AbortSignal,
): AsyncGenerator<readonly PaymentRow[]> {
  if (source.kind === 'rows') {
    yield source.rows
    return
  }
  const { viewer, query, noted, until } = source
  if (noted)
    for await (const { rows } of filterPayments(viewer, { query, noted }, { until, signal }))
      yield rows
  else
    for await (const page of readAllPayments(viewer, query, { until, signal })) yield page.payments
}
