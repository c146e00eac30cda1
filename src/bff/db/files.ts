import {
  and,
  desc,
  eq,
  getTableColumns,
  gt,
  inArray,
  isNotNull,
  isNull,
  lt,
  lte,
  not,
  notExists,
  or,
  sql,
} from 'drizzle-orm'
import type { Database } from '#postgres/open.ts'
import {
  filePresenter,
  filePurchase,
  fileSale,
  fileTicket,
  linkPayment,
  sessionPayment,
  type FilePriceRow,
} from './schema.ts'

export type { FilePriceRow }

export type FileRow = typeof fileSale.$inferSelect
export type PurchaseRow = typeof filePurchase.$inferSelect

export async function insertFile(db: Database, row: FileRow): Promise<void> {
  await db.insert(fileSale).values(row)
}

const { content: _, ...withoutContent } = getTableColumns(fileSale)
/** A text is read when it is sent: prices and lists do without. */
const LIGHT = { ...withoutContent, content: sql<null>`null` }

/** The text of a file whose source is one. */
export async function findContent(db: Database, id: string): Promise<string | null> {
  const [row] = await db
    .select({ content: fileSale.content })
    .from(fileSale)
    .where(eq(fileSale.id, id))
  return row?.content ?? null
}

/** Under which keys credentials of sources are sealed. */
export async function readSealingKeys(db: Database): Promise<string[]> {
  const keyId = sql<string>`${fileSale.credential}->>'vaultKeyId'`
  const rows = await db
    .selectDistinct({ keyId })
    .from(fileSale)
    .where(isNotNull(fileSale.credential))
    .orderBy(keyId)
  return rows.map((row) => row.keyId)
}

/** Newest first; without their texts. */
export async function listFiles(db: Database, limit: number): Promise<FileRow[]> {
  return db.select(LIGHT).from(fileSale).orderBy(desc(fileSale.createdAt), fileSale.id).limit(limit)
}

/** Without its text. */
export async function findFile(db: Database, id: string): Promise<FileRow | undefined> {
  return (await db.select(LIGHT).from(fileSale).where(eq(fileSale.id, id)))[0]
}

/** Without its text. */
export async function findFileByCode(db: Database, code: string): Promise<FileRow | undefined> {
  return (await db.select(LIGHT).from(fileSale).where(eq(fileSale.code, code)))[0]
}

/** The file that is sold by a link; without its text. */
export async function findFileByLink(db: Database, linkId: string): Promise<FileRow | undefined> {
  const sold = sql`${fileSale.prices} @> ${JSON.stringify([{ linkId }])}::jsonb`
  return (await db.select(LIGHT).from(fileSale).where(sold))[0]
}

/** What may change of a file. */
export type FileChange = Partial<Omit<FileRow, 'id' | 'code' | 'prices' | 'memoKey' | 'createdAt'>>

export async function updateFile(
  db: Database,
  id: string,
  change: FileChange,
): Promise<FileRow | undefined> {
  return (await db.update(fileSale).set(change).where(eq(fileSale.id, id)).returning(LIGHT))[0]
}

/** @returns whether it was there and nobody has bought it */
export async function deleteUnsoldFile(db: Database, id: string): Promise<boolean> {
  const sold = db.select().from(filePurchase).where(eq(filePurchase.fileId, fileSale.id))
  const rows = await db
    .delete(fileSale)
    .where(and(eq(fileSale.id, id), notExists(sold)))
    .returning({ id: fileSale.id })
  return rows.length > 0
}

/** `failed`: of the undelivered ones, those that the source failed. */
export type FileCounts = { sales: number; downloads: number; undelivered: number; failed: number }

export async function countPurchases(
  db: Database,
  fileIds: readonly string[],
): Promise<Map<string, FileCounts>> {
  if (fileIds.length === 0) return new Map()
  const rows = await db
    .select({
      fileId: filePurchase.fileId,
      sales: sql<number>`count(*)::int`,
      downloads: sql<number>`sum(${filePurchase.downloads})::int`,
      undelivered: sql<number>`(count(*) filter (where ${filePurchase.deliveredAt} is null))::int`,
      failed: sql<number>`count(${filePurchase.failedAt})::int`,
    })
    .from(filePurchase)
    .where(inArray(filePurchase.fileId, [...fileIds]))
    .groupBy(filePurchase.fileId)
  return new Map(rows.map(({ fileId, ...counts }) => [fileId, counts]))
}

