import { hash } from 'node:crypto'
import { and, eq, gt, isNull, lt, or, sql } from 'drizzle-orm'
import { PLANS, isApiKey, type Scope } from '#contract/api-key-body.ts'
import { ProblemError } from '#contract/problem.ts'
import type { Database } from '#postgres/open.ts'
import type { Actor, Authenticated } from '../context/context.ts'
import { account, apiKey } from '../db/schema/access.ts'
import { lowerPlan } from './accounts.ts'

/** `last_used_at` is for people: once a minute is fine enough and spares a write with every request. */
const LAST_USED_STEP_MS = 60_000

/** A key that is valid now, and when that ends. */
export type FoundKey = { caller: Authenticated; expiresAt: Date | null }

/**
 * The form in which a key is stored and looked up. The timing of a look-up reveals something about
 * hashes, not about keys, so the comparison need not take constant time.
 */
export function hashKey(key: string): string {
  return hash('sha256', key)
}

/** Whose key this is; undefined when it is malformed, unknown, expired or revoked, and nobody is told which. */
export async function authenticate(
  db: Database,
  key: string,
  now: Date,
): Promise<Authenticated | undefined> {
  return isApiKey(key) ? (await findKey(db, hashKey(key), now))?.caller : undefined
}

/** Reads a key by its hash, and notes that it was used. */
export async function findKey(
  db: Database,
  hash: string,
  now: Date,
): Promise<FoundKey | undefined> {
  const [row] = await db
    .select({
      id: apiKey.id,
      accountId: apiKey.accountId,
      scopes: apiKey.scopes,
      plan: apiKey.plan,
      custom: apiKey.requestsPerMinute,
      lastUsedAt: apiKey.lastUsedAt,
      expiresAt: apiKey.expiresAt,
      accountPlan: account.plan,
      permitted: account.scopes,
      /** The highest quota that the operator gave a valid key of the account. */
      highest: sql<number | null>`(
        select max(sibling.requests_per_minute) from service.api_key as sibling
        where sibling.account_id = ${account.id} and sibling.revoked_at is null and (sibling.expires_at is null or sibling.expires_at > ${now.toISOString()}::timestamptz)
      )`,
    })
    .from(apiKey)
    .innerJoin(account, eq(account.id, apiKey.accountId))
    .where(
      and(
        eq(apiKey.hash, hash),
        isNull(apiKey.revokedAt),
        or(isNull(apiKey.expiresAt), gt(apiKey.expiresAt, now)),
      ),
    )
  if (!row) return undefined
  const step = new Date(now.getTime() - LAST_USED_STEP_MS)
  if (!row.lastUsedAt || row.lastUsedAt < step) {
    await db
      .update(apiKey)
      .set({ lastUsedAt: now })
      .where(and(eq(apiKey.id, row.id), or(isNull(apiKey.lastUsedAt), lt(apiKey.lastUsedAt, step))))
  }
  const plan = lowerPlan(row.plan, row.accountPlan)
  const permits = (scope: Scope) => row.permitted?.includes(scope) ?? true
  const caller = {
    accountId: row.accountId,
    keyId: row.id,
    scopes: new Set(row.scopes.filter(permits)),
    beyondPlan: new Set(row.scopes.filter((scope) => !permits(scope))),
    plan,
    requestsPerMinute: row.custom ?? PLANS[plan].requestsPerMinute,
    accountPerMinute: Math.max(PLANS[row.accountPlan].requestsPerMinute, row.highest ?? 0),
  }
  return { caller, expiresAt: row.expiresAt }
}

/** Why a key may not do what needs this scope: the account's plan does not include it, or the key was not given it. */
export function missingScope(caller: Authenticated, scope: Scope): ProblemError {
  if (caller.beyondPlan.has(scope)) {
    const message = `The plan ${caller.plan} of this account does not include ${scope}.`
    return new ProblemError('FORBIDDEN', { message, details: { scope, plan: caller.plan } })
  }
  return new ProblemError('FORBIDDEN', {
    message: `This API key lacks the scope ${scope}.`,
    details: { scope },
  })
}

/**
 * A key hands out nothing that it does not have itself.
 * @throws `FORBIDDEN` that names the missing scopes
 */
export function requireGrant(actor: Actor, scopes: readonly Scope[]): void {
  const missing = scopes.filter((scope) => !actor.scopes.has(scope))
  if (missing.length === 0) return
  throw new ProblemError('FORBIDDEN', {
    message: `A key cannot grant a scope it lacks: ${missing.join(', ')}.`,
    details: { scopes: missing },
  })
}
