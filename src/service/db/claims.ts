import { and, eq, inArray, isNotNull, isNull, notInArray, or, sql } from 'drizzle-orm'
import type { NetworkId } from '#contract/network.ts'
import { afterCommit, isUniqueViolation, type Database } from '#postgres/open.ts'
import { LEASE_S } from './lease.ts'
import { returnedAmount } from './refunds.ts'
import { payment } from './schema/payment.ts'
import { claim } from './schema/proof.ts'

export type ClaimRecord = typeof claim.$inferSelect
/** A transfer, by the name that its chain knows it by. */
export type TransferKey = { network: NetworkId; key: string }
/** Who claims transfers to a payee. `exclusive`: its owner, whose claims bind everybody permanently. */
export type Claimant = { scope: string; accountId: string; exclusive: boolean }
/** A claim held by one attempt. `order`: it confirmed an order, which a proof of the same resource may adopt. */
export type OpenClaim = TransferKey & {
  scope: string
  attempt: string
  order?: string
  /** Set by the commit that used it up. */
  consumed?: true
}

/** All callers without a key share one scope. */
export const KEYLESS_SCOPE = 'keyless'
/** Stands in place of the attempt where the transfer confirmed an order, and no proof of it was presented yet. */
const ORDER = 'order'
/** Stands there where a person assigned the transfer to an order. It yields to every evidence that a payer provides. */
export const ASSIGNED = 'assigned'

const byProof = notInArray(claim.attempt, [ORDER, ASSIGNED])

const leaseEnd = sql`clock_timestamp() + make_interval(secs => ${LEASE_S})`

/** Takes a transfer for one attempt until its lease ends, or says who holds it. On the database's clock. */
export async function takeClaim(
  db: Database,
  {
    network,
    key,
    scope,
    accountId,
    exclusive,
    fingerprint,
    attempt = crypto.randomUUID(),
  }: TransferKey & Claimant & { fingerprint: string; attempt?: string },
): Promise<{ taken: true; lease: OpenClaim } | { taken: false; claim: ClaimRecord | undefined }> {
  const insert = db.execute<{ attempt: string }>(sql`
    insert into service.claim as held (scope, exclusive, network, key, account_id, fingerprint, attempt, lease_until)
    select ${scope}, ${exclusive}, ${network}, ${key}, ${accountId}, ${fingerprint}, ${attempt}, ${leaseEnd}
    where not exists (select 1 from service.claim as other where other.network = ${network} and other.key = ${key} and other.exclusive and other.scope <> ${scope})
    on conflict (scope, network, key) do update
      set account_id = excluded.account_id, exclusive = excluded.exclusive, fingerprint = excluded.fingerprint, attempt = excluded.attempt, lease_until = excluded.lease_until
      where held.consumed_at is null and held.lease_until < clock_timestamp()
    returning attempt`)
  const { rows } = await insert.catch((error: unknown) => {
    // The owner of the payee took it at this moment.
    if (isUniqueViolation(error, 'claim_exclusive')) return { rows: [] }
    throw error
  })
  if (rows[0]) return { taken: true, lease: { network, key, scope, attempt } }
  const found = await findClaim(db, { network, key, scope })
  // A proof of the order's own resource may adopt the order; what it proves is compared before.
  if (found?.attempt === ORDER && found.scope === scope && found.paymentId !== null) {
    return { taken: true, lease: { network, key, scope, attempt: ORDER, order: found.paymentId } }
  }
  return { taken: false, claim: found }
}

/** Whether a claim was made for an order that the chain confirmed, and no proof of the transfer was presented yet. */
export function confirmsOrder({ attempt }: Pick<ClaimRecord, 'attempt'>): boolean {
  return attempt === ORDER
}

/** Whether a person assigned the transfer of a claim to an order. */
export function isAssigned({ attempt }: Pick<ClaimRecord, 'attempt'>): boolean {
  return attempt === ASSIGNED
}