export type NewPurchase = Pick<PurchaseRow, 'paymentId' | 'fileId' | 'wallet' | 'createdAt'>

/** Records a payment for a file, once. */
export async function insertPurchase(db: Database, purchase: NewPurchase): Promise<void> {
  await db
    .insert(filePurchase)
    .values({ ...purchase, downloads: 0 })
    .onConflictDoNothing()
}

/** The same of a payment that may have come through a link, which is not looked at again. */
export async function insertLinkPurchase(db: Database, purchase: NewPurchase): Promise<void> {
  await insertPurchase(db, purchase)
  await db
    .update(linkPayment)
    .set({ recorded: true })
    .where(and(eq(linkPayment.paymentId, purchase.paymentId), not(linkPayment.recorded)))
}

/** Who presented a proof is remembered for so long. */
export const PRESENTER_RETENTION_MS = 30 * 24 * 3_600_000

/** Payments that bought a file: those of wallets, and of these payments those that did. Newest first. */
export async function findPurchases(
  db: Database,
  fileId: string,
  { wallets, paymentIds }: { wallets: readonly string[]; paymentIds: readonly string[] },
): Promise<string[]> {
  const own = or(
    inArray(filePurchase.wallet, [...wallets]),
    inArray(filePurchase.paymentId, [...paymentIds]),
  )
  const rows = await db
    .select({ paymentId: filePurchase.paymentId })
    .from(filePurchase)
    .where(and(eq(filePurchase.fileId, fileId), own))
    .orderBy(desc(filePurchase.createdAt), filePurchase.paymentId)
  return rows.map(({ paymentId }) => paymentId)
}

/** Notes who presents a proof, unless somebody did before. @returns who did so first */
export async function notePresenter(
  db: Database,
  row: typeof filePresenter.$inferInsert,
): Promise<string | undefined> {
  const [stored] = await db
    .insert(filePresenter)
    .values(row)
    .onConflictDoUpdate({
      target: filePresenter.proof,
      // Changes nothing, and returns the row that is there.
      set: { presenter: sql`${filePresenter.presenter}` },
    })
    .returning({ presenter: filePresenter.presenter })
  return stored?.presenter
}

/** Forgets who presented a proof that was refused. */
export async function deletePresenter(
  db: Database,
  { proof, presenter }: Pick<typeof filePresenter.$inferInsert, 'proof' | 'presenter'>,
): Promise<void> {
  await db
    .delete(filePresenter)
    .where(and(eq(filePresenter.proof, proof), eq(filePresenter.presenter, presenter)))
}

export async function deleteOldPresenters(db: Database, now: Date): Promise<void> {
  const before = new Date(now.getTime() - PRESENTER_RETENTION_MS)
  await db.delete(filePresenter).where(lt(filePresenter.presentedAt, before))
}

/** The payments of a file's links that are paid and not recorded as a purchase yet, oldest first. */
export async function unrecordedPayments(
  db: Database,
  linkIds: readonly string[],
  limit: number,
): Promise<{ paymentId: string; linkId: string }[]> {
  const rows = await db
    .select({ paymentId: linkPayment.paymentId, linkId: linkPayment.linkId })
    .from(linkPayment)
    .where(
      and(
        inArray(linkPayment.linkId, [...linkIds]),
        // Without parameters: otherwise the index of these would not be used.
        sql`not ${linkPayment.recorded} and ${linkPayment.status} in ('confirmed', 'finalized')`,
      ),
    )
    .orderBy(linkPayment.createdAt)
    .limit(limit)
  return rows.flatMap(({ paymentId, linkId }) =>
    paymentId === null ? [] : [{ paymentId, linkId }],
  )
}

