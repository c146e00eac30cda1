import {
  and,
  count,
  desc,
  eq,
  getTableColumns,
  inArray,
  isNull,
  lt,
  lte,
  ne,
  or,
  sql,
} from 'drizzle-orm'
import { createId, type PaymentStatus } from '#contract/payment.ts'
import type { Database } from '#postgres/open.ts'
import type { PaymentRecord } from './payments.ts'
import { KEYLESS_SCOPE } from './claims.ts'
import { searchExpressions } from './schema/columns.ts'
import { payment, unmatchedTransfer } from './schema/payment.ts'
import { claim } from './schema/proof.ts'

export type UnmatchedRecord = typeof unmatchedTransfer.$inferSelect
export type NewUnmatched = Omit<typeof unmatchedTransfer.$inferInsert, 'id'>
type Name = Pick<UnmatchedRecord, 'accountId' | 'network' | 'signature'>

/** The name under which an assigned transfer is used up. They are of EVM networks: elsewhere a memo names the order, and nothing is assigned. */
export function assignmentKey({
  signature,
  authorizationKey,
}: Pick<UnmatchedRecord, 'signature' | 'authorizationKey'>): string {
  return authorizationKey === ''
    ? `txid:${signature}`
    : `unmatched:${signature}:${authorizationKey}`
}

/** What of a transaction a proof is for, by the key of its claim: that of an authorization, or the transfer of the transaction itself. */
export function authorizationKeyOf(claimKey: string): string {
  return /^(?:txid|message):/.test(claimKey) ? '' : claimKey
}

/**
 * Orders the commit that uses a transfer up and the one that notes it as unmatched: without it
 * neither would see the other's row, and the transfer would be in both. Taken after the lock of a
 * payment and before that of a claim.
 */
export async function lockTransfer(tx: Database, name: Name): Promise<void> {
  const { accountId, network, signature } = name
  await tx.execute(
    sql`select pg_advisory_xact_lock(hashtextextended(${`transfer ${accountId} ${network} ${signature}`}, 0))`,
  )
}

/** The payment that returns a transfer to its sender, or may do so: it is not confirmed yet. */
export type TransferRefund = { paymentId: string; status: PaymentStatus }

/** The open transfers of one payer in the transaction of a transfer, of one asset. One authorization moves one, and a transaction executes many. */
const siblings = (alias: 'larger' | 'earlier') => sql`
  select 1 from service.unmatched_transfer as ${sql.raw(alias)}
  where ${sql.raw(alias)}.account_id = unmatched_transfer.account_id and ${sql.raw(alias)}.network = unmatched_transfer.network
    and ${sql.raw(alias)}.signature = unmatched_transfer.signature and ${sql.raw(alias)}.sender = unmatched_transfer.sender
    and ${sql.raw(alias)}.asset = unmatched_transfer.asset and ${sql.raw(alias)}.matched_payment_id is null`

/**
 * The payment of the account that returns a transfer: by its reference, the transaction. A wallet that is not registered may pay it,
 * and a proof that was handed in never is one. `orBuilt`: a wallet may have what was built for it, too. Column names in full, as drizzle shortens them here.
 * A payment returns one transfer: the largest of its payer that it covers. Of equal ones of one transaction the first payment returns the first, and so on;
 * those that are assigned come last.
 */
const returnedBy = (orBuilt: '' | 'or true') => sql<TransferRefund | null>`(
  select json_build_object('paymentId', back.id, 'status', back.status) from service.payment as back
  where back.account_id = unmatched_transfer.account_id
    and ${sql.raw(searchExpressions.referenceStart)} = '"' || unmatched_transfer.signature || '"'
    and back.network = unmatched_transfer.network and back.asset = unmatched_transfer.asset
    and back.direction in ('sent', 'external') and back.mode <> 'received'
    and back.recipient = unmatched_transfer.sender and back.amount >= unmatched_transfer.amount
    and (back.status in ('pending', 'confirmed', 'finalized', 'rolled_back') or (back.status = 'created' and (back.mode = 'hosted' ${sql.raw(orBuilt)})))
    and not exists (${siblings('larger')} and larger.amount > unmatched_transfer.amount and larger.amount <= back.amount)
  order by back.status in ('confirmed', 'finalized') desc, back.created_at, back.id limit 1
  offset (select count(*) from (${siblings('earlier')} and earlier.amount = unmatched_transfer.amount and earlier.id <> unmatched_transfer.id
    and (earlier.assigned_payment_id is not null, earlier.created_at, earlier.id)
      < (unmatched_transfer.assigned_payment_id is not null, unmatched_transfer.created_at, unmatched_transfer.id)) as before_it))`

