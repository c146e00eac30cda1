import { and, eq, gt, isNull, or } from 'drizzle-orm'
import {
  MOST_KEYS,
  MOST_KEYS_IN_ROTATION,
  apiKeyHint,
  createApiKey,
  type Plan,
  type Scope,
} from '#contract/api-key-body.ts'
import { createId } from '#contract/payment.ts'
import { ProblemError } from '#contract/problem.ts'
import type { Database } from '#postgres/open.ts'
import { lockAccount } from '../db/lease.ts'
import { apiKey } from '../db/schema/access.ts'
import { isAbove } from './accounts.ts'
import { hashKey } from './authenticate.ts'

export type NewKey = {
  accountId: string
  name: string
  scopes: readonly Scope[]
  plan: Plan
  environment: 'live' | 'test'
  expiresAt?: Date
  /** In place of the plan's quota. */
  requestsPerMinute?: number
  /** The key on whose behalf it is made; none for the operator's own command. */
  requestedBy?: string
  /** Whether it takes the place of another key, which stays valid for a while. */
  replaces?: boolean
  /** Read once the locks are held: of two requests the later one finds what the other has ended. The current time otherwise. */
  now?: () => Date
}

/**
 * Makes an API key. The key itself is returned here and nowhere else: only its hash is kept.
 * The operator's own command is bounded like the API: a key more than an account may have is one that nobody manages.
 * @throws `NOT_FOUND` for an unknown account, `UNAUTHORIZED` where the asking key has ended, `FORBIDDEN` for a plan above the account's and for a key beyond the most that an account has
 */
export async function createKey(db: Database, input: NewKey): Promise<{ id: string; key: string }> {
  return await db.transaction((tx) => insertKey(tx, input))
}

async function insertKey(tx: Database, input: NewKey): Promise<{ id: string; key: string }> {
  const owner = await lockAccount(tx, input.accountId)
  if (input.requestedBy !== undefined) await requireValidKey(tx, input.requestedBy, input.now)
  if (isAbove(input.plan, owner.plan)) {
    throw new ProblemError('FORBIDDEN', {
      message: `The plan of this account is ${owner.plan}; its keys cannot have ${input.plan}.`,
      details: { plan: owner.plan },
    })
  }
  await requireRoom(tx, input)
  const id = createId('key')
  const key = createApiKey(input.environment)
  await tx.insert(apiKey).values({
    id,
    accountId: input.accountId,
    name: input.name,
    hash: hashKey(key),
    hint: apiKeyHint(key),
    scopes: [...new Set(input.scopes)],
    plan: input.plan,
    expiresAt: input.expiresAt,
    requestsPerMinute: input.requestsPerMinute,
  })
  return { id, key }
}

/**
 * A deletion of this key waits for the transaction, so who reads the list of keys after it sees all that the key made.
 * @throws `UNAUTHORIZED`
 */
async function requireValidKey(tx: Database, id: string, now = () => new Date()): Promise<void> {
  const [row] = await tx
    .select({ revokedAt: apiKey.revokedAt, expiresAt: apiKey.expiresAt })
    .from(apiKey)
    .where(eq(apiKey.id, id))
    .for('share')
  if (!row || row.revokedAt || (row.expiresAt && row.expiresAt <= now()))
    throw new ProblemError('UNAUTHORIZED')
}

/**
 * A rotation is never refused because the account has all its keys: the key it replaces leaves the count. Keys in their grace are bounded apart, so
 * that a row of rotations does not make any number of valid keys.
 */
async function requireRoom(
  tx: Database,
  { accountId, replaces = false, now = () => new Date() }: NewKey,
): Promise<void> {
  const valid = and(
    eq(apiKey.accountId, accountId),
    isNull(apiKey.revokedAt),
    or(isNull(apiKey.expiresAt), gt(apiKey.expiresAt, now())),
  )
  const [count, most] = replaces
    ? [await tx.$count(apiKey, valid), MOST_KEYS_IN_ROTATION]
    : [await tx.$count(apiKey, and(valid, isNull(apiKey.replacedBy))), MOST_KEYS]
  if (count < most) return
  const message = replaces
    ? `This account has ${count} valid keys with those whose grace runs. Delete one, or wait for a grace to end.`
    : `This account has ${count} valid keys, the most there can be. Delete one that is no longer used.`
  throw new ProblemError('FORBIDDEN', {
    message,
    details: { keys: `Expected at most ${most} valid keys.` },
  })
}
