import type { PaymentRow } from '#contract/payment-body.ts'
import { readNotes } from '../../api/notes.ts'
import type { ListQuery, NoteFilter } from '../../api/payment-filter.ts'
import type { Viewer } from '../../api/queries.ts'
import { readAllPayments } from '../../api/read-all.ts'
import { filterPayments } from '../../api/filter-payments.ts'
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

export type ExportRun = {
  options: ExportOptions
  signal: AbortSignal
  onProgress: (rows: number) => void
}

const NOTES_AT_ONCE = 500

/**
 * Writes the file page by page; the browser keeps what is written outside the page's memory.
 * @throws ApiError, or the signal's reason
 */
export async function runExport(
  source: ExportSource,
  { options, signal, onProgress }: ExportRun,
): Promise<{ file: Blob; rows: number }> {
  const parts: Blob[] = [new Blob([exportHead(options)])]
  let count = 0
  for await (const rows of pagesOf(source, signal)) {
    for (let from = 0; from < rows.length; from += NOTES_AT_ONCE) {
      const some = rows.slice(from, from + NOTES_AT_ONCE)
      const notes = await readNotes(
        some.map(({ paymentId }) => paymentId),
        { signal },
      )
      parts.push(new Blob([exportRows(some, notes, { ...options, first: count === 0 })]))
      count += some.length
      onProgress(count)
    }
    signal.throwIfAborted()
  }
  parts.push(new Blob([exportTail(options)]))
  return {
    file: new Blob(parts, {
      type: options.format === 'csv' ? 'text/csv;charset=utf-8' : 'application/json',
    }),
    rows: count,
  }
}

async function* pagesOf(
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

/** Hands a file to the reader. */
export function download(file: Blob, name: string): void {
  const url = URL.createObjectURL(file)
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  // The browser has begun by then; without this the file stays in memory until the page is closed.
  setTimeout(() => URL.revokeObjectURL(url), 60_000)
}
