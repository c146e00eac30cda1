import { sql } from 'drizzle-orm'
import { ProblemError } from '#contract/problem.ts'
import type { Database } from '#postgres/open.ts'
import { LEASE_S } from '../db/lease.ts'

export type IdempotencyKey = { accountId: string; key: string; fingerprint: string }

/** `attempt` is when this attempt took the key; only its holder may extend, store or release. */
export type Attempt = IdempotencyKey & { attempt: string }

export type Claim =
  | { claimed: true; attempt: Attempt }
  | { claimed: false; status: number; body: string }

export const RETENTION_DAYS = 30

/**
 * Takes a key for a request, or returns the stored answer of an earlier one. On the database's clock.
 * @throws `IDEMPOTENCY_CONFLICT` when the key was used for another request, `IDEMPOTENCY_IN_PROGRESS` while the first one runs
 */
export async function claim(db: Database, request: IdempotencyKey): Promise<Claim> {
  const { accountId, key, fingerprint } = request
  const lease = sql`now() + make_interval(secs => ${LEASE_S})`
  const old = sql`held.created_at < now() - make_interval(days => ${RETENTION_DAYS})`
  const dead = sql`held.status is null and held.lease_until < now() and held.fingerprint = excluded.fingerprint`
  const { rows } = await db.execute<{ attempt: string }>(sql`
    insert into service.idempotency as held (account_id, key, fingerprint, lease_until) values (${accountId}, ${key}, ${fingerprint}, ${lease})
    on conflict (account_id, key) do update
      set fingerprint = excluded.fingerprint, status = null, body = null, lease_until = excluded.lease_until, created_at = now()
      where ${old} or (${dead})
    returning created_at::text as attempt`)
  if (rows[0]) return { claimed: true, attempt: { ...request, attempt: rows[0].attempt } }

  const held = await db.execute<{
    fingerprint: string
    status: number | null
    body: string | null
  }>(
    sql`select fingerprint, status, body from service.idempotency where account_id = ${accountId} and key = ${key}`,
  )
  const [row] = held.rows
  if (row && row.fingerprint !== fingerprint) throw new ProblemError('IDEMPOTENCY_CONFLICT')
  if (!row || row.status === null || row.body === null)
    throw new ProblemError('IDEMPOTENCY_IN_PROGRESS', { retryAfter: 1 })
  return { claimed: false, status: row.status, body: row.body }
}
