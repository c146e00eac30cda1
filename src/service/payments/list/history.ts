import { formatAmount } from '#contract/amount.ts'
import type { EndpointInput, EndpointReply } from '#contract/endpoints.ts'
import { LosslessNumber } from '#contract/json.ts'
import type { Actor, Context } from '../../context/context.ts'
import type { PaymentRecord } from '../../db/payments.ts'
import { readRefunds } from '../../db/refunds.ts'
import { readCursorText, writeCursorText, type ListOrder } from './cursor.ts'
import { describeRefund } from '../describe-refund.ts'
import { readFilters, type PaymentListQuery } from './filters.ts'
import { readRows } from './history-page.ts'
import { readRowFees } from './row-fees.ts'
import { readTotal } from './history-total.ts'
import { readMetadata } from '../metadata.ts'

type Page = EndpointReply<'paymentList'>
type Row = Page['payments'][number]

/** What a wallet sent and received, of this account, the newest first. */
export async function readHistory(
  context: Context,
  actor: Actor,
  input: EndpointInput<'paymentHistory'>,
): Promise<EndpointReply<'paymentHistory'>> {
  const { walletAddress } = input.params
  return {
    ...(await readPage(context, actor, { query: input.query, wallets: [walletAddress] })),
    walletAddress,
  }
}

/** The account's payments, of some wallets or of all, the newest first. */
export async function readList(
  context: Context,
  actor: Actor,
  { wallets, parties, ...query }: EndpointInput<'paymentList'>['query'],
): Promise<Page> {
  return readPage(context, actor, { query, wallets, parties })
}

async function readPage(
  context: Context,
  actor: Actor,
  list: {
    query: PaymentListQuery
    wallets: readonly string[] | undefined
    parties?: readonly string[] | undefined
  },
): Promise<Page> {
  const { query, wallets, parties } = list
  const filters = readFilters(actor.accountId, query, {
    wallets,
    parties,
    networks: context.config.networks,
  })
  const after = query.cursor === undefined ? undefined : readCursorText(query.cursor, filters.by)
  const [rows, total] = await Promise.all([
    // One more than asked for tells whether there is a next page.
    readRows(context.db, filters, { limit: query.limit + 1, offset: query.offset, after }),
    readTotal(context.db, filters),
  ])
  const shown = rows.slice(0, query.limit)
  const last = shown.at(-1)
  const [refunds, fees] = await Promise.all([
    readRefunds(
      context.db,
      shown.map(({ id }) => id),
    ),
    readRowFees(context.db, shown, {
      networks: context.config.networks,
      accountId: actor.accountId,
      wallets,
    }),
  ])
  return {
    success: true,
    total,
    limit: query.limit,
    offset: query.offset,
    nextCursor:
      rows.length > query.limit && last
        ? writeCursorText({ at: timeIn(last, filters.by), id: last.id }, filters.by)
        : null,
    payments: shown.map((row) =>
      toRow(row, {
        type: directionOf(row, wallets),
        refund: describeRefund(row.amount, refunds.get(row.id)),
        fee: fees.get(row.id) ?? null,
      }),
    ),
  }
}

/** As `timeOf` reads it. */
function timeIn({ blockTime, confirmedAt, createdAt }: PaymentRecord, by: ListOrder): Date {
  return by === 'landed' ? (blockTime ?? confirmedAt ?? createdAt) : createdAt
}

/** As seen from the wallets that are looked from; by the wallets of the account without any. */
function directionOf(row: PaymentRecord, wallets: readonly string[] | undefined): Row['type'] {
  if (!wallets) return row.direction
  const [paying, paid] = [wallets.includes(row.sender), wallets.includes(row.recipient)]
  if (paying) return paid ? 'internal' : 'sent'
  return paid ? 'received' : 'external'
}

function toRow(row: PaymentRecord, ledger: Pick<Row, 'type' | 'refund' | 'fee'>): Row {
  return {
    paymentId: row.id,
    ...ledger,
    mode: row.mode,
    amount: new LosslessNumber(formatAmount(row.amount, row.decimals)),
    amountAtomic: row.amount.toString(),
    network: row.network,
    asset: row.asset,
    symbol: row.symbol,
    decimals: row.decimals,
    sender: row.sender,
    recipient: row.recipient,
    resource: row.resource,
    status: row.status,
    signature:
      row.signature ??
      (row.status === 'created' || row.status === 'pending' ? row.reportedSignature : null),
    timestamp: row.createdAt.getTime(),
    confirmedAt: row.confirmedAt?.getTime() ?? null,
    blockTime: row.blockTime?.getTime() ?? null,
    metadata: readMetadata(row.metadata),
    refundOf: row.refundOf,
    refundReason: row.refundReason,
    draft: row.draft,
  }
}
