import { sql } from 'drizzle-orm'
import { ProblemError } from '#contract/problem.ts'
import type { Database } from '#postgres/open.ts'
import { whileBeating, LEASE_S } from '../db/lease.ts'
import { claim, type IdempotencyKey, type Attempt } from './claim.ts'

/**
 * `keep`: a later request under the same key gets this answer too. False where a retry may do
 * better (5xx, 429, a balance that can be topped up). `kept`: what it gets instead of an answer
 * that must not be stored.
 */
export type StoredOutcome = {
  status: number
  body: string
  keep: boolean
  kept?: { status: number; body: string }
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
 * while `run` works, so only a request whose process died, or whose answer is not kept, frees the
 * key.
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
          outcome.keep ? store(db, attempt, outcome.kept ?? outcome) : release(db, attempt)
        ).catch(() => {})
        return outcome
      } catch (error) {
        await release(db, attempt).catch(() => {})
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

/** Says that the request still runs. */
async function extend(db: Database, attempt: Attempt): Promise<void> {
  await db.execute(
    sql`update service.idempotency set lease_until = now() + make_interval(secs => ${LEASE_S}) where ${mine(attempt)}`,
  )
}

function mine({ accountId, key, attempt }: Attempt) {
  return sql`account_id = ${accountId} and key = ${key} and created_at = ${attempt}::timestamptz and status is null`
}