/** The claim that binds a scope: its own, or the exclusive one of another. */
export async function findClaim(
  db: Database,
  { network, key, scope }: TransferKey & { scope: string },
): Promise<ClaimRecord | undefined> {
  const rows = await db
    .select()
    .from(claim)
    .where(
      and(
        eq(claim.network, network),
        eq(claim.key, key),
        or(eq(claim.scope, scope), claim.exclusive),
      ),
    )
  return rows.find((row) => row.scope === scope) ?? rows[0]
}

/** Whether an attempt that lives holds a transfer which is not used up: then nothing can be taken. */
export async function isClaimed(
  db: Database,
  { network, key, scope }: TransferKey & { scope: string },
): Promise<boolean> {
  const claimed = and(
    eq(claim.network, network),
    eq(claim.key, key),
    or(eq(claim.scope, scope), claim.exclusive),
    isNull(claim.consumedAt),
    sql`${claim.leaseUntil} >= clock_timestamp()`,
  )
  return (await db.$count(claim, claimed)) > 0
}

/** Whether a proof of this payment was used: then somebody waits for its settlement. */
export async function isProven(db: Database, paymentId: string): Promise<boolean> {
  return (await db.$count(claim, and(eq(claim.paymentId, paymentId), byProof))) > 0
}

/** The key under which a payment's proof was used up. */
export async function findClaimKey(db: Database, paymentId: string): Promise<string | undefined> {
  const [row] = await db
    .select({ key: claim.key })
    .from(claim)
    .where(and(eq(claim.paymentId, paymentId), byProof))
  return row?.key
}

/** The transaction that the service broadcast for this transfer, whichever account asked for it; null when it broadcast none. */
export async function findBroadcast(
  db: Database,
  { network, key }: TransferKey,
): Promise<string | null> {
  const [row] = await db
    .select({
      signature: sql<string | null>`coalesce(${payment.signature}, ${payment.reportedSignature})`,
    })
    .from(claim)
    .innerJoin(payment, eq(payment.id, claim.paymentId))
    .where(and(eq(claim.network, network), eq(claim.key, key), isNotNull(claim.transaction)))
    .limit(1)
  return row?.signature ?? null
}

/** `waits`: whether somebody still waits for the outcome of the call, once the transfer is used up. */
export type ClaimInUse = { lease: OpenClaim; waits: () => boolean }

/**
 * Says that these attempts still work, in one statement. A row that another transaction has locked at this moment is left for the next
 * time, so that none waits because of another one.
 */
export async function extendClaims(db: Database, claims: Iterable<ClaimInUse>): Promise<void> {
  const leases = Array.from(claims, ({ lease: { scope, network, key, attempt }, waits }) => ({
    scope,
    network,
    key,
    attempt,
    waits: waits(),
  }))
  await db.execute(sql`
    with living as (
      select held.scope, held.network, held.key
      from json_to_recordset(${JSON.stringify(leases)}::json) as lease(scope text, network text, key text, attempt text, waits boolean)
      join service.claim as held on held.scope = lease.scope and held.network = lease.network and held.key = lease.key
        and held.attempt = lease.attempt and (lease.waits or held.consumed_at is null)
      for update of held skip locked
    )
    update service.claim as held set lease_until = ${leaseEnd}
    from living where held.scope = living.scope and held.network = living.network and held.key = living.key`)
}

/** Gives a payment back that this attempt did not use. */
export async function releaseClaim(db: Database, lease: OpenClaim): Promise<void> {
  await db.delete(claim).where(mine(lease))
}

export type Consumed = {
  paymentId: string
  fingerprint: string
  checks: string
  transaction: string | null
}

/**
 * Uses a transfer up, in the transaction that records its payment. False when the attempt no longer holds it, or when the transfer has confirmed another
 * order than this payment.
 */
