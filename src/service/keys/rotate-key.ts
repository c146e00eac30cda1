import { eq } from 'drizzle-orm'
import { ProblemError } from '#contract/problem.ts'
import type { Database } from '#postgres/open.ts'
import { account, apiKey } from '../db/schema/access.ts'
import { createKey } from './create-key.ts'
import { lowerPlan } from './compare-plans.ts'

export type Rotation = { id: string; graceSeconds: number; now: Date }

/**
 * Makes a key's successor, with the same name, scopes, quota and expiry: a rotation prolongs nothing. The old key ends with the grace,
 * or at its own expiry if that is sooner. Runs in a transaction of the caller's.
 * @throws `NOT_FOUND`, `INVALID_PARAMETERS` for a key that ended or was rotated before
 */
export async function rotateKey(
  tx: Database,
  { id, graceSeconds, now }: Rotation,
): Promise<{ id: string; key: string; graceEndsAt: Date }> {
  // Held until the end of the transaction: of two rotations at once the second one finds a successor.
  const [old] = await tx.select().from(apiKey).where(eq(apiKey.id, id)).for('update')
  if (!old) throw new ProblemError('NOT_FOUND', { message: `There is no key ${id}.` })
  if (old.replacedBy !== null)
    throw cannotRotate(`was rotated before; its successor is ${old.replacedBy}`)
  if (old.revokedAt || (old.expiresAt && old.expiresAt <= now))
    throw cannotRotate(old.revokedAt ? 'is deleted' : 'is expired')
  const [owner] = await tx
    .select({ plan: account.plan })
    .from(account)
    .where(eq(account.id, old.accountId))

  const successor = await createKey(tx, {
    accountId: old.accountId,
    name: old.name,
    scopes: old.scopes,
    plan: owner ? lowerPlan(old.plan, owner.plan) : old.plan,
    environment: old.hint.startsWith('pk_test_') ? 'test' : 'live',
    expiresAt: old.expiresAt ?? undefined,
    requestsPerMinute: old.requestsPerMinute ?? undefined,
    replaces: true,
    now,
  })
  const graceEnd = new Date(now.getTime() + graceSeconds * 1000)
  const graceEndsAt = old.expiresAt && old.expiresAt < graceEnd ? old.expiresAt : graceEnd
  await tx
    .update(apiKey)
    .set({ replacedBy: successor.id, expiresAt: graceEndsAt })
    .where(eq(apiKey.id, id))
  return { ...successor, graceEndsAt }

  function cannotRotate(why: string): ProblemError {
    return new ProblemError('INVALID_PARAMETERS', {
      message: `The key ${id} ${why}.`,
      details: { id: 'Expected a valid key that was not rotated yet.' },
    })
  }
}
