import { and, count, eq, isNotNull, isNull, or, sql, asc } from 'drizzle-orm'
import * as v from 'valibot'
import type { Family } from '#contract/address.ts'
import type { NetworkId } from '#contract/network.ts'
import type { Database } from '#postgres/open.ts'
import type { NonceQueue } from './nonce-queue.ts'
import { deployment, walletLedger, wallet } from './schema/wallet.ts'

/** A wallet that was not compared with its chain for so long is an operator's matter. */
export const UNCHECKED_MS = 1_800_000

export type LedgerRecord = typeof walletLedger.$inferSelect
/** A snapshot of the ledger: what the chain held at a height, and what had been received up to there. */
export type LedgerSnapshot = {
  height: number
  blockHash: string | null
  balance: bigint
  nonce: number | null
  received: bigint
}

/**
 * Wallets to check: those never checked, those with a change since the last check, and all others
 * every `everyMs`.
 */
export async function readDue(
  db: Database,
  { network, family, everyMs }: { network: NetworkId; family: Family; everyMs: number },
): Promise<string[]> {
  const { rows } = await db.execute<{ address: string }>(sql`
    select w.address from service.wallet w
    left join service.wallet_ledger b on b.network = ${network} and b.address = w.address
    where w.family = ${family} and (
      b.checked_at is null
      or b.checked_at < clock_timestamp() - make_interval(secs => ${everyMs / 1000})
      or exists (select from service.payment p where p.network = ${network} and p.sender = w.address and p.mode = 'hosted' and p.updated_at > b.checked_at)
      or exists (select from service.attempt a where a.network = ${network} and a.signer = w.address and a.broadcast_at > b.checked_at))
    order by b.checked_at nulls first, w.address`)
  return rows.map(({ address }) => address)
}

export async function readWalletLedger(
  db: Database,
  { network, sender }: NonceQueue,
): Promise<LedgerRecord | undefined> {
  const [row] = await db
    .select()
    .from(walletLedger)
    .where(and(eq(walletLedger.network, network), eq(walletLedger.address, sender)))
  return row
}

/** Whether a wallet may send; in one query, since it is asked while the nonce queue is locked. */
export async function readSendingState(
  db: Database,
  { network, sender }: NonceQueue,
): Promise<{ stoppedAt: Date | null; affirmed: boolean }> {
  const ofWallet = and(eq(walletLedger.network, network), eq(walletLedger.address, sender))
  const [row] = await db
    .select({
      epoch: deployment.epoch,
      stoppedAt: walletLedger.stoppedAt,
      affirmedEpoch: walletLedger.affirmedEpoch,
    })
    .from(deployment)
    .leftJoin(walletLedger, ofWallet)
  if (!row) throw new Error('The database has no deployment: its migrations have not run.')
  return { stoppedAt: row.stoppedAt, affirmed: (row.affirmedEpoch ?? 0) >= row.epoch }
}

/** Wallets of a family that were not compared with their chain since the last restore, and are not stopped. */
export async function readUnaffirmed(
  db: Database,
  { network, family, epoch }: { network: NetworkId; family: Family; epoch: number },
): Promise<string[]> {
  const { rows } = await db.execute<{ address: string }>(sql`
    select w.address from service.wallet w
    left join service.wallet_ledger b on b.network = ${network} and b.address = w.address
    where w.family = ${family} and coalesce(b.affirmed_epoch, 0) < ${epoch} and b.stopped_at is null
    order by w.address`)
  return rows.map(({ address }) => address)
}

/** Lets a wallet send in an epoch: everything it has signed is in the rows. */
export async function affirmWallet(
  db: Database,
  { network, sender }: NonceQueue,
  epoch: number,
): Promise<void> {
  await db
    .insert(walletLedger)
    .values({ ...unopened({ network, sender }), affirmedEpoch: epoch })
    .onConflictDoUpdate({
      target: [walletLedger.network, walletLedger.address],
      set: { affirmedEpoch: epoch },
      setWhere: isNull(walletLedger.stoppedAt),
    })
}

/** Stops a wallet over transactions that no row explains, until an operator has decided over each. */
export async function stopUnaccounted(
  db: Database,
  { network, sender }: NonceQueue,
  { stopReason, unaccounted }: { stopReason: string; unaccounted: readonly string[] },
): Promise<void> {
  const stop = {
    stoppedAt: sql`clock_timestamp()`,
    stopReason,
    unaccounted: JSON.stringify(unaccounted),
  }
  await db
    .insert(walletLedger)
    .values({ ...unopened({ network, sender }), ...stop })
    .onConflictDoUpdate({
      target: [walletLedger.network, walletLedger.address],
      set: stop,
      setWhere: isNull(walletLedger.stoppedAt),
    })
}

/** A ledger that the next reconciliation opens. */
function unopened({ network, sender }: NonceQueue) {
  return { network, address: sender, received: 0n, checkedAt: sql`clock_timestamp()` }
}

/** Opens the ledger with what the chain holds now. */
export async function openWalletLedger(
  db: Database,
  { network, sender }: NonceQueue,
  page: LedgerSnapshot,
): Promise<void> {
  const row = { network, address: sender, ...page, checkedAt: sql`clock_timestamp()` }
  await db
    .insert(walletLedger)
    .values(row)
    .onConflictDoUpdate({
      target: [walletLedger.network, walletLedger.address],
      set: row,
      setWhere: isNull(walletLedger.height),
    })
}