export async function consumeClaim(
  tx: Database,
  lease: OpenClaim,
  consumed: Consumed,
): Promise<boolean> {
  if (!isConsumable(lease, consumed)) return false
  const used = consumption(lease, consumed)
  const rows = await tx.update(claim).set(used.set).where(used.where).returning({ key: claim.key })
  if (rows.length === 1) noteConsumed(tx, lease)
  return rows.length === 1
}

/** Whether the transfer may be used up for a payment: one that has confirmed an order pays that order. */
export function isConsumable(lease: OpenClaim, { paymentId }: Consumed): boolean {
  return lease.order === undefined || lease.order === paymentId
}

/** What is written to which row, where the attempt holds the transfer. */
export function consumption(
  lease: OpenClaim,
  { paymentId, checks, transaction, fingerprint }: Consumed,
) {
  const adopted = and(where(lease), eq(claim.attempt, ORDER), eq(claim.paymentId, paymentId))
  const attempt = lease.order === undefined ? lease.attempt : crypto.randomUUID()
  return {
    set: { paymentId, checks, transaction, fingerprint, attempt, consumedAt: sql`now()` },
    where: lease.order === undefined ? mine(lease) : adopted,
  }
}

/** Nothing is left to give back once this is committed. */
export function noteConsumed(tx: Database, lease: OpenClaim): void {
  afterCommit(tx, () => {
    lease.consumed = true
  })
}

/**
 * Uses a transfer up for an order that it confirms, in the same commit. `lease`: a proof is looking at the transfer at this moment; it is decided a moment
 * later. `taken`: it pays for something else.
 */
export async function claimForOrder(
  tx: Database,
  claimant: Claimant,
  transfer: OrderTransfer,
): Promise<'claimed' | 'held' | 'taken'> {
  return consumeFor(tx, claimant, { ...transfer, attempt: ORDER })
}

/** The same for an order that a person assigns a transfer to, in the commit that records it. Evidence of a payer takes the transfer over later. */
export async function claimAssigned(
  tx: Database,
  claimant: Claimant,
  transfer: OrderTransfer,
): Promise<'claimed' | 'held' | 'taken'> {
  return consumeFor(tx, claimant, { ...transfer, attempt: ASSIGNED })
}

/** Gives back what was claimed for an assignment, unless evidence of a payer has taken it over. */
export async function releaseAssigned(
  tx: Database,
  { paymentId, ...named }: OrderTransfer & { scope: string },
): Promise<void> {
  await tx
    .delete(claim)
    .where(and(where(named), eq(claim.attempt, ASSIGNED), eq(claim.paymentId, paymentId)))
}

type OrderTransfer = TransferKey & { paymentId: string }

async function consumeFor(
  tx: Database,
  claimant: Claimant,
  { network, key, paymentId, attempt }: OrderTransfer & { attempt: typeof ORDER | typeof ASSIGNED },
): Promise<'claimed' | 'held' | 'taken'> {
  const { scope, accountId, exclusive } = claimant
  const used = {
    exclusive,
    accountId,
    fingerprint: '',
    attempt,
    paymentId,
    checks: '[]',
    leaseUntil: sql`now()`,
    consumedAt: sql`now()`,
  }
  const bound = await findClaim(tx, { network, key, scope })
  if (bound && bound.scope !== scope) return 'taken'
  const inserted = await tx
    .insert(claim)
    .values({ scope, network, key, ...used })
    .onConflictDoNothing()
    .returning({ key: claim.key })
  if (inserted.length === 1) return 'claimed'
  if (attempt === ORDER) {
    const over = and(where({ network, key, scope }), eq(claim.attempt, ASSIGNED))
    const rows = await tx.update(claim).set(used).where(over).returning({ key: claim.key })
    if (rows.length === 1) return 'claimed'
  }
  const found = await findClaim(tx, { network, key, scope })
  if (found?.paymentId === paymentId && found.attempt !== ASSIGNED) return 'claimed'
  if (!found || found.scope !== scope || found.consumedAt) return 'taken'
  const over = and(
    where({ network, key, scope }),
    isNull(claim.consumedAt),
    sql`${claim.leaseUntil} < clock_timestamp()`,
  )
  const rows = await tx.update(claim).set(used).where(over).returning({ key: claim.key })
  return rows.length === 1 ? 'claimed' : 'held'
}

