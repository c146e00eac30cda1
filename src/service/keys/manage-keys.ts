import { eq, and, isNull, asc } from 'drizzle-orm'
import { PLANS, type ApiKeyRow } from '#contract/api-key-body.ts'
import type { EndpointReply, EndpointInput } from '#contract/endpoints.ts'
import { ProblemError } from '#contract/problem.ts'
import type { Database } from '#postgres/open.ts'
import type { Actor, Context } from '../context/context.ts'
import { lockAccount } from '../db/lease.ts'
import { account, apiKey } from '../db/schema/access.ts'
import { announceKeyChange, lowerPlan } from './accounts.ts'
import { requireGrant } from './authenticate.ts'
import { createKey } from './create-key.ts'

export type Rotation = {
  id: string
  graceSeconds: number
  /** As of a new key. */
  requestedBy?: string
  /** As of a new key. */
  now: () => Date
}

/**
 * Makes a key's successor, with the same name, scopes, quota and expiry: a rotation prolongs nothing. The old key ends with the grace,
 * or at its own expiry if that is sooner. Runs in a transaction of the caller's, who announces the change after it.
 * @throws `NOT_FOUND`, `UNAUTHORIZED` where the asking key has ended, `INVALID_PARAMETERS` for a key that ended or was rotated before
 */
export async function rotateKey(
  tx: Database,
  { id, graceSeconds, requestedBy, now }: Rotation,
): Promise<{ id: string; key: string; accountId: string; graceEndsAt: Date }> {
  const [known] = await tx
    .select({ accountId: apiKey.accountId })
    .from(apiKey)
    .where(eq(apiKey.id, id))
  // The account before its keys, so that two that rotate each other's key do not wait for each other.
  const owner = known && (await lockAccount(tx, known.accountId))
  // Held until the end of the transaction: of two rotations at once the second one finds a successor.
  const [old] = await tx.select().from(apiKey).where(eq(apiKey.id, id)).for('update')
  if (!owner || !old) throw new ProblemError('NOT_FOUND', { message: `There is no key ${id}.` })
  if (old.replacedBy !== null)
    throw cannotRotate(`was rotated before; its successor is ${old.replacedBy}`)
  if (old.revokedAt || (old.expiresAt && old.expiresAt <= now()))
    throw cannotRotate(old.revokedAt ? 'is deleted' : 'is expired')

  const successor = await createKey(tx, {
    accountId: old.accountId,
    name: old.name,
    scopes: old.scopes,
    plan: lowerPlan(old.plan, owner.plan),
    environment: old.hint.startsWith('pk_test_') ? 'test' : 'live',
    expiresAt: old.expiresAt ?? undefined,
    requestsPerMinute: old.requestsPerMinute ?? undefined,
    requestedBy,
    replaces: true,
    now,
  })
  const graceEnd = new Date(now().getTime() + graceSeconds * 1000)
  const graceEndsAt = old.expiresAt && old.expiresAt < graceEnd ? old.expiresAt : graceEnd
  await tx
    .update(apiKey)
    .set({ replacedBy: successor.id, expiresAt: graceEndsAt })
    .where(eq(apiKey.id, id))
  return { ...successor, accountId: old.accountId, graceEndsAt }

  function cannotRotate(why: string): ProblemError {
    return new ProblemError('INVALID_PARAMETERS', {
      message: `The key ${id} ${why}.`,
      details: { id: 'Expected a valid key that was not rotated yet.' },
    })
  }
}

/**
 * Ends a key of the account on behalf of another one. Deleting twice is no error.
 * @throws `FORBIDDEN` for the asking key itself, `NOT_FOUND`
 */
export async function deleteKey(
  context: Context,
  actor: Actor,
  id: string,
): Promise<EndpointReply<'apiKeyDelete'>> {
  if (id === actor.keyId) {
    throw new ProblemError('FORBIDDEN', {
      message: 'A key cannot delete itself. Delete it with another key, or rotate it.',
      details: { id },
    })
  }
  await readKey(context, actor, id)
  await revokeKey(context.db, id, context.now())
  context.callers.forget(actor.accountId)
  return { success: true, ...(await readKey(context, actor, id)) }
}

