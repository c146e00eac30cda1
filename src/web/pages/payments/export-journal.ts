import { formatAmount } from '#contract/amount.ts'
import { NATIVE_ETH, NATIVE_SOL } from '#contract/network.ts'
import type { PaymentRow } from '#contract/payment-body.ts'
import { isPaid } from '#contract/payment.ts'
import { quoteOf } from '#contract/quote.ts'
import { csvLine } from '../../locales/csv-cell.ts'
import { descriptionOf, referenceOf } from '../../payment-view/describe-row.ts'

/** A quantity of one asset of one network. Amounts of different commodities are never added up. */
export type Commodity = {
  /** Of network and address alone: issuers and operators rename assets, and two may have one symbol. */
  name: string
  symbol: string
  network: string
  /** Of a token; null for the native currency. */
  asset: string | null
  decimals: number
}

type Posting = {
  account: string
  commodity: Commodity
  /** Signed: what an account gains is positive. */
  atomic: bigint
  /** Signed, at the quoted rate; null where nobody quoted one. */
  fiat: { amount: string; currency: string } | null
}

const SALES = 'income:sales'
const REFUNDS = 'income:refunds'
const PURCHASES = 'expenses:payments'
const FEES = 'expenses:network fees'
const TRANSFERS = 'equity:internal transfers'

/**
 * What a payment moved in the accounts of its reader, by double entry: the postings of each
 * commodity add up to 0. None for what moved nothing of theirs. A transaction that failed has cost
 * its network fee.
 */
function postingsOf(row: PaymentRow): Posting[] {
  return [...(isPaid(row.status) ? amountPostings(row) : []), ...feePostings(row)]
}

function amountPostings(row: PaymentRow): Posting[] {
  const [from, to] = [walletAccount(row, row.sender), walletAccount(row, row.recipient)]
  switch (row.type) {
    case 'received':
      return move(row, row.refundOf === null ? SALES : PURCHASES, to)
    case 'sent':
      return move(row, from, row.refundOf === null ? PURCHASES : REFUNDS)
    case 'internal':
      return [...move(row, from, TRANSFERS), ...move(row, TRANSFERS, to)]
    case 'external':
      return []
  }
}

function move(row: PaymentRow, from: string, to: string): Posting[] {
  const quote = quoteOf(row.metadata)
  const commodity = commodityOf(row)
  const posting = (account: string, sign: 1n | -1n): Posting => ({
    account,
    commodity,
    atomic: BigInt(row.amountAtomic) * sign,
    fiat: quote
      ? { amount: sign < 0n ? `-${quote.amount}` : quote.amount, currency: quote.currency }
      : null,
  })
  return [posting(to, 1n), posting(from, -1n)]
}

function feePostings({ fee, network }: PaymentRow): Posting[] {
  if (!fee?.own || fee.payer === null || BigInt(fee.amountAtomic) === 0n) return []
  const commodity = nativeCommodity(network, fee)
  const atomic = BigInt(fee.amountAtomic)
  return [
    { account: FEES, commodity, atomic, fiat: null },
    { account: walletAccount({ network }, fee.payer), commodity, atomic: -atomic, fiat: null },
  ]
}

/** A colon would open a level below. */
export function walletAccount({ network }: Pick<PaymentRow, 'network'>, address: string): string {
  return `assets:${network.replaceAll(':', '-')}:${address}`
}

function commodityOf(row: PaymentRow): Commodity {
  const { network, asset, symbol, decimals } = row
  if (isNative(row)) return nativeCommodity(network, row)
  return { name: `${network}/${asset}`, symbol, network, asset, decimals }
}

function nativeCommodity(
  network: string,
  { symbol, decimals }: { symbol: string; decimals: number },
): Commodity {
  return { name: `${network}/native`, symbol, network, asset: null, decimals }
}

/** Both sentinels are no address of a token. */
function isNative({ asset, network }: PaymentRow): boolean {
  return asset === (network.startsWith('eip155:') ? NATIVE_ETH.address : NATIVE_SOL.address)
}

/** The symbol as the comment of a posting: nothing that ends a line or begins a tag. */
function commentOf({ symbol }: Commodity): string {
  const plain = symbol.replace(/[^\p{L}\p{N}.$₮-]/gu, '')
  return plain === '' ? '' : `  ; ${plain}`
}

/** When the money moved: by its block, or when the service noted it. */
export function dateOfEntry({ blockTime, confirmedAt, timestamp }: PaymentRow): string {
  return new Date(blockTime ?? confirmedAt ?? timestamp).toISOString()
}

/** When the service recorded it as confirmed: days after its block where its evidence came late. Empty for what failed. */
export function recordedAt({ confirmedAt }: PaymentRow): string {
  return confirmedAt === null ? '' : new Date(confirmedAt).toISOString()
}

/** When an upgrade took a doubled network fee out of the entry: a file made before has it. Empty for others. */
export function correctedAt({ feeCorrectedAt }: PaymentRow): string {
  return feeCorrectedAt === undefined ? '' : new Date(feeCorrectedAt).toISOString()
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
  ['confirmed_at', recordedAt],
  ['fee_corrected_at', correctedAt],
]
const FIGURES: ReadonlySet<string> = new Set(['amount', 'amount_atomic', 'fiat_amount'])

export const JOURNAL_COLUMNS: readonly string[] = columns.map(([name]) => name)

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
      const tags = [
        ['transaction', row.signature ?? ''],
        ['confirmed_at', recordedAt(row)],
        ['fee_corrected_at', correctedAt(row)],
      ].flatMap(([name, value]) => (value === '' ? [] : `    ; ${name}:${value}\n`))
      const lines = postings.map(
        (posting) =>
          `    ${posting.account}  ${amountOf(posting)} "${posting.commodity.name}"${commentOf(posting.commodity)}\n`,
      )
      const head = `${date} ${mark} (${row.paymentId}) ${text}`.trimEnd()
      return `\n${priceOf(row, date)}${head}\n${[...tags, ...lines].join('')}`
    })
    .join('')
}

function priceOf(row: PaymentRow, date: string): string {
  const quote = quoteOf(row.metadata)
  return quote ? `P ${date} "${commodityOf(row).name}" ${quote.rate} ${quote.currency}\n` : ''
}

function oneLine(text: string): string {
  return text.replace(/[\p{C}\p{Z};|]+/gu, ' ').trim()
}
