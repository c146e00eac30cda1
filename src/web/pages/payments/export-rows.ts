import { formatAmount } from '#contract/amount.ts'
import { stringifyJson } from '#contract/json.ts'
import type { PaymentRow } from '#contract/payment-body.ts'
import type { PaymentNote } from '#contract/payment-endpoints.ts'
import { isLate, quoteOf } from '#contract/quote.ts'
import { ApiError } from '../../api/errors.ts'
import { filterPayments } from '../../api/filter-payments.ts'
import { readNotes } from '../../api/notes.ts'
import { INCOMPLETE, type ListQuery, type NoteFilter } from '../../api/payment-filter.ts'
import type { Viewer } from '../../api/queries.ts'
import { readAllPayments } from '../../api/read-all.ts'
import { csvFile, csvLine, type CsvShape } from '../../locales/csv-cell.ts'
import { descriptionOf, referenceOf } from '../../payment-view/describe-row.ts'
import {
  correctedAt,
  HLEDGER_HEAD,
  hledgerRows,
  JOURNAL_COLUMNS,
  journalRows,
  recordedAt,
} from './export-journal.ts'

/** `journal`: CSV, one line a posting. */
export type ExportFormat = 'csv' | 'json' | 'journal' | 'hledger'
export type ExportOptions = CsvShape & {
  format: ExportFormat
  networkName: (network: string) => string
}

/** The file's columns. Not translated: programs read them. */
const fields: readonly [
  name: string,
  read: (row: PaymentRow, note: PaymentNote | undefined, options: ExportOptions) => string,
][] = [
  ['date', (row) => new Date(row.timestamp).toISOString()],
  ['payment_id', (row) => row.paymentId],
  ['direction', (row) => row.type],
  ['status', (row) => row.status],
  ['amount', (row) => formatAmount(BigInt(row.amountAtomic), row.decimals)],
  ['symbol', (row) => row.symbol],
  ['asset', (row) => row.asset],
  ['amount_atomic', (row) => row.amountAtomic],
  ['network', (row, _, { networkName }) => networkName(row.network)],
  ['network_id', (row) => row.network],
  ['from', (row) => row.sender],
  ['to', (row) => row.recipient],
  ['resource', (row) => row.resource ?? ''],
  ['description', (row) => descriptionOf(row) ?? ''],
  ['reference', (row) => referenceOf(row) ?? ''],
  ['email', (_, note) => note?.email ?? ''],
  ['fiat_amount', (row) => quoteOf(row.metadata)?.amount ?? ''],
  ['fiat_currency', (row) => quoteOf(row.metadata)?.currency ?? ''],
  ['rate', (row) => quoteOf(row.metadata)?.rate ?? ''],
  ['rate_source', (row) => quoteOf(row.metadata)?.source ?? ''],
  ['rate_round', (row) => quoteOf(row.metadata)?.round ?? ''],
  ['rate_age_seconds', ageOfRate],
  ['quoted_at', (row) => dateOf(quoteOf(row.metadata)?.quotedAt)],
  ['quote_late', lateness],
  ['fee', ({ fee }) => (fee ? formatAmount(BigInt(fee.amountAtomic), fee.decimals) : '')],
  ['fee_symbol', ({ fee }) => fee?.symbol ?? ''],
  ['fee_atomic', ({ fee }) => fee?.amountAtomic ?? ''],
  ['fee_payer', ({ fee }) => fee?.payer ?? ''],
  ['fee_is_yours', ({ fee }) => (fee ? (fee.own ? 'yes' : 'no') : '')],
  ['refund_of', (row) => row.refundOf ?? ''],
  ['refund_reason', (row) => row.refundReason ?? ''],
  ['refund_state', ({ refund }) => refund.state],
  ['refunded', ({ refund, decimals }) => formatAmount(BigInt(refund.refundedAtomic), decimals)],
  ['refunded_atomic', ({ refund }) => refund.refundedAtomic],
  ['refund_pending_atomic', ({ refund }) => refund.pendingAtomic],
  ['transaction', (row) => row.signature ?? ''],
  ['block_time', (row) => dateOf(row.blockTime ?? undefined)],
  ['confirmed_at', recordedAt],
  ['mode', (row) => row.mode],
  ['labels', (_, note) => note?.labels.join(', ') ?? ''],
  ['note', (_, note) => note?.note ?? ''],
  [
    'reconciled_at',
    (_, note) => (note?.reconciledAt ? new Date(note.reconciledAt).toISOString() : ''),
  ],
  // Last: programs may read by position.
  ['fee_corrected_at', correctedAt],
]

function dateOf(time: number | undefined): string {
  return time === undefined ? '' : new Date(time).toISOString()
}

function ageOfRate({ metadata }: PaymentRow): string {
  const quote = quoteOf(metadata)
  return quote ? String(Math.round((quote.quotedAt - quote.observedAt) / 1000)) : ''
}

/** `late`: in a block that was made after the quote expired. It still counts at the quoted amount. */
function lateness({ metadata, blockTime }: PaymentRow): string {
  const quote = quoteOf(metadata)
  return quote && isLate(quote, blockTime ?? undefined) ? 'late' : ''
}

