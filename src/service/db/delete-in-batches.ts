import { sql, type SQL } from 'drizzle-orm'
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core'
import type { Database } from '#postgres/open.ts'

/** Rows that one statement deletes: none holds locks for long, or reaches its time limit. */
const AT_ONCE = 5_000

/** Deletes what a condition holds for, in the order of an indexed column. A row that changes meanwhile is left. */
export async function deleteInBatches(
  db: Database,
  table: PgTable,
  { where, order }: { where: SQL; order: PgColumn },
): Promise<void> {
  for (let removed = AT_ONCE; removed === AT_ONCE;) {
    const { rows } = await db.execute<{ removed: number }>(sql`
      with removed as (
        delete from ${table} where ctid = any(array(select ctid from ${table} where ${where} order by ${order} limit ${AT_ONCE})) returning 1
      )
      select count(*)::int as removed from removed`)
    removed = rows[0]?.removed ?? 0
  }
}
