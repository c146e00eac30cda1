import {
  and,
  asc,
  desc,
  eq,
  getTableColumns,
  gt,
  gte,
  inArray,
  lt,
  lte,
  ne,
  or,
  sql,
} from 'drizzle-orm'
import type { NetworkId } from '#contract/network.ts'
import type { PaymentStatus } from '#contract/payment.ts'
import type { Database } from '#postgres/open.ts'
import { isEnded } from './ended-orders.ts'
import { moveOf, type Move, type MoveFacts } from './payment-move.ts'
import { event, mayHaveEvidence, payment, unmatchedTransfer } from './schema/payment.ts'

export type PaymentRecord = typeof payment.$inferSelect
export type NewPayment = typeof payment.$inferInsert
export type EventRecord = typeof event.$inferSelect

export async function insertPayment(tx: Database, row: NewPayment): Promise<PaymentRecord> {
  const [inserted] = await tx.insert(payment).values(row).returning()
  if (!inserted) throw new Error('The database took a payment and returned none.')
  return inserted
}

export async function findPayment(db: Database, id: string): Promise<PaymentRecord | undefined> {
  const [row] = await db.select().from(payment).where(eq(payment.id, id))
  return row
}

export async function findPayments(db: Database, ids: readonly string[]): Promise<PaymentRecord[]> {
  return db
    .select()
    .from(payment)
    .where(inArray(payment.id, [...ids]))
}

/** Status and amount of these payments, as far as they are this account's. */
export async function findStatuses(
  db: Database,
  accountId: string,
  ids: readonly string[],
): Promise<Pick<PaymentRecord, 'id' | 'status' | 'amount' | 'blockTime' | 'metadata'>[]> {
  const { id, status, amount, blockTime, metadata } = payment
  return db
    .select({ id, status, amount, blockTime, metadata })
    .from(payment)
    .where(and(eq(payment.accountId, accountId), inArray(payment.id, [...ids])))
}

/** The hosted payment that a request made under this key. */
export async function findByIdempotencyKey(
  db: Database,
  accountId: string,
  key: string,
): Promise<PaymentRecord | undefined> {
  const [row] = await db
    .select()
    .from(payment)
    .where(and(eq(payment.accountId, accountId), eq(payment.idempotencyKey, key)))
  return row
}

/** The transactions of final received payments of an account that are equal to an order, since it was made. */
export async function findFinalReceived(
  db: Database,
  order: MonitoredRecord,
): Promise<readonly string[]> {
  const rows = await db
    .select({ signature: payment.signature })
    .from(payment)
    .where(
      and(
        eq(payment.accountId, order.accountId),
        eq(payment.sender, order.sender),
        eq(payment.recipient, order.recipient),
        eq(payment.network, order.network),
        eq(payment.asset, order.asset),
        eq(payment.amount, order.amount),
        eq(payment.mode, 'received'),
        eq(payment.status, 'finalized'),
        gte(payment.createdAt, order.createdAt),
      ),
    )
  return rows.flatMap(({ signature }) => signature ?? [])
}

export type SignedFacts = Pick<
  PaymentRecord,
  'nonce' | 'lastValidBlockHeight' | 'maxFee' | 'reportedSignature' | 'paymentProof' | 'updatedAt'
>

/** Notes what a hosted payment was signed with last. */
export async function updateSigned(tx: Database, id: string, facts: SignedFacts): Promise<void> {
  await tx.update(payment).set(facts).where(eq(payment.id, id))
}

/** Reads a payment and keeps other writers away from it until the transaction ends. */
export async function lockPayment(tx: Database, id: string): Promise<PaymentRecord | undefined> {
  const [row] = await tx.select().from(payment).where(eq(payment.id, id)).for('update')
  return row
}

/** The payment of a transaction in an account's ledger; what was handed in about it as a proof is another matter. */
export async function findBySignature(
  db: Database,
  { accountId, network, signature }: { accountId: string; network: NetworkId; signature: string },
): Promise<PaymentRecord | undefined> {
  const [row] = await db
    .select()
    .from(payment)
    .where(
      and(
        eq(payment.accountId, accountId),
        eq(payment.network, network),
        eq(payment.signature, signature),
        ne(payment.mode, 'received'),
      ),
    )
  return row
}

