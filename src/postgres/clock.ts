import { sql } from 'drizzle-orm'
import type { Database } from './open.ts'

/** The clock that all processes share. */
export async function readDatabaseClock(db: Database): Promise<Date> {
  const { rows } = await db.execute<{ ms: string }>(
    sql`select (extract(epoch from clock_timestamp()) * 1000)::bigint::text as ms`,
  )
  return new Date(Number(rows[0]?.ms))
}