/**
 * Rotates a key of the account on behalf of a key, which may be the same one. The answer shows a key with the scopes, the end and the quota of the old one,
 * so it takes a key that has as much.
 * @throws `NOT_FOUND`, `UNAUTHORIZED` where the asking key has ended, `FORBIDDEN`, `INVALID_PARAMETERS`
 */
export async function replaceKey(
  context: Context,
  actor: Actor,
  input: EndpointInput<'apiKeyRotate'>,
): Promise<EndpointReply<'apiKeyRotate'>> {
  const { id } = input.params
  const keys = await listKeys(context.db, actor.accountId)
  const old = pickKey(keys, id)
  const own = pickOwnKey(keys, actor, context.now())
  requireGrant(actor, old.scopes)
  requireEnd(own, old.expiresAt)
  requireQuota(own, old)
  const rotation = {
    id,
    graceSeconds: input.body.graceSeconds,
    requestedBy: actor.keyId,
    now: context.now,
  }
  const made = await context.db.transaction((tx) => rotateKey(tx, rotation))
  context.callers.forget(actor.accountId)
  await announceKeyChange(context.db, actor.accountId)
  return {
    success: true,
    key: made.key,
    ...(await readKey(context, actor, made.id)),
    graceEndsAt: made.graceEndsAt.getTime(),
  }
}

/**
 * Ends a key: other processes refuse it once they are notified, after `TRUSTED_MS` at the latest; its open connections close within seconds.
 * Revoking twice is no error.
 * @throws `NOT_FOUND`
 */
export async function revokeKey(db: Database, id: string, now: Date): Promise<void> {
  await db
    .update(apiKey)
    .set({ revokedAt: now })
    .where(and(eq(apiKey.id, id), isNull(apiKey.revokedAt)))
  const [row] = await db
    .select({ accountId: apiKey.accountId })
    .from(apiKey)
    .where(eq(apiKey.id, id))
  if (!row) throw new ProblemError('NOT_FOUND', { message: `There is no key ${id}.` })
  await announceKeyChange(db, row.accountId)
}

/**
 * Makes a key on behalf of another one, which cannot give away more than it has.
 * @throws `UNAUTHORIZED` where the actor's key has ended, `FORBIDDEN` for a scope that the actor lacks, an end after its own or a plan above the account's, `INVALID_PARAMETERS` for an expiry that is past
 */
export async function grantKey(
  context: Context,
  actor: Actor,
  input: EndpointInput<'apiKeyCreate'>['body'],
): Promise<EndpointReply<'apiKeyCreate'>> {
  requireGrant(actor, input.scopes)
  const { expiresAt, ...rest } = input
  if (expiresAt !== undefined && expiresAt <= context.now().getTime()) {
    throw new ProblemError('INVALID_PARAMETERS', {
      details: { expiresAt: 'Expected a time to come, in Unix milliseconds.' },
    })
  }
  const expiry = expiresAt === undefined ? undefined : new Date(expiresAt)
  const keys = await listKeys(context.db, actor.accountId)
  const own = pickOwnKey(keys, actor, context.now())
  requireEnd(own, expiry ?? null)
  const { id, key } = await createKey(context.db, {
    accountId: actor.accountId,
    ...rest,
    expiresAt: expiry,
    requestsPerMinute: quotaBelow(PLANS[rest.plan].requestsPerMinute, own),
    requestedBy: actor.keyId,
    now: context.now,
  })
  return { success: true, key, ...(await readKey(context, actor, id)) }
}

/**
 * A key that ends makes none that ends later.
 * @throws `FORBIDDEN` that names the field
 */
function requireEnd(own: KeyRow, expiresAt: Date | null): void {
  if (!own.expiresAt || (expiresAt && expiresAt <= own.expiresAt)) return
  const most = own.expiresAt
  throw new ProblemError('FORBIDDEN', {
    message: `This API key ends at ${most.toISOString()}. It cannot make a key that ends later, or never.`,
    details: {
      expiresAt: `Expected at most ${most.getTime()}, when this API key ends; received ${expiresAt?.getTime() ?? 'none'}.`,
    },
  })
}

