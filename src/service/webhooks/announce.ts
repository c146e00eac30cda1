import { sql } from 'drizzle-orm'
import type { Database } from '#postgres/open.ts'

/** NOTIFY on this channel means: endpoints changed, or have something to send. Rows are the truth. */
export const WEBHOOK_CHANNEL = 'service_webhook'

/** Call it after the change is committed. */
export async function announceWebhooks(db: Database): Promise<void> {
  await db.execute(sql`select pg_notify(${WEBHOOK_CHANNEL}, '')`)
}
