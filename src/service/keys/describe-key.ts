import type { ApiKeyRow } from '#contract/api-key-body.ts'
import type { KeyRow } from './list-keys.ts'

/** A key as the API tells of it. `keys` are those of its account, among which its predecessor is found. */
export function describeKey(key: KeyRow, keys: readonly KeyRow[], now: Date): ApiKeyRow {
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