/** Columns that hold figures: a sign in front of one is a sign, and `;` makes their points commas. */
const FIGURES: ReadonlySet<string> = new Set([
  'amount',
  'amount_atomic',
  'fiat_amount',
  'rate',
  'rate_age_seconds',
  'fee',
  'fee_atomic',
  'refunded',
  'refunded_atomic',
  'refund_pending_atomic',
])

const FILES = {
  csv: { extension: 'csv', type: 'text/csv;charset=utf-8' },
  journal: { extension: 'csv', type: 'text/csv;charset=utf-8' },
  hledger: { extension: 'journal', type: 'text/plain;charset=utf-8' },
  json: { extension: 'json', type: 'application/json' },
} as const satisfies Record<ExportFormat, { extension: string; type: string }>

/** Of the file, and its media type. */
export function extensionOf(format: ExportFormat): { extension: string; type: string } {
  return FILES[format]
}

/** What stands before the first row. */
export function exportHead({ format, separator, mark }: ExportOptions): string {
  if (format === 'json') return '[\n'
  if (format === 'hledger') return HLEDGER_HEAD
  const names = format === 'journal' ? JOURNAL_COLUMNS : fields.map(([name]) => name)
  return csvFile([names.map((text) => ({ text, figure: false }))], { separator, mark })
}

/** Rows of one page; `first` when nothing was written before it. */
export function exportRows(
  rows: readonly PaymentRow[],
  notes: ReadonlyMap<string, PaymentNote>,
  { first, ...options }: ExportOptions & { first: boolean },
): string {
  if (options.format === 'json') {
    const objects = rows.map((row) => {
      const note = notes.get(row.paymentId)
      const entries = fields.map(([name, read]) => [
        name,
        name === 'labels' ? (note?.labels ?? []) : read(row, note, options) || null,
      ])
      // Metadata as it came, with all its digits.
      return stringifyJson({ ...Object.fromEntries(entries), metadata: row.metadata })
    })
    return objects.length === 0 ? '' : `${first ? '' : ',\n'}${objects.join(',\n')}`
  }
  const { format, separator } = options
  if (format === 'hledger') return hledgerRows(rows)
  if (format === 'journal') return journalRows(rows, separator)
  return rows
    .map((row) =>
      csvLine(
        fields.map(([name, read]) => ({
          text: read(row, notes.get(row.paymentId), options),
          figure: FIGURES.has(name),
        })),
        separator,
      ),
    )
    .join('')
}

export function exportTail({ format }: ExportOptions): string {
  return format === 'json' ? '\n]\n' : ''
}

export type ExportSource =
  | { kind: 'rows'; viewer: Viewer; rows: readonly PaymentRow[] }
  | {
      kind: 'filter'
      viewer: Viewer
      query: ListQuery
      noted: NoteFilter | undefined
      until: number | undefined
    }

/** `rows`: how many payments it has. */
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
    yield* selectedPages(source, signal)
    return
  }
  const { viewer, query, noted, until } = source
  if (noted)
    for await (const { rows } of filterPayments(viewer, { query, noted }, { until, signal }))
      yield rows
  else
    for await (const page of readAllPayments(viewer, query, { until, signal })) yield page.payments
}

/**
 * Selected payments as they are now: a row was read when it was selected, and may have confirmed or been dropped since. Pages without a selected one are
 * skipped. A draft is in another list, until there is evidence of its payer: that list is read first, so that one which leaves it meanwhile is in the next.
 * @throws ApiError `NOT_FOUND` when one is in neither: the file would lack it unseen
 */
async function* selectedPages(
  { viewer, rows }: Extract<ExportSource, { kind: 'rows' }>,
  signal: AbortSignal,
): AsyncGenerator<readonly PaymentRow[]> {
  const left = new Map(rows.map(({ paymentId, timestamp }) => [paymentId, timestamp]))
  const drafts = new Map(
    rows.flatMap((row) => (row.draft ? [[row.paymentId, row.timestamp] as const] : [])),
  )
  for (const [query, sought] of [
    [{ status: INCOMPLETE }, drafts],
    [{}, left],
  ] as const) {
    let next = newestOf(sought)
    const since = String(Math.min(...sought.values()))
    while (next !== undefined) {
      const until = next + 1
      next = undefined
      const pages = readAllPayments(viewer, { ...query, since }, { until, signal })
      for await (const { payments, nextCursor } of pages) {
        yield payments.filter(({ paymentId }) => {
          drafts.delete(paymentId)
          return left.delete(paymentId)
        })
        const end = payments.at(-1)?.timestamp
        if (nextCursor === null || end === undefined) break
        // Others of the same moment may be on the next page.
        if ([...sought.values()].includes(end)) continue
        next = newestOf(sought, end)
        break
      }
    }
  }
  if (left.size > 0) throw new ApiError({ code: 'NOT_FOUND' })
}

/** The newest time, of those before `end`. */
function newestOf(times: ReadonlyMap<string, number>, end = Infinity): number | undefined {
  const before = [...times.values()].filter((time) => time < end)
  return before.length === 0 ? undefined : Math.max(...before)
}
