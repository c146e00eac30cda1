import { and, eq, gt, inArray, isNull, lt, or, sql } from 'drizzle-orm'
import type { Database } from '#postgres/open.ts'
import { account, apiKey, socket } from '../db/schema/access.ts'

/** A process that died gives its connections back after this long; one that lives extends them every `BEAT_MS`. */
const SOCKET_LEASE_SECONDS = 5
export const SOCKET_RENEWAL_MS = 1_500

const leaseUntil = () => sql`now() + make_interval(secs => ${SOCKET_LEASE_SECONDS})`

/** Counts a connection against its key's limit, over all processes; false when the limit is reached. */
export async function takeSocket(
  db: Database,
  { id, keyId, most }: { id: string; keyId: string; most: number },
): Promise<boolean> {
  return await db.transaction(async (tx) => {
    // One key's connections are counted one after the other.
    await tx.execute(sql`select pg_advisory_xact_lock(hashtextextended(${keyId}, 4020003))`)
    await tx.delete(socket).where(and(eq(socket.keyId, keyId), lt(socket.leaseUntil, sql`now()`)))
    if ((await tx.$count(socket, eq(socket.keyId, keyId))) >= most) return false
    await tx.insert(socket).values({ id, keyId, leaseUntil: leaseUntil() })
    return true
  })
}

/** Extends connections: the process that holds them lives. */
export async function renewSockets(db: Database, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  await db
    .update(socket)
    .set({ leaseUntil: leaseUntil() })
    .where(inArray(socket.id, [...ids]))
}

/** Extends the connections whose key is still valid, and tells of each whether it may read payments by now; the others are to be closed. */
export async function extendSockets(
  db: Database,
  ids: readonly string[],
  now: Date,
): Promise<Map<string, boolean>> {
  if (ids.length === 0) return new Map()
  const rows = await db
    .update(socket)
    .set({ leaseUntil: leaseUntil() })
    .from(apiKey)
    .innerJoin(account, eq(account.id, apiKey.accountId))
    .where(
      and(
        inArray(socket.id, [...ids]),
        eq(apiKey.id, socket.keyId),
        isNull(apiKey.revokedAt),
        or(isNull(apiKey.expiresAt), gt(apiKey.expiresAt, now)),
      ),
    )
    .returning({ id: socket.id, scopes: apiKey.scopes, permitted: account.scopes })
  return new Map(
    rows.map(({ id, scopes, permitted }) => [
      id,
      scopes.includes('payment:read') && (permitted?.includes('payment:read') ?? true),
    ]),
  )
}

export async function releaseSocket(db: Database, id: string): Promise<void> {
  await db.delete(socket).where(eq(socket.id, id))
}
