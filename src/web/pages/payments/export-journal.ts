import { formatAmount } from '#contract/amount.ts'
import type { PaymentRow } from '#contract/payment-body.ts'
import { quoteOf } from '#contract/quote.ts'
import { descriptionOf, referenceOf } from '../../payment-view/describe-row.ts'
import { csvLine } from '../../local-data/csv-cell.ts'
import { commodityOf, postingsOf, type Posting } from './postings.ts'

/** When the money moved: by its block, or when the service noted it. */
export function dateOfEntry({ blockTime, confirmedAt, timestamp }: PaymentRow): string {
  return new Date(blockTime ?? confirmedAt ?? timestamp).toISOString()
}

const amountOf = ({ atomic, commodity }: Posting) => formatAmount(atomic, commodity.decimals)

/** Columns of the journal, one line a posting. Not translated: programs read them. */
const columns: readonly [name: string, read: (row: PaymentRow, posting: Posting) => string][] = [
  ['date', dateOfEntry],
  ['payment_id', (row) => row.paymentId],
  ['status', (row) => row.status],
  ['account', (_, { account }) => account],
  ['amount', (_, posting) => amountOf(posting)],
  ['commodity', (_, { commodity }) => commodity.name],
  ['symbol', (_, { commodity }) => commodity.symbol],
  ['network_id', (_, { commodity }) => commodity.network],
  ['asset', (_, { commodity }) => commodity.asset ?? ''],
  ['amount_atomic', (_, { atomic }) => atomic.toString()],
  ['fiat_amount', (_, { fiat }) => fiat?.amount ?? ''],
  ['fiat_currency', (_, { fiat }) => fiat?.currency ?? ''],
  ['description', (row) => descriptionOf(row) ?? ''],
  ['reference', (row) => referenceOf(row) ?? ''],
  ['refund_of', (row) => row.refundOf ?? ''],
  ['refund_reason', (row) => row.refundReason ?? ''],
  ['transaction', (row) => row.signature ?? ''],
]
const FIGURES: ReadonlySet<string> = new Set(['amount', 'amount_atomic', 'fiat_amount'])

export function journalHead(separator: ',' | ';'): string {
  return csvLine(
    columns.map(([name]) => ({ text: name, figure: false })),
    separator,
  )
}

export function journalRows(rows: readonly PaymentRow[], separator: ',' | ';'): string {
  return rows
    .flatMap((row) =>
      postingsOf(row).map((posting) =>
        csvLine(
          columns.map(([name, read]) => ({ text: read(row, posting), figure: FIGURES.has(name) })),
          separator,
        ),
      ),
    )
    .join('')
}

/** Without the directive a program may take a point for a thousands separator. */
export const HLEDGER_HEAD = 'decimal-mark .\n'

/**
 * Transactions of hledger, and the market prices that payments were quoted at. Text of payers stands
 * in the description alone, on one line and without the signs that begin a comment or a tag.
 */
export function hledgerRows(rows: readonly PaymentRow[]): string {
  return rows
    .map((row) => {
      const postings = postingsOf(row)
      if (postings.length === 0) return ''
      const date = dateOfEntry(row).slice(0, 10)
      const mark = row.status === 'finalized' || row.status === 'failed' ? '*' : '!'
      const text = [referenceOf(row), descriptionOf(row), row.refundReason]
        .flatMap((part) => (part === null ? [] : oneLine(part)))
        .join(' - ')
      const tags = row.signature === null ? '' : `    ; transaction:${row.signature}\n`
      const lines = postings.map(
        (posting) =>
          `    ${posting.account}  ${amountOf(posting)} ${JSON.stringify(posting.commodity.name)}\n`,
      )
      const head = `${date} ${mark} (${row.paymentId}) ${text}`.trimEnd()
      return `\n${priceOf(row, date)}${head}\n${tags}${lines.join('')}`
    })
    .join('')
}

function priceOf(row: PaymentRow, date: string): string {
  const quote = quoteOf(row.metadata)
  return quote
    ? `P ${date} ${JSON.stringify(commodityOf(row).name)} ${quote.rate} ${quote.currency}\n`
    : ''
}

function oneLine(text: string): string {
  return text.replace(/[\p{C}\p{Z};|]+/gu, ' ').trim()
}