/** Stands in place of the attempt once somebody was told that the payment is there. */
export const GRANTED = 'granted'

/** Stands there once a person said that they delivered what was paid: no caller is told any more. */
const DELIVERED = 'delivered'

/** Whether success was told for the payment of this claim, or a person delivered it. */
export function wasGranted({ attempt }: Pick<ClaimRecord, 'attempt'>): boolean {
  return attempt === GRANTED || attempt === DELIVERED
}

/** A call that settles a payment. */
export type SettlingCall = { paymentId: string; attempt: string }

/**
 * Grants a payment to one call, once: to the one that used the transfer up, and to another only after that call has ended. `waiting`: that call still
 * lives, and may yet be told. The call that was granted gets the same answer again, so it may ask a second time where the first answer was lost; the row's
 * lock makes it wait for a commit that has begun.
 */
export async function consumeOnce(
  db: Database,
  { paymentId, attempt }: SettlingCall,
): Promise<'granted' | 'told_before' | 'waiting'> {
  return db.transaction(async (tx) => {
    // A refund that is being recorded holds this lock: what it sends back is read after its commit.
    await tx.select({ id: payment.id }).from(payment).where(eq(payment.id, paymentId)).for('share')
    const rows = await tx
      .update(claim)
      .set({ attempt: GRANTED, grantedCall: attempt, leaseUntil: sql`now()` })
      .where(
        and(
          eq(claim.paymentId, paymentId),
          or(
            and(
              ungranted(paymentId),
              or(eq(claim.attempt, attempt), sql`${claim.leaseUntil} < clock_timestamp()`),
            ),
            grantOf({ paymentId, attempt }),
          ),
        ),
      )
      .returning({ key: claim.key })
    if (rows.length > 0) return 'granted'
    return (await tx.$count(claim, ungranted(paymentId))) > 0 ? 'waiting' : 'told_before'
  })
}

/** Ends the priority of a call that ends without a grant. */
export async function yieldGrant(
  db: Database,
  { paymentId, attempt }: SettlingCall,
): Promise<void> {
  await db
    .update(claim)
    .set({ leaseUntil: sql`clock_timestamp() - interval '1 second'` })
    .where(and(eq(claim.paymentId, paymentId), eq(claim.attempt, attempt)))
}

/** Revokes the grant of a call whose answer was never written. The grant of another call stays. */
export async function revokeGrant(db: Database, call: SettlingCall): Promise<void> {
  await db.transaction(async (tx) => {
    // Waits for a grant that is still being committed: the update alone neither sees it nor waits.
    await tx
      .select({ key: claim.key })
      .from(claim)
      .where(eq(claim.paymentId, call.paymentId))
      .for('update')
    await tx
      .update(claim)
      .set({
        attempt: crypto.randomUUID(),
        leaseUntil: sql`clock_timestamp() - interval '1 second'`,
      })
      .where(grantOf(call))
  })
}

function grantOf({ paymentId, attempt }: SettlingCall) {
  return and(
    eq(claim.paymentId, paymentId),
    eq(claim.attempt, GRANTED),
    eq(claim.grantedCall, attempt),
  )
}

/** Claims of proofs that were settled while no caller was left to be told; the condition of the index `claim_ungranted`. */
export const isUndelivered = sql`${claim.attempt} not in ('order', 'assigned', 'granted', 'delivered') and ${claim.consumedAt} is not null`

