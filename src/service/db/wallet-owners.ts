import { and, asc, eq, inArray, isNull, not, or, sql, type SQL, lte } from 'drizzle-orm'
import { familyOf, type NetworkId } from '#contract/network.ts'
import type { Database } from '#postgres/open.ts'
import { payment } from './schema/payment.ts'
import { claim } from './schema/proof.ts'
import { walletOwner, walletChallenge } from './schema/wallet.ts'

export type WalletOwnerRecord = typeof walletOwner.$inferSelect
export type NewWalletOwner = typeof walletOwner.$inferInsert
/** A wallet where one account owns it: on every chain of a family, or on one chain. */
export type OwnedWallet = { accountId: string; address: string; scope: string }

/** Whether a scope of `wallet_owner` is a family, not one chain. */
export function isFamilyScope(scope: string): boolean {
  return !scope.includes(':')
}

/** The account that owns a wallet on a network now; undefined without one. */
export async function findOwner(
  db: Database,
  network: NetworkId,
  address: string,
): Promise<string | undefined> {
  const rows = await db
    .select({ accountId: walletOwner.accountId, scope: walletOwner.scope })
    .from(walletOwner)
    .where(
      and(
        eq(walletOwner.address, address),
        inArray(walletOwner.scope, [network, familyOf(network)]),
        isNull(walletOwner.releasedAt),
      ),
    )
  return (rows.find(({ scope }) => scope === network) ?? rows[0])?.accountId
}

/** Makes registrations and releases of one address follow each other, until the transaction ends. Taken before `lockDirections`. */
export async function lockAddress(tx: Database, address: string): Promise<void> {
  await tx.execute(
    sql`select pg_advisory_xact_lock(hashtextextended('wallet_owner ' || ${address}, 0))`,
  )
}

/** Every ownership of an address that is not released. */
export async function findOwners(db: Database, address: string): Promise<WalletOwnerRecord[]> {
  return db
    .select()
    .from(walletOwner)
    .where(and(eq(walletOwner.address, address), isNull(walletOwner.releasedAt)))
    .orderBy(asc(walletOwner.scope))
}

/** Every ownership that is not released, of one account or of all, the oldest first. */
export async function readOwners(
  db: Database,
  accountId: string | undefined,
): Promise<WalletOwnerRecord[]> {
  return db
    .select()
    .from(walletOwner)
    .where(
      and(
        isNull(walletOwner.releasedAt),
        accountId === undefined ? undefined : eq(walletOwner.accountId, accountId),
      ),
    )
    .orderBy(asc(walletOwner.createdAt), asc(walletOwner.id))
}

/** Whether an account owns wallets: then a payment to any other one is not its own. */
export function ownsWallets(accountId: string): SQL<boolean> {
  return sql<boolean>`exists (
    select from ${walletOwner} as owned where owned.account_id = ${accountId} and owned.released_at is null
  )`
}

export async function insertOwner(tx: Database, row: NewWalletOwner): Promise<WalletOwnerRecord> {
  const [inserted] = await tx.insert(walletOwner).values(row).returning()
  if (!inserted) throw new Error('An insert returned no row.')
  return inserted
}

/** The row stays: the directions of past payments and the claims of the owner do. */
export async function endOwner(tx: Database, id: string, at: Date): Promise<void> {
  await tx.update(walletOwner).set({ releasedAt: at }).where(eq(walletOwner.id, id))
}

/** Makes registrations of an account's wallets and its new payments follow each other, until the transaction ends. */
export async function lockDirections(tx: Database, accountId: string): Promise<void> {
  await tx.execute(
    sql`select pg_advisory_xact_lock(hashtextextended('payment_direction ' || ${accountId}, 0))`,
  )
}

/**
 * What the insert of a payment takes anyway, for a transaction that locks another payment of the account
 * before: a registration takes it first, and payments after it.
 */
export async function shareDirections(tx: Database, paymentId: string): Promise<void> {
  await tx.execute(
    sql`select pg_advisory_xact_lock_shared(hashtextextended('payment_direction ' || account_id, 0)) from service.payment where id = ${paymentId}`,
  )
}

