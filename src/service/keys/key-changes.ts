import { sql } from 'drizzle-orm'
import type { Database } from '#postgres/open.ts'

/** NOTIFY on this channel means: the keys or the plan of this account changed. Rows are the truth. */
export const KEY_CHANNEL = 'service_key'

/** Has every process read the keys of an account again. Call it after the change is committed. */
export async function announceKeyChange(db: Database, accountId: string): Promise<void> {
  await db.execute(sql`select pg_notify(${KEY_CHANNEL}, ${accountId})`)
}
