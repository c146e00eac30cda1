import { eq, sql, isNull } from 'drizzle-orm'
import { keccak256, stringToBytes, type Hex } from 'viem'
import type { NetworkId } from '#contract/network.ts'
import type { Database } from '#postgres/open.ts'
import { idempotency, socket } from './schema/access.ts'
import { deployment, networkAffirmation, postgresTimeline } from './schema/wallet.ts'
import { chainCursor, eventNumbering } from './schema/payment.ts'
import { claim } from './schema/proof.ts'

/** `epoch`: how often the database was restored; `restoredAt`: when it was last. */
export type Deployment = { name: Hex; epoch: number; restoredAt: Date | null }
export type NetworkAffirmation = typeof networkAffirmation.$inferSelect

const known = new WeakMap<Database, Promise<Deployment>>()

/** 32 bytes that name this deployment in what payers sign; the same for every process on its database. */
export async function readDeployment(db: Database): Promise<Hex> {
  return (await readOnce(db)).name
}

/** The last restore. A restore needs every service stopped, so a process reads it once. */
export async function readRestore(db: Database): Promise<Pick<Deployment, 'epoch' | 'restoredAt'>> {
  return readOnce(db)
}

/** How often the database was restored, as above. */
export async function readEpoch(db: Database): Promise<number> {
  return (await readOnce(db)).epoch
}

function readOnce(db: Database): Promise<Deployment> {
  const read = known.get(db) ?? readRow(db)
  known.set(db, read)
  read.catch(() => known.delete(db))
  return read
}

async function readRow(db: Database): Promise<Deployment> {
  const [row] = await db.select().from(deployment)
  if (!row) throw new Error('The database has no deployment: its migrations have not run.')
  const { id, epoch, restoredAt } = row
  return { name: keccak256(stringToBytes(id)), epoch, restoredAt }
}

/**
 * Begins a new epoch: nothing is sent and nothing is granted until each network and wallet was
 * compared with its chain. Events go on above every number that the backup has forgotten: readers
 * and receivers of webhooks know those numbers, and would drop another event that has one. The
 * clock's milliseconds are above them all, however often one backup is restored. The server of the next start is taken as it is.
 * @returns the epoch
 */
export async function startEpoch(db: Database): Promise<number> {
  return db.transaction(async (tx) => {
    const [row] = await tx
      .update(deployment)
      .set({ epoch: sql`${deployment.epoch} + 1`, restoredAt: sql`clock_timestamp()` })
      .returning({ epoch: deployment.epoch })
    if (!row) throw new Error('The database has no deployment: its migrations have not run.')
    await tx.update(eventNumbering).set({
      last: sql`greatest(${eventNumbering.last}, (extract(epoch from clock_timestamp()) * 1000)::bigint)`,
    })
    await tx.delete(postgresTimeline)
    return row.epoch
  })
}

/** What is known of a network in an epoch. `blockHeight`: the height now, kept if it began before. */
export async function beginAffirmation(
  db: Database,
  begun: { network: NetworkId; epoch: number; blockHeight: number },
): Promise<NetworkAffirmation | undefined> {
  const { network, epoch, blockHeight } = begun
  const first = { network, epoch, begunAtHeight: blockHeight, affirmedHeight: null }
  await db
    .insert(networkAffirmation)
    .values(first)
    .onConflictDoUpdate({
      target: networkAffirmation.network,
      set: first,
      setWhere: sql`${networkAffirmation.epoch} <> excluded.epoch`,
    })
  return findAffirmation(db, network)
}

export async function findAffirmation(
  db: Database,
  network: NetworkId,
): Promise<NetworkAffirmation | undefined> {
  const [row] = await db
    .select()
    .from(networkAffirmation)
    .where(eq(networkAffirmation.network, network))
  return row
}

/** Lets a network grant again. */
export async function affirmNetworkAt(
  db: Database,
  { network, epoch, height }: { network: NetworkId; epoch: number; height: number },
): Promise<void> {
  await db
    .update(networkAffirmation)
    .set({ affirmedHeight: height })
    .where(
      sql`${networkAffirmation.network} = ${network} and ${networkAffirmation.epoch} = ${epoch} and ${networkAffirmation.affirmedHeight} is null`,
    )
}

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