/** It counts from when it may land. */
const refundedBy = returnedBy('')
/** Also where its sender is not verified: an operator may pay with another wallet than the one that signed in. */
const refundedOrBuilt = returnedBy('or true')

/** The account returns the transfer: it pays nothing else. Rolls back what would have used it up. */
export class TransferRefundedError extends Error {
  readonly refund: TransferRefund

  constructor(refund: TransferRefund) {
    super(`The transfer is refunded by ${refund.paymentId}.`)
    this.refund = refund
  }
}

type Terms = Pick<PaymentRecord, 'sender' | 'recipient' | 'asset' | 'amount'>

type UnmatchedUse = Pick<UnmatchedRecord, 'id' | 'authorizationKey' | 'assignedPaymentId'> & {
  refundedBy: TransferRefund | null
}

/**
 * What an account has recorded of the transfers with these terms in one transaction, which stays so
 * until the database transaction ends: how many payments other than `id` they have paid, and which
 * are unmatched, those that nothing returns first. A hosted payment is the payer's own record of what its payee may have recorded too.
 * Claims bind by scope, and so do these: callers without a key, whose payments the operator's account
 * records, use up no transfer that it sold for. In one scope a key is claimed once, so no use is counted twice.
 */
export async function lockUses(
  tx: Database,
  { id, ...name }: Name & { id: string | null },
  { sender, recipient, asset, amount }: Terms,
): Promise<{ paid: number; unmatched: readonly UnmatchedUse[] }> {
  await lockTransfer(tx, name)
  const same = (table: typeof payment | typeof unmatchedTransfer) =>
    and(
      eq(table.accountId, name.accountId),
      eq(table.network, name.network),
      eq(table.signature, name.signature),
      eq(table.sender, sender),
      eq(table.recipient, recipient),
      eq(table.asset, asset),
      eq(table.amount, amount),
    )
  const own = sql`(select scope from service.claim where payment_id = ${id} limit 1)`
  const scope = id === null ? sql`${name.accountId}` : sql`coalesce(${own}, ${name.accountId})`
  const paid = and(
    same(payment),
    ne(payment.mode, 'hosted'),
    inArray(payment.status, ['confirmed', 'finalized']),
    id === null ? undefined : ne(payment.id, id),
    sql`exists (select from ${claim} where ${claim.paymentId} = ${payment.id} and ${claim.scope} = ${scope})`,
  )
  const { id: unmatchedId, authorizationKey, assignedPaymentId } = unmatchedTransfer
  const rows = await tx
    .select({
      paid: sql<number>`(select count(*)::int from ${payment} where ${paid})`,
      unmatchedId,
      authorizationKey,
      assignedPaymentId,
      refundedBy,
    })
    .from(sql`(select 1) as one`)
    .leftJoin(
      unmatchedTransfer,
      and(
        same(unmatchedTransfer),
        isNull(unmatchedTransfer.matchedPaymentId),
        sql`${scope} <> ${KEYLESS_SCOPE}`,
      ),
    )
    .orderBy(sql`${refundedBy} is not null`, sql`${assignedPaymentId} is not null`, unmatchedId)
  return {
    paid: rows[0]?.paid ?? 0,
    // Without one there is a row of nulls.
    unmatched: rows.flatMap(({ paid: _paid, unmatchedId: of, authorizationKey: by, ...row }) =>
      of !== null && by !== null ? [{ ...row, id: of, authorizationKey: by }] : [],
    ),
  }
}

/** Keeps a transfer once, however often it is seen. */
export async function insertUnmatched(db: Database, row: NewUnmatched): Promise<void> {
  await db
    .insert(unmatchedTransfer)
    .values({ ...row, id: createId('umt') })
    .onConflictDoNothing({
      target: [
        unmatchedTransfer.accountId,
        unmatchedTransfer.network,
        unmatchedTransfer.signature,
        unmatchedTransfer.authorizationKey,
      ],
    })
}

/** What returns the transfer of a transaction that was unmatched in the account; a paid refund before one under way. */
export async function findTransferRefund(
  db: Database,
  name: Name,
): Promise<TransferRefund | undefined> {
  const [row] = await db
    .select({ refundedBy })
    .from(unmatchedTransfer)
    .where(and(named(name), eq(unmatchedTransfer.authorizationKey, '')))
  return row?.refundedBy ?? undefined
}

type Returned = Name & Pick<UnmatchedRecord, 'asset' | 'amount'> & { recipient: string }