/**
 * Moves a payment when it still has the status it is moved from; its caller has locked it. One
 * transaction may settle several proofs: its fee is written to the first of an account's payments, which
 * `lockUses` puts in order. The payer's own payment always has it.
 */
export async function movePayment(tx: Database, move: Move): Promise<void> {
  await tx
    .update(payment)
    .set(moveOf(move))
    .where(and(eq(payment.id, move.id), eq(payment.status, move.from)))
}

/** Of a payment that the chain does not show: what an earlier block said of it is no longer so. */
export const NOT_IN_BLOCK = {
  blockHeight: null,
  blockHash: null,
  blockTime: null,
  fee: null,
  feePayer: null,
} as const satisfies MoveFacts

/**
 * The block of a payment that is not confirmed yet, so that its confirmations can be counted, and its money as part of the balance; null when it is in none
 * any more.
 */
export async function noteBlock(
  db: Database,
  id: string,
  block: { height: number; blockTime: Date | null } | null,
): Promise<void> {
  const [height, time] = [block?.height ?? null, block?.blockTime ?? null]
  await db
    .update(payment)
    .set(block === null ? NOT_IN_BLOCK : { blockHeight: height, blockTime: time })
    .where(
      and(
        eq(payment.id, id),
        eq(payment.status, 'pending'),
        or(
          sql`${payment.blockHeight} is distinct from ${height}`,
          sql`${payment.blockTime} is distinct from ${time?.toISOString() ?? null}::timestamptz`,
        ),
      ),
    )
}

/**
 * Keeps what a client says it broadcast, or forgets it, while the payment has none that the chain has shown. `replaces`: what was read before the chain was
 * asked; a report that came meanwhile stays.
 * @returns whether it was written
 */
export async function setReported(
  db: Database,
  id: string,
  { signature, at, replaces }: { signature: string | null; at: Date; replaces?: string | null },
): Promise<boolean> {
  const broadcastAt =
    signature === null
      ? null
      : sql`coalesce(${payment.broadcastAt}, ${at.toISOString()}::timestamptz)`
  const rows = await db
    .update(payment)
    .set({ reportedSignature: signature, broadcastAt })
    .where(
      and(
        eq(payment.id, id),
        inArray(payment.status, ['created', 'pending', 'rolled_back', 'expired']),
        replaces === undefined
          ? undefined
          : sql`${payment.reportedSignature} is not distinct from ${replaces}`,
      ),
    )
    .returning({ id: payment.id })
  return rows.length > 0
}

/** An order whose transaction may land later than the one it was built as stays open until then. */
export async function extendValidity(
  tx: Database,
  id: string,
  lastValidBlockHeight: number,
): Promise<void> {
  await tx
    .update(payment)
    .set({ lastValidBlockHeight })
    .where(and(eq(payment.id, id), lt(payment.lastValidBlockHeight, lastValidBlockHeight)))
}

/** Keeps what ties an order to its payer, while nothing has paid it. */
export async function setEvidence(
  db: Database,
  id: string,
  evidence: Partial<
    Pick<PaymentRecord, 'payerSignature' | 'payerNonce' | 'senderVerified' | 'draft'>
  >,
): Promise<PaymentRecord | undefined> {
  const [row] = await db
    .update(payment)
    .set(evidence)
    .where(
      and(
        eq(payment.id, id),
        eq(payment.mode, 'local'),
        inArray(payment.status, ['created', 'pending', 'rolled_back', 'expired']),
      ),
    )
    .returning()
  return row
}

const DRAFT_TEXT_HOURS = 24
const ERASED_AT_ONCE = 1_000

/**
 * Erases what strangers wrote into drafts a day ago, some rows at a time. Id, terms, fingerprint and nonce stay: evidence may still come for them.
 * @returns how many were erased
 */
