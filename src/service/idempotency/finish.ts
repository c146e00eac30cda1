import { sql } from 'drizzle-orm'
import type { Database } from '#postgres/open.ts'
import { LEASE_S } from '../db/lease.ts'
import type { Attempt } from './claim.ts'

/** Keeps an answer for every later request under this key. */
export async function store(
  db: Database,
  attempt: Attempt,
  answer: { status: number; body: string },
): Promise<void> {
  await db.execute(
    sql`update service.idempotency set status = ${answer.status}, body = ${answer.body} where ${mine(attempt)}`,
  )
}

/** Gives the key back: the request came to nothing that would be worth repeating. */
export async function release(db: Database, attempt: Attempt): Promise<void> {
  await db.execute(sql`delete from service.idempotency where ${mine(attempt)}`)
}

/** Says that the request still runs. */
export async function extend(db: Database, attempt: Attempt): Promise<void> {
  await db.execute(
    sql`update service.idempotency set lease_until = now() + make_interval(secs => ${LEASE_S}) where ${mine(attempt)}`,
  )
}

function mine({ accountId, key, attempt }: Attempt) {
  return sql`account_id = ${accountId} and key = ${key} and created_at = ${attempt}::timestamptz and status is null`
}
