import { and, eq, isNull, ne, sql } from 'drizzle-orm'
import type { NetworkId } from '#contract/network.ts'
import type { Database } from '#postgres/open.ts'
import { LEASE_S } from './lease.ts'
import { claim } from './schema/proof.ts'

export type ClaimRecord = typeof claim.$inferSelect
export type ClaimKey = { network: NetworkId; key: string }
/** A claim held by one attempt. */
export type HeldClaim = ClaimKey & { attempt: string }

const leaseEnd = sql`clock_timestamp() + make_interval(secs => ${LEASE_S})`

/** Takes a payment for one attempt until its lease ends, or says who holds it. On the database's clock. */
export async function takeClaim(
  db: Database,
  { network, key, accountId, fingerprint }: ClaimKey & { accountId: string; fingerprint: string },
): Promise<{ taken: true; held: HeldClaim } | { taken: false; claim: ClaimRecord | undefined }> {
  const attempt = crypto.randomUUID()
  const { rows } = await db.execute<{ attempt: string }>(sql`
    insert into service.claim as held (network, key, account_id, fingerprint, attempt, lease_until)
    values (${network}, ${key}, ${accountId}, ${fingerprint}, ${attempt}, ${leaseEnd})
    on conflict (network, key) do update
      set account_id = excluded.account_id, fingerprint = excluded.fingerprint, attempt = excluded.attempt, lease_until = excluded.lease_until
      where held.consumed_at is null and held.lease_until < clock_timestamp()
    returning attempt`)
  if (rows[0]) return { taken: true, held: { network, key, attempt } }
  return { taken: false, claim: await findClaim(db, { network, key }) }
}

export async function findClaim(db: Database, { network, key }: ClaimKey): Promise<ClaimRecord | undefined> {
  const [row] = await db
    .select()
    .from(claim)
    .where(and(eq(claim.network, network), eq(claim.key, key)))
  return row
}

/** Whether a proof of this payment was used: then somebody waits for its settlement. */
export async function isProven(db: Database, paymentId: string): Promise<boolean> {
  return (await db.$count(claim, eq(claim.paymentId, paymentId))) > 0
}

/** The key under which a payment's proof was used up. */
export async function findClaimKey(db: Database, paymentId: string): Promise<string | undefined> {
  const [row] = await db.select({ key: claim.key }).from(claim).where(eq(claim.paymentId, paymentId))
  return row?.key
}

/** Says that the attempt still works. */
export async function extendClaim(db: Database, held: HeldClaim): Promise<void> {
  await db.update(claim).set({ leaseUntil: leaseEnd }).where(mine(held))
}

/** Gives a payment back that this attempt did not use. */
export async function releaseClaim(db: Database, held: HeldClaim): Promise<void> {
  await db.delete(claim).where(mine(held))
}

/** Uses a payment up, in the transaction that records it. False when the attempt no longer holds it. */
export async function consumeClaim(tx: Database, held: HeldClaim, facts: { paymentId: string; checks: string; transaction: string | null }): Promise<boolean> {
  const rows = await tx
    .update(claim)
    .set({ ...facts, consumedAt: sql`now()` })
    .where(mine(held))
    .returning({ key: claim.key })
  return rows.length === 1
}

/** Stands in place of the attempt once somebody was told that the payment is there. */
export const GRANTED = 'granted'

/** True for the first to be told that a payment is there, and for nobody after: whoever serves on this word serves once. */
export async function grantOnce(db: Database, paymentId: string): Promise<boolean> {
  const rows = await db
    .update(claim)
    .set({ attempt: GRANTED })
    .where(and(eq(claim.paymentId, paymentId), ne(claim.attempt, GRANTED)))
    .returning({ key: claim.key })
  return rows.length === 1
}

function mine({ network, key, attempt }: HeldClaim) {
  return and(eq(claim.network, network), eq(claim.key, key), eq(claim.attempt, attempt), isNull(claim.consumedAt))
}
