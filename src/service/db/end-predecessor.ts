import { isNull, sql } from 'drizzle-orm'
import type { Database } from '#postgres/open.ts'
import { idempotency, socket } from './schema/access.ts'
import { chainCursor, eventNumbering } from './schema/payment.ts'
import { claim } from './schema/proof.ts'

/**
 * Ends the leases of the process that used this database before. Correct only where one process at
 * a time can open it, as with the embedded engine: then every holder is dead. On a server, leases
 * expire by themselves.
 */
export async function endPredecessor(db: Database): Promise<void> {
  const over = { leaseUntil: sql`now() - interval '1 second'` }
  await db.transaction(async (tx) => {
    await tx.update(chainCursor).set({ holder: null, leaseUntil: null })
    await tx.update(eventNumbering).set({ holder: null, leaseUntil: null })
    await tx.update(idempotency).set(over).where(isNull(idempotency.status))
    await tx.update(claim).set(over).where(isNull(claim.consumedAt))
    await tx.delete(socket)
  })
}