export async function eraseDraftTexts(db: Database): Promise<number> {
  const old = sql`(
    select ${payment.id} from ${payment}
    where ${payment.draft} and ${payment.unsignedTransaction} is not null and ${payment.createdAt} < now() - make_interval(hours => ${DRAFT_TEXT_HOURS})
    order by ${payment.createdAt} limit ${ERASED_AT_ONCE}
  )`
  const erased = await db
    .update(payment)
    .set({ resource: null, metadata: null, unsignedTransaction: null })
    .where(and(inArray(payment.id, old), sql`${payment.draft}`))
    .returning({ id: payment.id })
  return erased.length
}

export async function readEvents(db: Database, paymentId: string): Promise<EventRecord[]> {
  return (await readEventsOf(db, [paymentId])).get(paymentId) ?? []
}

/** The changes of status of each of these payments, oldest first. One query. */
export async function readEventsOf(
  db: Database,
  paymentIds: readonly string[],
): Promise<Map<string, EventRecord[]>> {
  const rows = await db
    .select()
    .from(event)
    .where(and(inArray(event.paymentId, [...paymentIds]), eq(event.kind, 'payment')))
    .orderBy(asc(event.id))
  return Map.groupBy(rows, ({ paymentId }) => paymentId)
}

const MONITORED = [
  'created',
  'pending',
  'confirmed',
  'rolled_back',
] as const satisfies PaymentStatus[]

const {
  metadata: _metadata,
  unsignedTransaction: _unsigned,
  idempotencyKey: _key,
  idempotencyFingerprint: _fingerprint,
  refundReason: _reason,
  refundNote: _note,
  ...columns
} = getTableColumns(payment)
/** What a watcher needs of a payment: what strangers wrote into drafts may be long. */
const MONITORED_COLUMNS = {
  ...columns,
  // What the service signs again names it.
  resource: sql<string | null>`case when ${payment.mode} = 'hosted' then ${payment.resource} end`,
}
export type MonitoredRecord = Omit<
  PaymentRecord,
  | 'metadata'
  | 'unsignedTransaction'
  | 'idempotencyKey'
  | 'idempotencyFingerprint'
  | 'refundReason'
  | 'refundNote'
>

/**
 * Whether a watcher has anything to look at: an open payment, one that expired after `since`, an order that ended after it and may be paid again, or an
 * unmatched transfer that is not final.
 */
export async function isMonitored(db: Database, network: NetworkId, since: Date): Promise<boolean> {
  const { rows } = await db.execute<{ found: boolean }>(
    sql`select exists (select from ${payment} where ${isOpenOn(network)})
      or exists (select from ${payment} where ${isExpired(network, since)})
      or exists (select from ${payment} where ${isEnded(network, { after: since, upTo: null })})
      or exists (
        select from ${unmatchedTransfer}
        where ${unmatchedTransfer.network} = ${network} and ${unmatchedTransfer.finalizedAt} is null and ${unmatchedTransfer.matchedPaymentId} is null
      ) as found`,
  )
  return rows[0]?.found === true
}

/** What a watcher follows in each round: everything that can still change, without what has expired. */
export function readMonitored(db: Database, network: NetworkId): Promise<MonitoredRecord[]> {
  return db
    .select(MONITORED_COLUMNS)
    .from(payment)
    .where(isOpenOn(network))
    .orderBy(asc(payment.createdAt), asc(payment.id))
}

/** Expired payments of a network, by when they expired; those of presented proofs, or all others. */
export type ExpiredRange = {
  network: NetworkId
  received: boolean
  after: Date
  /** Null: no bound. */
  upTo: Date | null
}

/** The last row that was read: older ones come next. */
export type ExpiredPlace = Pick<PaymentRecord, 'id' | 'expiresAt'>

/** Some expired payments, the newest first: there may be very many of them, as strangers have drafts built. */
export async function readExpired(
  db: Database,
  { network, received, after, upTo }: ExpiredRange,
  { from, limit }: { from: ExpiredPlace | undefined; limit: number },
): Promise<MonitoredRecord[]> {
  return db
    .select(MONITORED_COLUMNS)
    .from(payment)
    .where(
      and(
        isExpired(network, after),
        received ? eq(payment.mode, 'received') : ne(payment.mode, 'received'),
        upTo === null ? undefined : lte(payment.expiresAt, upTo),
        from === undefined
          ? undefined
          : sql`(${payment.expiresAt}, ${payment.id}) < (${from.expiresAt?.toISOString() ?? null}::timestamptz, ${from.id})`,
      ),
    )
    .orderBy(desc(payment.expiresAt), desc(payment.id))
    .limit(limit)
}