/** Advances the ledger to this page, unless another process has done so since. */
export async function writeSnapshot(
  db: Database,
  { network, address, height }: LedgerRecord,
  page: LedgerSnapshot,
): Promise<void> {
  await db
    .update(walletLedger)
    .set({ ...page, checkedAt: sql`clock_timestamp()` })
    .where(
      and(
        eq(walletLedger.network, network),
        eq(walletLedger.address, address),
        height === null ? isNull(walletLedger.height) : eq(walletLedger.height, height),
      ),
    )
}

/**
 * Stops sending from a wallet; true for the first call that stops it. The page does not change, for
 * the operator to compare.
 */
export async function stopWallet(
  db: Database,
  { network, sender }: NonceQueue,
  stopReason: string,
): Promise<boolean> {
  const stopped = await db
    .update(walletLedger)
    .set({ stoppedAt: sql`clock_timestamp()`, stopReason, checkedAt: sql`clock_timestamp()` })
    .where(
      and(
        eq(walletLedger.network, network),
        eq(walletLedger.address, sender),
        isNull(walletLedger.stoppedAt),
      ),
    )
    .returning({ address: walletLedger.address })
  return stopped.length > 0
}

/**
 * Lets a wallet send again, everywhere it was stopped; the next check opens its ledger again. `unchecked`: also where it could not be compared with its chain
 * for `UNCHECKED_MS`.
 */
export async function resumeWallet(
  db: Database,
  address: string,
  { unchecked = false } = {},
): Promise<LedgerRecord[]> {
  const longAgo = sql`${walletLedger.checkedAt} < clock_timestamp() - make_interval(secs => ${UNCHECKED_MS / 1000})`
  const stopped = isNotNull(walletLedger.stoppedAt)
  return db
    .update(walletLedger)
    .set({
      stoppedAt: null,
      stopReason: null,
      height: null,
      blockHash: null,
      balance: null,
      nonce: null,
      received: 0n,
      affirmedEpoch: sql`case when ${walletLedger.unaccounted} is null then ${walletLedger.affirmedEpoch} else (select epoch from ${deployment}) end`,
      unaccounted: null,
      accepted: sql`case when ${walletLedger.unaccounted} is null then ${walletLedger.accepted}
        else (coalesce(${walletLedger.accepted}, '[]')::jsonb || ${walletLedger.unaccounted}::jsonb)::text end`,
    })
    .where(and(eq(walletLedger.address, address), unchecked ? or(stopped, longAgo) : stopped))
    .returning()
}

/** The stopped wallets of all accounts. */
export async function readStopped(db: Database): Promise<LedgerRecord[]> {
  return db.select().from(walletLedger).where(isNotNull(walletLedger.stoppedAt))
}

/** The nonces or signatures of a stopped wallet that an operator has to decide over. */
export function readUnaccounted({ unaccounted }: LedgerRecord): string[] {
  return unaccounted === null ? [] : v.parse(v.array(v.string()), JSON.parse(unaccounted))
}

export async function countStopped(db: Database): Promise<number> {
  const [row] = await db
    .select({ count: count() })
    .from(walletLedger)
    .where(isNotNull(walletLedger.stoppedAt))
  return row?.count ?? 0
}

/** Wallets, not stopped, that nobody could compare with the chain of a network for so long. */
export async function countUnchecked(
  db: Database,
  { network, family, forMs }: { network: NetworkId; family: Family; forMs: number },
): Promise<number> {
  const { rows } = await db.execute<{ count: number }>(sql`
    select count(*)::int as count from service.wallet w
    left join service.wallet_ledger b on b.network = ${network} and b.address = w.address
    where w.family = ${family} and b.stopped_at is null
      and coalesce(b.checked_at, w.created_at) < clock_timestamp() - make_interval(secs => ${forMs / 1000})`)
  return rows[0]?.count ?? 0
}

export type WalletRecord = typeof wallet.$inferSelect

/** False when the address is managed already. */
export async function insertWallet(
  db: Database,
  row: typeof wallet.$inferInsert,
): Promise<boolean> {
  const inserted = await db
    .insert(wallet)
    .values(row)
    .onConflictDoNothing({ target: wallet.address })
    .returning({ id: wallet.id })
  return inserted.length > 0
}

export async function findWallet(
  db: Database,
  query: { accountId: string; address: string },
): Promise<WalletRecord | undefined> {
  const [row] = await db
    .select()
    .from(wallet)
    .where(and(eq(wallet.accountId, query.accountId), eq(wallet.address, query.address)))
  return row
}

/** Of whichever account: an address is managed once. */
export async function findWalletByAddress(
  db: Database,
  address: string,
): Promise<WalletRecord | undefined> {
  const [row] = await db.select().from(wallet).where(eq(wallet.address, address))
  return row
}

/** Of one account or of all, the oldest first. */
export async function readWallets(
  db: Database,
  accountId: string | undefined,
): Promise<WalletRecord[]> {
  return db
    .select()
    .from(wallet)
    .where(accountId === undefined ? undefined : eq(wallet.accountId, accountId))
    .orderBy(asc(wallet.createdAt), asc(wallet.id))
}