/** The payments that a session had built through these links, newest first. */
export async function sessionPurchases(
  db: Database,
  sessionId: string,
  linkIds: readonly string[],
): Promise<string[]> {
  const rows = await db
    .select({ paymentId: sessionPayment.paymentId })
    .from(sessionPayment)
    .innerJoin(linkPayment, eq(linkPayment.paymentId, sessionPayment.paymentId))
    .where(and(eq(sessionPayment.sessionId, sessionId), inArray(linkPayment.linkId, [...linkIds])))
    .orderBy(desc(linkPayment.createdAt))
  return rows.map(({ paymentId }) => paymentId)
}

/**
 * Begins to send the file for the proof of a payment: of many requests at once one does, and none
 * after the file was delivered.
 */
export async function startSending(
  db: Database,
  paymentId: string,
  { now, until }: { now: Date; until: Date },
): Promise<boolean> {
  const free = or(isNull(filePurchase.sendingUntil), lt(filePurchase.sendingUntil, now))
  const rows = await db
    .update(filePurchase)
    .set({ sendingUntil: until })
    .where(and(eq(filePurchase.paymentId, paymentId), isNull(filePurchase.deliveredAt), free))
    .returning({ paymentId: filePurchase.paymentId })
  return rows.length > 0
}

/**
 * Stands in `sending_until` while anybody may begin, and what became of the last delivery is not settled yet: the service may list the payment as
 * undelivered though it is delivered, or not list it though it is not.
 */
export const UNSETTLED = new Date(0)

/**
 * The first whole delivery is unsettled where the service may list the payment as undelivered: it was told so, or told nobody that the payment is settled
 * (`byTicket`).
 * @returns whether it is unsettled
 */
export async function noteDelivered(
  db: Database,
  paymentId: string,
  { at, byTicket }: { at: Date; byTicket: boolean },
): Promise<boolean> {
  const { deliveredAt, reportedAt, sendingUntil, downloads } = filePurchase
  const mayBeListed = sql`${deliveredAt} is null and (${byTicket} or ${reportedAt} is not null)`
  const [row] = await db
    .update(filePurchase)
    .set({
      deliveredAt: sql`coalesce(${deliveredAt}, ${at.toISOString()}::timestamptz)`,
      downloads: sql`${downloads} + 1`,
      sendingUntil: sql`case when ${mayBeListed} then ${UNSETTLED.toISOString()}::timestamptz
        when ${deliveredAt} is not null then ${sendingUntil} end`,
      failedAt: null,
    })
    .where(eq(filePurchase.paymentId, paymentId))
    .returning({ sendingUntil })
  return row?.sendingUntil?.getTime() === UNSETTLED.getTime()
}

/** What became of the delivery is settled. */
export async function noteSettled(db: Database, paymentId: string): Promise<void> {
  await db
    .update(filePurchase)
    .set({ sendingUntil: null })
    .where(and(eq(filePurchase.paymentId, paymentId), eq(filePurchase.sendingUntil, UNSETTLED)))
}

/** The service is about to be told what became of a delivery; a request that sends the file meanwhile settles it by its own end. */
export async function noteUnsettled(db: Database, paymentId: string): Promise<void> {
  await db
    .update(filePurchase)
    .set({ sendingUntil: UNSETTLED })
    .where(and(eq(filePurchase.paymentId, paymentId), isNull(filePurchase.sendingUntil)))
}

/** Whether a payment has had no whole delivery. `again`: also where the service was told so before. */
export async function isUndelivered(
  db: Database,
  paymentId: string,
  { again }: { again: boolean },
): Promise<boolean> {
  const open = and(eq(filePurchase.paymentId, paymentId), isNull(filePurchase.deliveredAt))
  const unreported = again ? undefined : isNull(filePurchase.reportedAt)
  return (await db.$count(filePurchase, and(open, unreported))) > 0
}

/**
 * The service was told that nothing was delivered.
 * @returns false where it was delivered meanwhile
 */
export async function noteReported(
  db: Database,
  paymentId: string,
  reportedAt: Date,
): Promise<boolean> {
  const rows = await db
    .update(filePurchase)
    .set({ reportedAt })
    .where(and(eq(filePurchase.paymentId, paymentId), isNull(filePurchase.deliveredAt)))
    .returning({ paymentId: filePurchase.paymentId })
  return rows.length > 0
}