/** Rows of one statement: it must end well within the time that one may take, on an account of any size. */
const BATCH = 2_000

/**
 * Adds a wallet to the directions of its account's payments, which were recorded before it was registered. The other wallet of a payment counts as it did
 * when the payment was recorded: one that was released since keeps its part.
 */
export async function updateDirections(
  tx: Database,
  { accountId, address, scope }: OwnedWallet,
): Promise<void> {
  const received = and(
    eq(payment.recipient, address),
    inArray(payment.direction, ['sent', 'external']),
  )
  const sent = and(
    eq(payment.sender, address),
    inArray(payment.direction, ['received', 'external']),
  )
  const direction = sql`case
    when ${payment.recipient} = ${address} then case ${payment.direction} when 'sent' then 'internal' else 'received' end
    else case ${payment.direction} when 'received' then 'internal' else 'sent' end end`
  const rows = await tx
    .select({ id: payment.id })
    .from(payment)
    // Each arm uses a separate index.
    .where(
      and(
        eq(payment.accountId, accountId),
        onScope(payment.network, scope),
        or(and(not(payment.draft), received), and(payment.draft, received), sent),
      ),
    )
    // What is still moving is locked last.
    .orderBy(asc(payment.createdAt))
  for (const ids of batchesOf(rows))
    await tx.update(payment).set({ direction }).where(inJson(payment.id, ids))
}

/** Makes the claims an account took before it registered the payee bind everybody, as those of an owner do. */
export async function makeClaimsExclusive(
  tx: Database,
  { accountId, address, scope }: OwnedWallet,
): Promise<void> {
  const open = and(eq(claim.scope, accountId), not(claim.exclusive))
  const rows = await tx
    .select({ id: payment.id })
    .from(claim)
    .innerJoin(payment, eq(payment.id, claim.paymentId))
    .where(
      and(
        open,
        eq(payment.accountId, accountId),
        eq(payment.recipient, address),
        onScope(payment.network, scope),
      ),
    )
  const unbound = sql`not exists (select 1 from service.claim as other where other.network = ${claim.network} and other.key = ${claim.key} and other.exclusive)`
  for (const ids of batchesOf(rows))
    await tx
      .update(claim)
      .set({ exclusive: true })
      .where(and(open, inJson(claim.paymentId, ids), unbound))
}

function* batchesOf(rows: readonly { id: string }[]): Generator<string[]> {
  for (let start = 0; start < rows.length; start += BATCH)
    yield rows.slice(start, start + BATCH).map(({ id }) => id)
}

/** One parameter in place of thousands. */
function inJson(column: typeof payment.id | typeof claim.paymentId, ids: readonly string[]): SQL {
  return sql`${column} in (select jsonb_array_elements_text(${JSON.stringify(ids)}::jsonb))`
}

function onScope(network: typeof payment.network, scope: string): SQL | undefined {
  if (!isFamilyScope(scope)) return eq(network, scope)
  return sql`${network} like ${scope === 'evm' ? 'eip155:%' : 'solana:%'}`
}

export type WalletChallengeRecord = typeof walletChallenge.$inferSelect

export async function insertWalletChallenge(
  db: Database,
  row: WalletChallengeRecord,
): Promise<void> {
  await db.insert(walletChallenge).values(row)
}

/** Takes a challenge out of the table: of two requests at once, one gets it. A request of another account leaves it where it is. */
export async function takeWalletChallenge(
  db: Database,
  { id, accountId }: { id: string; accountId: string },
): Promise<WalletChallengeRecord | undefined> {
  const rows = await db
    .delete(walletChallenge)
    .where(and(eq(walletChallenge.id, id), eq(walletChallenge.accountId, accountId)))
    .returning()
  return rows[0]
}

export async function deleteExpiredWalletChallenges(db: Database, now: Date): Promise<void> {
  await db.delete(walletChallenge).where(lte(walletChallenge.expiresAt, now))
}
