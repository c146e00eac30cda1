import type { ApiKeyRow } from '#contract/api-key-body.ts'
import { ProblemError } from '#contract/problem.ts'
import type { Actor, Context } from '../context/context.ts'
import { listKeys, type KeyRow } from './list-keys.ts'

/** The account's keys, oldest first, those that ended included. */
export async function readKeys({ db, now }: Context, actor: Actor): Promise<ApiKeyRow[]> {
  const keys = await listKeys(db, actor.accountId)
  return keys.map((key) => describeKey(key, keys, now()))
}

/**
 * One of the account's keys.
 * @throws `NOT_FOUND` for an unknown key and for another account's
 */
export async function readKey(context: Context, actor: Actor, id: string): Promise<ApiKeyRow> {
  const key = (await readKeys(context, actor)).find((own) => own.id === id)
  if (!key) throw new ProblemError('NOT_FOUND', { message: `There is no key ${id}.` })
  return key
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