/** The quota that the operator gave this key, where it is below the other one. */
function quotaBelow(perMinute: number, { requestsPerMinute }: KeyRow): number | undefined {
  return requestsPerMinute !== null && requestsPerMinute < perMinute ? requestsPerMinute : undefined
}

/** @throws `FORBIDDEN` for a key with a higher quota than the one that the operator gave the asking key */
function requireQuota(own: KeyRow, other: KeyRow): void {
  const perMinute = other.requestsPerMinute ?? PLANS[other.plan].requestsPerMinute
  const most = quotaBelow(perMinute, own)
  if (most === undefined) return
  throw new ProblemError('FORBIDDEN', {
    message: `This API key has ${most} requests a minute. It cannot replace a key that has ${perMinute}.`,
    details: {
      id: `Expected a key with at most ${most} requests a minute; received ${perMinute}.`,
    },
  })
}

/** The account's keys, oldest first, those that ended included. */
export async function readKeys({ db, now }: Context, actor: Actor): Promise<ApiKeyRow[]> {
  const keys = await listKeys(db, actor.accountId)
  return keys.map((key) => describeKey(key, keys, now()))
}

/**
 * One of the account's keys.
 * @throws `NOT_FOUND` for an unknown key and for another account's
 */
async function readKey(context: Context, actor: Actor, id: string): Promise<ApiKeyRow> {
  const keys = await listKeys(context.db, actor.accountId)
  return describeKey(pickKey(keys, id), keys, context.now())
}

/** @throws `NOT_FOUND` */
function pickKey(keys: readonly KeyRow[], id: string): KeyRow {
  const key = keys.find((own) => own.id === id)
  if (!key) throw new ProblemError('NOT_FOUND', { message: `There is no key ${id}.` })
  return key
}

/**
 * The key that asks. It may have ended since the request was let in.
 * @throws `UNAUTHORIZED`
 */
function pickOwnKey(keys: readonly KeyRow[], { keyId }: Actor, now: Date): KeyRow {
  const own = keys.find((key) => key.id === keyId)
  if (!own || own.revokedAt || (own.expiresAt && own.expiresAt <= now))
    throw new ProblemError('UNAUTHORIZED')
  return own
}

/** A key as the API tells of it. `keys` are those of its account, among which its predecessor is found. */
function describeKey(key: KeyRow, keys: readonly KeyRow[], now: Date): ApiKeyRow {
  const expired = key.expiresAt !== null && key.expiresAt <= now
  return {
    id: key.id,
    name: key.name,
    hint: key.hint,
    scopes: key.scopes,
    plan: key.plan,
    createdAt: key.createdAt.getTime(),
    lastUsedAt: key.lastUsedAt?.getTime() ?? null,
    expiresAt: key.expiresAt?.getTime() ?? null,
    status: key.revokedAt ? 'deleted' : expired ? 'expired' : 'active',
    rotation: {
      replaces: keys.find((other) => other.replacedBy === key.id)?.id ?? null,
      replacedBy: key.replacedBy,
    },
  }
}

/** The keys of an account, or of all, oldest first; of the key itself only the hint. */
export async function listKeys(db: Database, accountId?: string) {
  return await db
    .select({
      id: apiKey.id,
      accountId: apiKey.accountId,
      accountName: account.name,
      name: apiKey.name,
      hint: apiKey.hint,
      scopes: apiKey.scopes,
      plan: apiKey.plan,
      createdAt: apiKey.createdAt,
      lastUsedAt: apiKey.lastUsedAt,
      expiresAt: apiKey.expiresAt,
      revokedAt: apiKey.revokedAt,
      replacedBy: apiKey.replacedBy,
      requestsPerMinute: apiKey.requestsPerMinute,
    })
    .from(apiKey)
    .innerJoin(account, eq(account.id, apiKey.accountId))
    .where(accountId === undefined ? undefined : eq(apiKey.accountId, accountId))
    .orderBy(asc(apiKey.createdAt), asc(apiKey.id))
}

export type KeyRow = Awaited<ReturnType<typeof listKeys>>[number]
