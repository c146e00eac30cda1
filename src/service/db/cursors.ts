import { and, eq, isNull, lt, or, sql } from 'drizzle-orm'
import type { NetworkId } from '#contract/network.ts'
import type { Database } from '#postgres/open.ts'
import { LEASE_S } from './lease.ts'
import { chainCursor } from './schema/payment.ts'

/**
 * Takes or keeps the right to follow a network; false while another process has it. The database's clock decides.
 * It only saves work: every move is a conditional update, so two processes at once would do no harm.
 */
export async function takeLease(
  db: Database,
  network: NetworkId,
  holder: string,
): Promise<boolean> {
  const leaseUntil = sql`clock_timestamp() + make_interval(secs => ${LEASE_S})`
  const taken = await db
    .insert(chainCursor)
    .values({ network, height: 0, holder, leaseUntil })
    .onConflictDoUpdate({
      target: chainCursor.network,
      set: { holder, leaseUntil },
      setWhere: or(
        eq(chainCursor.holder, holder),
        isNull(chainCursor.leaseUntil),
        lt(chainCursor.leaseUntil, sql`clock_timestamp()`),
      ),
    })
    .returning({ network: chainCursor.network })
  return taken.length > 0
}

export async function releaseLease(
  db: Database,
  network: NetworkId,
  holder: string,
): Promise<void> {
  await db
    .update(chainCursor)
    .set({ holder: null, leaseUntil: null })
    .where(and(eq(chainCursor.network, network), eq(chainCursor.holder, holder)))
}

/** The height up to which a network was read; 0 before the first time. */
export async function readCursor(db: Database, network: NetworkId): Promise<number> {
  const [row] = await db
    .select({ height: chainCursor.height })
    .from(chainCursor)
    .where(eq(chainCursor.network, network))
  return row?.height ?? 0
}

/** Has the blocks above a height read again. */
export async function lowerCursor(tx: Database, network: NetworkId, height: number): Promise<void> {
  await tx
    .update(chainCursor)
    .set({ height: sql`least(${chainCursor.height}, ${Math.max(0, height)}::bigint)` })
    .where(eq(chainCursor.network, network))
}

/** Notes up to where a round has read that began at `from`. Where the cursor moved meanwhile, the next round reads from there. */
export async function writeCursor(
  db: Database,
  network: NetworkId,
  { from, to }: { from: number; to: number },
): Promise<void> {
  await db
    .insert(chainCursor)
    .values({ network, height: to })
    .onConflictDoUpdate({
      target: chainCursor.network,
      set: { height: to },
      setWhere: eq(chainCursor.height, from),
    })
}
