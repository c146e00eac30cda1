import { and, desc, inArray, lt, sql, type SQL } from 'drizzle-orm'
import { formatAmount } from '#contract/amount.ts'
import type { EndpointInput, EndpointReply } from '#contract/endpoints.ts'
import { LosslessNumber } from '#contract/json.ts'
import type { Database } from '#postgres/open.ts'
import type { Actor, Context } from '../../context/context.ts'
import { readRestore } from '../../db/deployment.ts'
import type { PaymentRecord } from '../../db/payments.ts'
import { readRefunds } from '../../db/refunds.ts'
import { payment } from '../../db/schema/payment.ts'
import { describeRefund, readMetadata } from '../describe-money.ts'
import {
  readCursorText,
  writeCursorText,
  type ListOrder,
  type CursorPosition,
  readFilters,
  type PaymentListQuery,
  type Filters,
} from './filters.ts'
import { readTotal, readDays, startOf } from './history-total.ts'
import { branchesOf, timeOf } from './history-where.ts'
import { readRowFees } from './row-fees.ts'

/** From here on an offset skips whole days by their counts; below it, reading past the rows is quicker. */
const FAR = 500

export type HistoryRange = { limit: number; offset: number; after: CursorPosition | undefined }

/** The rows of one page, the newest first. */
async function readRows(
  db: Database,
  filters: Filters,
  stretch: HistoryRange,
): Promise<PaymentRecord[]> {
  if (stretch.offset < FAR) return select(db, filters, { ...stretch, before: undefined })
  // The counts and the rows must be of one moment, or the page would begin some rows off.
  return db.transaction(
    async (tx) => {
      const place = await skip(tx, filters, stretch.offset)
      return place === 'past the end' ? [] : select(tx, filters, { ...stretch, ...place })
    },
    { isolationLevel: 'repeatable read', accessMode: 'read only' },
  )
}

type Rest = { offset: number; before: Date | undefined }

/** Where an offset lies: the end of its day, and how many of that day's payments come first. */
async function skip(
  tx: Database,
  filters: Filters,
  offset: number,
): Promise<Rest | 'past the end'> {
  const days = await readDays(tx, filters)
  if (!days) return { offset, before: undefined }
  let passed = 0
  for (const { day, payments } of days) {
    if (passed + payments > offset) return { offset: offset - passed, before: startOf(day + 1) }
    passed += payments
  }
  return 'past the end'
}

async function select(
  db: Database,
  filters: Filters,
  { limit, offset, after, before }: HistoryRange & Rest,
): Promise<PaymentRecord[]> {
  const time = timeOf(filters)
  const from = and(
    after && sql`(${time}, ${payment.id}) < (${after.at.toISOString()}::timestamptz, ${after.id})`,
    before && lt(payment.createdAt, before),
  )
  const branches = branchesOf(filters, { rows: offset + limit, from })
  const first = (where: SQL | undefined, rows: number): SQL =>
    sql`(select ${payment.id}, ${time} as at from ${payment} where ${and(where, from)} order by ${time} desc, ${payment.id} desc limit ${rows})`
  // Every branch may hold the whole page. A payment that is in two of them is in the union once.
  const merged = sql.join(
    branches.map((branch) => first(branch, offset + limit)),
    sql` union `,
  )
  const ids = sql`(select id from (${merged}) as merged order by at desc, id desc limit ${limit} offset ${offset})`
  return db
    .select()
    .from(payment)
    .where(inArray(payment.id, ids))
    .orderBy(desc(time), desc(payment.id))
}

type Page = Omit<EndpointReply<'paymentList'>, 'restoredAt'>
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
): Promise<EndpointReply<'paymentList'>> {
  // Read once in a process.
  const { restoredAt } = await readRestore(context.db)
  const page = await readPage(context, actor, { query, wallets, parties })
  return { ...page, restoredAt: restoredAt?.getTime() ?? null }
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
    ...(row.feeCorrectedAt && { feeCorrectedAt: row.feeCorrectedAt.getTime() }),
    metadata: readMetadata(row.metadata),
    refundOf: row.refundOf,
    refundReason: row.refundReason,
    draft: row.draft,
  }
}
