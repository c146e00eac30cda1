import { sql } from 'drizzle-orm'
import { createHash } from 'node:crypto'
import { LosslessNumber, stringifyJson } from '#contract/json.ts'
import { ProblemError } from '#contract/problem.ts'
import type { Database } from '#postgres/open.ts'
import { whileBeating, LEASE_S } from '../db/lease.ts'

type IdempotencyKey = { accountId: string; key: string; fingerprint: string }

/**
 * `attempt` is when this attempt took the key; only its holder may extend, store or release. `again`: an
 * earlier attempt had it, and may have begun something.
 */
type Attempt = IdempotencyKey & { attempt: string; again: boolean }

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
  const { rows } = await db.execute<{ attempt: string; again: boolean }>(sql`
    insert into service.idempotency as held (account_id, key, fingerprint, lease_until) values (${accountId}, ${key}, ${fingerprint}, ${lease})
    on conflict (account_id, key) do update
      set fingerprint = excluded.fingerprint, status = null, body = null, lease_until = excluded.lease_until, created_at = now()
      where ${old} or (${dead})
    returning created_at::text as attempt, xmax <> 0 as again`)
  if (rows[0]) return { claimed: true, attempt: { ...request, ...rows[0] } }

  const stored = await db.execute<{
    fingerprint: string
    status: number | null
    body: string | null
  }>(
    sql`select fingerprint, status, body from service.idempotency where account_id = ${accountId} and key = ${key}`,
  )
  const [row] = stored.rows
  if (row && row.fingerprint !== fingerprint) throw new ProblemError('IDEMPOTENCY_CONFLICT')
  if (!row || row.status === null || row.body === null)
    throw new ProblemError('IDEMPOTENCY_IN_PROGRESS', { retryAfter: 1 })
  return { claimed: false, status: row.status, body: row.body }
}

/**
 * `keep`: a later request under the same key gets this answer too. False where a retry may do
 * better (5xx, 429, a balance that can be topped up); `begun` says whether something may be under way
 * then (202, 5xx), so that no other request may have the key. `replacement`: what a later request
 * gets instead of an answer that must not be stored.
 */
export type StoredOutcome = {
  status: number
  body: string
  keep: boolean
  begun: boolean
  replacement?: { status: number; body: string }
}

const VISIBLE_ASCII = /^[\x21-\x7e]{1,255}$/

/** @throws `INVALID_PARAMETERS` for a header that no key can have */
export function checkIdempotencyKey(header: string): string {
  if (VISIBLE_ASCII.test(header)) return header
  const expected = 'Expected 1 to 255 visible ASCII characters.'
  throw new ProblemError('INVALID_PARAMETERS', {
    message: `Idempotency-Key: ${expected}`,
    details: { 'Idempotency-Key': expected },
  })
}

/**
 * Runs a request once under its key; a later request gets the stored answer. Its lease is extended
 * while `run` works. A request whose process died, or whose answer is not kept, runs again when it is repeated;
 * another request gets the key only where nothing was begun.
 * @throws `IDEMPOTENCY_CONFLICT`, `IDEMPOTENCY_IN_PROGRESS`, and anything `run` throws
 */
export async function runOnce<T extends StoredOutcome>(
  db: Database,
  key: IdempotencyKey,
  run: () => Promise<T>,
): Promise<T | { status: number; body: string; replayed: true }> {
  const taken = await claim(db, key)
  if (!taken.claimed) return { status: taken.status, body: taken.body, replayed: true }

  const { attempt } = taken
  // If the lease is lost, the request's own next query fails the same way and reports it.
  return whileBeating(
    () => extend(db, attempt),
    async () => {
      try {
        const outcome = await run()
        // The result is returned even when it cannot be stored: the lease ends, and a later request
        // under the key runs again.
        await (
          outcome.keep
            ? store(db, attempt, outcome.replacement ?? outcome)
            : outcome.begun || attempt.again
              ? endLease(db, attempt)
              : release(db, attempt)
        ).catch(() => {})
        return outcome
      } catch (error) {
        await (attempt.again ? endLease(db, attempt) : release(db, attempt)).catch(() => {})
        throw error
      }
    },
  )
}

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

/** Lets the same request run again, and no other one: what it began may still be executed. */
async function endLease(db: Database, attempt: Attempt): Promise<void> {
  await db.execute(
    sql`update service.idempotency set lease_until = created_at where ${mine(attempt)}`,
  )
}

/** Says that the request still runs. */
async function extend(db: Database, attempt: Attempt): Promise<void> {
  await db.execute(
    sql`update service.idempotency set lease_until = now() + make_interval(secs => ${LEASE_S}) where ${mine(attempt)}`,
  )
}

function mine({ accountId, key, attempt }: Attempt) {
  return sql`account_id = ${accountId} and key = ${key} and created_at = ${attempt}::timestamptz and status is null`
}

/** Equal for two requests that ask the same of the same endpoint: the order of an object's fields does not count, the digits of a number do. */
export function fingerprint(endpoint: string, body: unknown): string {
  return createHash('sha256')
    .update(`${endpoint}\n${stringifyJson(sorted(body))}`)
    .digest('hex')
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null || value instanceof LosslessNumber) return value
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, entry]) => [key, sorted(entry)]),
  )
}