/**
 * In the transaction that records a payment which returns an unmatched transfer: locks the transfers of that transaction until it ends.
 * @returns where nothing is left to return for it: another payment that returns it already, or that a wallet may still send
 */
export async function lockReturned(
  tx: Database,
  { recipient, asset, amount, ...name }: Returned,
): Promise<TransferRefund | undefined> {
  await lockTransfer(tx, name)
  const rows = await tx
    .select({ amount: unmatchedTransfer.amount, refundedOrBuilt })
    .from(unmatchedTransfer)
    .where(
      and(
        named(name),
        isNull(unmatchedTransfer.matchedPaymentId),
        eq(unmatchedTransfer.sender, recipient),
        eq(unmatchedTransfer.asset, asset),
        lte(unmatchedTransfer.amount, amount),
      ),
    )
    .orderBy(desc(unmatchedTransfer.amount))
  // It returns one of the largest that it covers.
  const [first] = rows
  const covered = rows.filter((row) => row.amount === first?.amount)
  const isLeft = covered.some((row) => row.refundedOrBuilt === null)
  return isLeft ? undefined : (first?.refundedOrBuilt ?? undefined)
}

/**
 * The transfer pays an order or a resource after all; what a person had assigned it to is no longer so.
 * The caller has locked it. `authorizationKey`: of what of the transaction; by default of what it transfers itself.
 * @throws TransferRefundedError when the account returns it. What the service signed itself stays what it is, and so do other transfers of the same transaction.
 */
export async function markMatched(
  tx: Database,
  { authorizationKey = '', ...name }: Name & { authorizationKey?: string },
  paymentId: string,
): Promise<void> {
  // In the one statement, so that a transfer that never was unmatched costs nothing more.
  const refund = sql<TransferRefund | null>`(
    select ${refundedBy} from service.payment as paid where paid.id = ${paymentId} and paid.mode <> 'hosted'
      and paid.sender = unmatched_transfer.sender and paid.recipient = unmatched_transfer.recipient
      and paid.asset = unmatched_transfer.asset and paid.amount = unmatched_transfer.amount)`
  const [row] = await tx
    .update(unmatchedTransfer)
    .set({ matchedPaymentId: paymentId, assignedPaymentId: null })
    .where(and(named(name), eq(unmatchedTransfer.authorizationKey, authorizationKey)))
    .returning({ refund })
  if (row?.refund) throw new TransferRefundedError(row.refund)
}

/** The same of one of several transfers, that nothing returns: the caller has read it with `lockUses`. */
export async function markOneMatched(tx: Database, id: string, paymentId: string): Promise<void> {
  await tx
    .update(unmatchedTransfer)
    .set({ matchedPaymentId: paymentId, assignedPaymentId: null })
    .where(eq(unmatchedTransfer.id, id))
}

/** Transfers whose block may still be replaced. */
export function readUnsettled(db: Database, network: string): Promise<UnmatchedRecord[]> {
  return db
    .select()
    .from(unmatchedTransfer)
    .where(
      and(
        eq(unmatchedTransfer.network, network),
        isNull(unmatchedTransfer.finalizedAt),
        isNull(unmatchedTransfer.matchedPaymentId),
      ),
    )
    .limit(500)
}

/** The block that has it now, and whether that block is final. */
export async function setUnmatchedBlock(
  db: Database,
  id: string,
  facts: Pick<UnmatchedRecord, 'finalizedAt' | 'blockHeight' | 'blockHash' | 'blockTime'>,
): Promise<void> {
  await db.update(unmatchedTransfer).set(facts).where(eq(unmatchedTransfer.id, id))
}

/** It is certain that it moved nothing. @returns the payment to which a person had assigned it */
export async function deleteUnmatched(tx: Database, id: string): Promise<string | null> {
  const [row] = await tx
    .delete(unmatchedTransfer)
    .where(and(eq(unmatchedTransfer.id, id), isNull(unmatchedTransfer.finalizedAt)))
    .returning({ paymentId: unmatchedTransfer.assignedPaymentId })
  return row?.paymentId ?? null
}

const open = (accountId: string) =>
  and(eq(unmatchedTransfer.accountId, accountId), isNull(unmatchedTransfer.matchedPaymentId))

/** Of one that is built a list says that it is under way. It is in the order of the undecided ones until it may land. */
const listed = { ...getTableColumns(unmatchedTransfer), refundedBy: refundedOrBuilt }
export type ListedTransfer = UnmatchedRecord & { refundedBy: TransferRefund | null }