/**
 * Sets until when a file is being sent; null: it is no more.
 * @returns false where it was delivered, or another request began after `from`
 */
export async function moveSending(
  db: Database,
  paymentId: string,
  { from, to }: { from: Date; to: Date | null },
): Promise<boolean> {
  const own = and(eq(filePurchase.paymentId, paymentId), eq(filePurchase.sendingUntil, from))
  const rows = await db
    .update(filePurchase)
    .set({ sendingUntil: to })
    .where(and(own, isNull(filePurchase.deliveredAt)))
    .returning({ paymentId: filePurchase.paymentId })
  return rows.length > 0
}

/** The source gave no file for a payment, of which nothing was delivered yet. */
export async function noteFailed(db: Database, paymentId: string, failedAt: Date): Promise<void> {
  await db
    .update(filePurchase)
    .set({ failedAt })
    .where(and(eq(filePurchase.paymentId, paymentId), isNull(filePurchase.deliveredAt)))
}

/** Failures whose payments were refunded in full, in final blocks: they are none any more. */
export async function closeFailures(db: Database, paymentIds: readonly string[]): Promise<void> {
  if (paymentIds.length === 0) return
  await db
    .update(filePurchase)
    .set({ failedAt: null })
    .where(inArray(filePurchase.paymentId, [...paymentIds]))
}

/** Payments whose source failed and that the service's list of undelivered payments does not have, newest first. */
export async function unreportedFailures(
  db: Database,
  { limit, offset }: { limit: number; offset: number },
): Promise<string[]> {
  const rows = await db
    .select({ paymentId: filePurchase.paymentId })
    .from(filePurchase)
    .where(and(isNotNull(filePurchase.failedAt), isNull(filePurchase.reportedAt)))
    .orderBy(desc(filePurchase.failedAt), desc(filePurchase.paymentId))
    .limit(limit)
    .offset(offset)
  return rows.map(({ paymentId }) => paymentId)
}

/** Payments whose file was being sent by a process that ended, or of which the service was not told. */
export async function lostSendings(
  db: Database,
  now: Date,
  limit: number,
): Promise<{ paymentId: string; until: Date; delivered: boolean }[]> {
  const { paymentId, sendingUntil, deliveredAt } = filePurchase
  const rows = await db
    .select({ paymentId, until: sendingUntil, deliveredAt })
    .from(filePurchase)
    .where(lt(sendingUntil, now))
    .limit(limit)
  return rows.flatMap(({ until, deliveredAt: at, ...row }) =>
    until === null ? [] : [{ ...row, until, delivered: at !== null }],
  )
}

export async function insertTicket(
  db: Database,
  ticket: { ticketHash: string; paymentId: string; expiresAt: Date },
): Promise<void> {
  await db.insert(fileTicket).values(ticket)
}

type Ticket = { ticketHash: string; now: Date }

/** What a ticket is for. */
export async function findTicket(
  db: Database,
  ticket: Ticket,
): Promise<{ file: FileRow; paymentId: string } | undefined> {
  const [row] = await db
    .select({ file: fileSale, paymentId: filePurchase.paymentId })
    .from(fileTicket)
    .innerJoin(filePurchase, eq(filePurchase.paymentId, fileTicket.paymentId))
    .innerJoin(fileSale, eq(fileSale.id, filePurchase.fileId))
    .where(isGood(ticket))
  return row
}

/** Takes a ticket: of two requests with one, one gets it. */
export async function takeTicket(db: Database, ticket: Ticket): Promise<boolean> {
  const rows = await db
    .delete(fileTicket)
    .where(isGood(ticket))
    .returning({ paymentId: fileTicket.paymentId })
  return rows.length > 0
}

function isGood({ ticketHash, now }: Ticket) {
  return and(eq(fileTicket.ticketHash, ticketHash), gt(fileTicket.expiresAt, now))
}

export async function deleteExpiredTickets(db: Database, now: Date): Promise<void> {
  await db.delete(fileTicket).where(lte(fileTicket.expiresAt, now))
}
