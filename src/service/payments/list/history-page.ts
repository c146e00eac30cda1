import { and, desc, inArray, lt, sql, type SQL } from 'drizzle-orm'
import type { Database } from '#postgres/open.ts'
import type { PaymentRecord } from '../../db/payments.ts'
import { payment } from '../../db/schema/payment.ts'
import type { CursorPosition } from './cursor.ts'
import type { Filters } from './filters.ts'
import { readDays, startOf } from './history-total.ts'
import { branchesOf, timeOf } from './history-where.ts'

/** From here on an offset skips whole days by their counts; below it, reading past the rows is quicker. */
const FAR = 500

export type HistoryRange = { limit: number; offset: number; after: CursorPosition | undefined }

/** The rows of one page, the newest first. */
export async function readRows(
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
  // Every branch may hold the whole page. A payment that is on two of them stands in the union once.
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