/** Records that a person delivered a payment that nobody was told of. False when a call is being told, was told, or nothing was settled. */
export async function closeUndelivered(db: Database, paymentId: string): Promise<boolean> {
  const rows = await db
    .update(claim)
    .set({ attempt: DELIVERED, leaseUntil: sql`now()` })
    .where(
      and(
        eq(claim.paymentId, paymentId),
        isUndelivered,
        sql`${claim.leaseUntil} < clock_timestamp()`,
      ),
    )
    .returning({ key: claim.key })
  return rows.length > 0
}

/**
 * Undoes that, or says that the caller who was told could not deliver: a later settlement of the
 * proof is told success again. False when nobody was told.
 */
export async function reopenUndelivered(db: Database, paymentId: string): Promise<boolean> {
  const rows = await db
    .update(claim)
    .set({ attempt: crypto.randomUUID(), leaseUntil: sql`clock_timestamp() - interval '1 second'` })
    .where(and(eq(claim.paymentId, paymentId), inArray(claim.attempt, [DELIVERED, GRANTED])))
    .returning({ key: claim.key })
  return rows.length > 0
}

/** May still be told as success. What goes back to its payer in full is delivered to nobody. */
function ungranted(paymentId: string) {
  return and(
    eq(claim.paymentId, paymentId),
    notInArray(claim.attempt, [GRANTED, DELIVERED, ASSIGNED]),
    sql`not exists (select 1 from ${payment} where ${payment.id} = ${paymentId} and ${returnedAmount(payment.id)} >= ${payment.amount})`,
  )
}

function where({ network, key, scope }: TransferKey & { scope: string }) {
  return and(eq(claim.network, network), eq(claim.key, key), eq(claim.scope, scope))
}

function mine(lease: OpenClaim) {
  return and(where(lease), eq(claim.attempt, lease.attempt), isNull(claim.consumedAt))
}

/** An order that was confirmed by parties and amount alone. `competing`: the other orders that the same transfer would have fitted. */
export type UnprovenOrder = {
  paymentId: string
  accountId: string
  network: string
  signature: string | null
  sender: string
  recipient: string
  asset: string
  amountAtomic: string
  competing: number
}

/** A received payment that an account recorded for a payee whose owner is another account. */
export type ForeignReceipt = Omit<UnprovenOrder, 'competing'> & { ownerId: string }

const facts = sql`paid.id as "paymentId", paid.account_id as "accountId", paid.network, paid.signature, paid.sender, paid.recipient, paid.asset,
  paid.amount::text as "amountAtomic"`

/** EVM orders confirmed before evidence was asked for, of every account, the oldest first. */
export async function readUnprovenOrders(db: Database): Promise<UnprovenOrder[]> {
  const { rows } = await db.execute<UnprovenOrder>(sql`
    select ${facts}, count(other.id)::int as competing
    from service.payment as paid
    left join service.payment as other on other.id <> paid.id and other.mode = 'local' and other.network = paid.network and other.sender = paid.sender
      and other.recipient = paid.recipient and other.asset = paid.asset and other.amount = paid.amount
      and other.created_at <= coalesce(paid.confirmed_at, paid.updated_at)
      -- What was paid or given up before is no rival.
      and coalesce(other.confirmed_at, other.expires_at + interval '1 day', 'infinity') >= coalesce(paid.confirmed_at, paid.updated_at)
    where paid.evidence = 'unproven' group by paid.id order by paid.created_at, paid.id`)
  return rows
}

/** Of every account, the oldest first. */
export async function readForeignReceipts(db: Database): Promise<ForeignReceipt[]> {
  const { rows } = await db.execute<ForeignReceipt>(sql`
    select ${facts}, owner.account_id as "ownerId"
    from service.payment as paid
    join service.wallet_owner as owner on owner.address = paid.recipient and owner.released_at is null and owner.account_id <> paid.account_id
      and owner.scope in (paid.network, case when paid.network like 'eip155:%' then 'evm' else 'solana' end)
    where paid.mode = 'received' order by paid.created_at, paid.id`)
  return rows
}
