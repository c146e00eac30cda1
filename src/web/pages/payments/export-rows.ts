import { formatAmount } from '#contract/amount.ts'
import { stringifyJson } from '#contract/json.ts'
import type { PaymentNote } from '#contract/note-endpoints.ts'
import type { PaymentRow } from '#contract/payment-body.ts'
import { isLate, quoteOf } from '#contract/quote.ts'
import { descriptionOf, referenceOf } from '../../payment-view/describe-row.ts'

export type ExportFormat = 'csv' | 'json'
export type ExportOptions = {
  format: ExportFormat
  /** `;` for spreadsheets that read a comma as the decimal point. */
  separator: ',' | ';'
  /** Spreadsheets take UTF-8 for what it is only with this mark in front. */
  mark: boolean
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
  ['transaction', (row) => row.signature ?? ''],
  ['block_time', (row) => dateOf(row.blockTime ?? undefined)],
  ['mode', (row) => row.mode],
  ['labels', (_, note) => note?.labels.join(', ') ?? ''],
  ['note', (_, note) => note?.note ?? ''],
  [
    'reconciled_at',
    (_, note) => (note?.reconciledAt ? new Date(note.reconciledAt).toISOString() : ''),
  ],
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

/** Columns that hold figures: a sign in front of one is a sign. */
const FIGURES = new Set(['amount', 'amount_atomic', 'fiat_amount', 'rate', 'rate_age_seconds'])

/** What stands before the first row. */
export function exportHead({ format, separator, mark }: ExportOptions): string {
  if (format === 'json') return '[\n'
  return `${mark ? '\uFEFF' : ''}${fields.map(([name]) => name).join(separator)}\r\n`
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
  return rows
    .map((row) => {
      const note = notes.get(row.paymentId)
      return `${fields.map(([name, read]) => csvCell(read(row, note, options), { separator: options.separator, figure: FIGURES.has(name) })).join(options.separator)}\r\n`
    })
    .join('')
}

export function exportTail({ format }: ExportOptions): string {
  return format === 'json' ? '\n]\n' : ''
}

/**
 * One cell by RFC 4180. A spreadsheet runs what begins like a formula, so a stranger's text that does gets an apostrophe in front
 * (OWASP, CSV injection).
 */
export function csvCell(
  text: string,
  { separator, figure = false }: { separator: ',' | ';'; figure?: boolean },
): string {
  const safe = !figure && /^\s*[=+\-@\t\r\n\uFF1D\uFF0B\uFF0D\uFF20]/.test(text) ? `'${text}` : text
  return /["\r\n]/.test(safe) || safe.includes(separator) || safe !== safe.trim()
    ? `"${safe.replaceAll('"', '""')}"`
    : safe
}