/** Payments are built in the order in which they expire, but for what the clocks of two processes differ. */
const OLDEST_EXPIRED = 100

/** The height at which the oldest payment was built that expired after `expiredSince` and that a transfer may still pay; undefined without one. */
export async function findExpiredHeight(
  db: Database,
  network: NetworkId,
  expiredSince: Date,
): Promise<number | undefined> {
  const { rows } = await db.execute<{ height: string | null }>(sql`
    select min(built_height)::text as height from (
      select ${payment.builtHeight} from ${payment}
      where ${isExpired(network, expiredSince)} and ${payment.mode} <> 'received'
      order by ${payment.expiresAt} limit ${OLDEST_EXPIRED}
    ) as oldest`)
  const height = rows[0]?.height ?? null
  return height === null ? undefined : Number(height)
}

/** How many expired payments are looked through for their payers: strangers may have made very many. */
const EXPIRED_READ = 2_000

/** Who may still pay what expired after `expiredSince`; undefined where that is too much to read. */
export async function findExpiredPayers(
  db: Database,
  network: NetworkId,
  expiredSince: Date,
): Promise<string[] | undefined> {
  const rows = await db
    .select({ sender: payment.sender })
    .from(payment)
    .where(and(isExpired(network, expiredSince), ne(payment.mode, 'received')))
    .limit(EXPIRED_READ + 1)
  return rows.length > EXPIRED_READ ? undefined : [...new Set(rows.map(({ sender }) => sender))]
}

/** How many equal expired orders one transfer is compared with, beside the one whose fees it has. */
const MOST_EQUAL = 50
const TRANSFERS_AT_ONCE = 1_000

type Terms = {
  sender: string
  recipient: string
  asset: string
  amountAtomic: bigint
  fingerprint?: string
}

/**
 * The payments that expired after `expiredSince` with the terms of these transfers. Of many equal ones, those come first that may have evidence of their payer:
 * drafts that strangers have built in another's name push none of them out.
 */
export async function findExpiredWith(
  db: Database,
  { network, expiredSince }: { network: NetworkId; expiredSince: Date },
  transfers: readonly Terms[],
): Promise<MonitoredRecord[]> {
  const found: MonitoredRecord[] = []
  for (let start = 0; start < transfers.length; start += TRANSFERS_AT_ONCE) {
    const terms = transfers
      .slice(start, start + TRANSFERS_AT_ONCE)
      .map(({ sender, recipient, asset, amountAtomic, fingerprint }) => ({
        payer: sender,
        payee: recipient,
        token: asset,
        units: amountAtomic.toString(),
        fees: fingerprint ?? null,
      }))
    const equal = sql`
      select id, ${sql.raw(mayHaveEvidence)} as may_have_evidence, expires_at from service.payment
      where network = ${network} and sender = payer and recipient = payee and asset = token and amount = units
        and status = 'expired' and mode <> 'received' and expires_at > ${expiredSince.toISOString()}::timestamptz`
    const { rows } = await db.execute<{ id: string }>(sql`
      select distinct late.id
      from json_to_recordset(${JSON.stringify(terms)}::json) as terms(payer text, payee text, token text, units numeric, fees text)
      cross join lateral (
        (${equal} and fingerprint = fees)
        union all
        (${equal} order by may_have_evidence desc, expires_at desc limit ${MOST_EQUAL})
      ) as late`)
    if (rows.length === 0) continue
    const ids = rows.map(({ id }) => id)
    found.push(
      ...(await db.select(MONITORED_COLUMNS).from(payment).where(inArray(payment.id, ids))),
    )
  }
  return found
}

function isOpenOn(network: NetworkId) {
  return and(eq(payment.network, network), inArray(payment.status, [...MONITORED]))
}

function isExpired(network: NetworkId, since: Date) {
  return and(
    eq(payment.network, network),
    eq(payment.status, 'expired'),
    gt(payment.expiresAt, since),
  )
}
