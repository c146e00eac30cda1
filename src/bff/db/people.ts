import { and, desc, eq, gt, isNull, lt, lte, sql, type SQL } from 'drizzle-orm'
import type { PgColumn } from 'drizzle-orm/pg-core'
import { ROLES, type Role } from '#contract/role.ts'
import type { Database } from '#postgres/open.ts'
import { auditEntry, invitation, walletRole } from './schema.ts'

/** A wallet of a session, and what it may do in the merchant's account. */
export type Member = { wallet: string; role: Role }
type RoleRow = typeof walletRole.$inferSelect
export type InvitationRow = typeof invitation.$inferSelect
export type AuditRow = typeof auditEntry.$inferSelect

/** All roles, the highest one first. */
const order = sql.raw(`array[${ROLES.map((role) => `'${role}'`).join(', ')}]`)

/** Within another query: the highest role that owners gave to any of a row's wallets, or null. */
export function givenTo(wallets: PgColumn): SQL<Member | null> {
  return sql<Member | null>`(select json_build_object('wallet', r.wallet, 'role', r.role)
    from bff.wallet_role r where r.wallet = any(${wallets})
    order by array_position(${order}, r.role), r.wallet limit 1)`
}

export async function findRoles(db: Database): Promise<RoleRow[]> {
  return db.select().from(walletRole).orderBy(walletRole.givenAt, walletRole.wallet)
}

export async function findRole(db: Database, wallet: string): Promise<Role | null> {
  const rows = await db.select().from(walletRole).where(eq(walletRole.wallet, wallet))
  return rows[0]?.role ?? null
}

/**
 * What a wallet gave away as an owner ends with that role, so that it does not come back with it.
 * @returns `unknown` where the wallet has no role to change, `refused` where who gives it is no owner any more
 */
export async function changeRole(
  db: Database,
  wallet: string,
  { configuredOwners, ...given }: Omit<RoleRow, 'wallet'> & ConfiguredOwners,
): Promise<'changed' | 'unknown' | 'refused'> {
  return db.transaction(async (tx) => {
    if (!(await lockOwner(tx, given.givenBy, configuredOwners))) return 'refused'
    const rows = await tx
      .update(walletRole)
      .set(given)
      .where(eq(walletRole.wallet, wallet))
      .returning()
    if (given.role !== 'owner') await deleteInvitationsOf(tx, wallet)
    return rows.length > 0 ? 'changed' : 'unknown'
  })
}

/**
 * As `changeRole`. A wallet that the configuration names stays an owner, and keeps its invitations.
 * @returns whether the wallet had a role
 */
export async function removeRole(
  db: Database,
  wallet: string,
  { configured }: { configured: boolean },
): Promise<boolean> {
  return db.transaction(async (tx) => {
    const rows = await tx.delete(walletRole).where(eq(walletRole.wallet, wallet)).returning()
    if (!configured) await deleteInvitationsOf(tx, wallet)
    return rows.length > 0
  })
}

async function deleteInvitationsOf(tx: Database, wallet: string): Promise<void> {
  await tx.delete(invitation).where(eq(invitation.createdBy, wallet))
}

/** @returns whether its creator is still an owner */
export async function insertInvitation(
  db: Database,
  row: InvitationRow,
  configuredOwners: readonly string[],
): Promise<boolean> {
  return db.transaction(async (tx) => {
    if (!(await lockOwner(tx, row.createdBy, configuredOwners))) return false
    await tx.insert(invitation).values(row)
    return true
  })
}

export async function findInvitations(db: Database, now: Date): Promise<InvitationRow[]> {
  return db
    .select()
    .from(invitation)
    .where(gt(invitation.expiresAt, now))
    .orderBy(desc(invitation.createdAt))
}

/** @returns whether there was one */
export async function deleteInvitation(db: Database, id: string): Promise<boolean> {
  const rows = await db.delete(invitation).where(eq(invitation.id, id)).returning()
  return rows.length > 0
}

export async function deleteExpiredInvitations(db: Database, now: Date): Promise<void> {
  await db.delete(invitation).where(lte(invitation.expiresAt, now))
}

/** The invitation that stands under a code. */
export async function findInvitation(
  db: Database,
  codeHash: string,
  now: Date,
): Promise<InvitationRow | undefined> {
  const rows = await db
    .select()
    .from(invitation)
    .where(and(eq(invitation.codeHash, codeHash), gt(invitation.expiresAt, now)))
  return rows[0]
}

/** The wallets that the configuration names as owners. */
type ConfiguredOwners = { configuredOwners: readonly string[] }
type Acceptance = ConfiguredOwners & { wallet: string; at: Date; requestId: string }

/**
 * Takes the invitation, gives its role to the wallet and records both, or does nothing: of two who
 * come at once, one gets it, and none once its inviter is no owner (`over`). A wallet keeps the role that it has where that is not lower (`held`).
 */
export async function acceptInvitation(
  db: Database,
  { id, createdBy: inviter }: InvitationRow,
  { wallet, at, requestId, configuredOwners }: Acceptance,
): Promise<'joined' | 'over' | 'held'> {
  return db.transaction(async (tx) => {
    // First, as where a role ends: the inviter's role lasts until this is over, or has ended before.
    if (!(await lockOwner(tx, inviter, configuredOwners))) return 'over'
    const [taken] = await tx.delete(invitation).where(eq(invitation.id, id)).returning()
    if (!taken) return 'over'
    const { role, createdBy } = taken
    const given = { role, givenBy: createdBy, givenAt: at }
    const isLower = sql`array_position(${order}, ${walletRole.role}) > array_position(${order}, ${role}::text)`
    const raised = await tx
      .insert(walletRole)
      .values({ wallet, ...given })
      .onConflictDoUpdate({ target: walletRole.wallet, set: given, setWhere: isLower })
      .returning()
    if (raised.length === 0) {
      await tx.insert(invitation).values(taken)
      return 'held'
    }
    await tx.insert(auditEntry).values({
      at,
      wallet,
      role,
      requestId,
      action: 'peopleJoin',
      subject: id,
      outcome: 'done',
    })
    return 'joined'
  })
}

/** Whether a wallet is an owner; it stays one until the end of the transaction. */
async function lockOwner(
  tx: Database,
  wallet: string,
  configuredOwners: readonly string[],
): Promise<boolean> {
  if (configuredOwners.includes(wallet)) return true
  const rows = await tx
    .select({ role: walletRole.role })
    .from(walletRole)
    .where(eq(walletRole.wallet, wallet))
    .for('share')
  return rows[0]?.role === 'owner'
}

export async function insertAuditEntry(
  db: Database,
  row: Omit<AuditRow, 'id' | 'outcome'>,
): Promise<bigint> {
  const rows = await db.insert(auditEntry).values(row).returning({ id: auditEntry.id })
  const [written] = rows
  if (!written) throw new Error('An entry of the audit log was not written.')
  return written.id
}

export async function completeAuditEntry(
  db: Database,
  id: bigint,
  became: { outcome: string; subject: string | null },
): Promise<void> {
  await db
    .update(auditEntry)
    .set(became)
    .where(and(eq(auditEntry.id, id), isNull(auditEntry.outcome)))
}

/** Newest first. */
export async function findAuditEntries(
  db: Database,
  { before, limit }: { before: bigint | undefined; limit: number },
): Promise<AuditRow[]> {
  return db
    .select()
    .from(auditEntry)
    .where(before === undefined ? undefined : lt(auditEntry.id, before))
    .orderBy(desc(auditEntry.id))
    .limit(limit)
}