/**
 * An account's unmatched transfers and how many there are. Those that are neither assigned nor paid back come first, each part the newest first: no number
 * of later transfers hides one.
 */
export async function listUnmatched(
  db: Database,
  accountId: string,
  page: { limit: number; offset: number },
): Promise<{ rows: ListedTransfer[]; total: number; undecided: number }> {
  const decided = sql`(${unmatchedTransfer.assignedPaymentId} is not null or ${refundedBy} is not null)`
  const [rows, [counted]] = await Promise.all([
    db
      .select(listed)
      .from(unmatchedTransfer)
      .where(open(accountId))
      .orderBy(decided, desc(unmatchedTransfer.createdAt), desc(unmatchedTransfer.id))
      .limit(page.limit)
      .offset(page.offset),
    db
      .select({
        total: count(),
        undecided: sql<number>`count(*) filter (where not ${decided})::int`,
      })
      .from(unmatchedTransfer)
      .where(open(accountId)),
  ])
  return { rows, ...(counted ?? { total: 0, undecided: 0 }) }
}

/** One of an account's unmatched transfers. */
export async function findUnmatched(
  db: Database,
  accountId: string,
  id: string,
): Promise<ListedTransfer | undefined> {
  const [row] = await db
    .select(listed)
    .from(unmatchedTransfer)
    .where(and(open(accountId), eq(unmatchedTransfer.id, id)))
  return row
}

/** The transfers that a person assigned to these orders, by the order. */
export async function findAssigned(
  db: Database,
  paymentIds: readonly string[],
): Promise<Map<string, UnmatchedRecord>> {
  if (paymentIds.length === 0) return new Map()
  const rows = await db
    .select()
    .from(unmatchedTransfer)
    .where(inArray(unmatchedTransfer.assignedPaymentId, [...paymentIds]))
  return new Map(rows.map((row) => [row.assignedPaymentId ?? '', row]))
}

export type Assignment = { paymentId: string; by: string | null; note: string | null; at: Date }

/**
 * Records what a person decided about a transfer that nobody has decided about, or forgets that it is assigned to `from`. Undefined when it is matched, or
 * assigned otherwise, by now.
 */
export async function setAssignment(
  tx: Database,
  id: string,
  { from, to }: { from: string | null; to: Assignment | null },
): Promise<ListedTransfer | undefined> {
  const [row] = await tx
    .update(unmatchedTransfer)
    .set({
      assignedPaymentId: to?.paymentId ?? null,
      assignedBy: to?.by ?? null,
      assignedNote: to?.note ?? null,
      assignedAt: to?.at ?? null,
    })
    .where(
      and(
        eq(unmatchedTransfer.id, id),
        isNull(unmatchedTransfer.matchedPaymentId),
        from === null
          ? isNull(unmatchedTransfer.assignedPaymentId)
          : eq(unmatchedTransfer.assignedPaymentId, from),
      ),
    )
    .returning(listed)
  return row
}

/** Of each of these orders the newest unmatched transfer that its terms fit and that nothing returns, in a block after the order was built. */
export async function findFitting(
  db: Database,
  orderIds: readonly string[],
): Promise<Map<string, UnmatchedRecord>> {
  if (orderIds.length === 0) return new Map()
  const rows = await db
    .selectDistinctOn([payment.id], { id: payment.id, transfer: unmatchedTransfer })
    .from(payment)
    .innerJoin(
      unmatchedTransfer,
      and(
        eq(unmatchedTransfer.accountId, payment.accountId),
        isNull(unmatchedTransfer.matchedPaymentId),
        eq(unmatchedTransfer.network, payment.network),
        eq(unmatchedTransfer.sender, payment.sender),
        eq(unmatchedTransfer.recipient, payment.recipient),
        eq(unmatchedTransfer.asset, payment.asset),
        eq(unmatchedTransfer.amount, payment.amount),
        or(
          lt(payment.builtHeight, unmatchedTransfer.blockHeight),
          lt(payment.createdAt, unmatchedTransfer.blockTime),
        ),
        isNull(refundedBy),
      ),
    )
    .where(inArray(payment.id, [...orderIds]))
    .orderBy(payment.id, desc(unmatchedTransfer.blockHeight))
  return new Map(rows.map(({ id, transfer }) => [id, transfer]))
}

function named({ accountId, network, signature }: Name) {
  return and(
    eq(unmatchedTransfer.accountId, accountId),
    eq(unmatchedTransfer.network, network),
    eq(unmatchedTransfer.signature, signature),
  )
}
