import { and, desc, eq, gt, inArray, isNull, ne, or, sql } from 'drizzle-orm'
import type { Database } from '#postgres/open.ts'
import { linkKey, linkPayment, paymentLink } from './schema.ts'

export type LinkRow = typeof paymentLink.$inferSelect
export type LinkKeyRow = typeof linkKey.$inferSelect
export type LinkPaymentRow = typeof linkPayment.$inferSelect

/** The money is there, or on its way; also what a block took back, which may land again. */
const TAKEN = ['pending', 'confirmed', 'finalized', 'rolled_back']
const PAID = ['confirmed', 'finalized']
/** May still become another. */
const MOVING = ['created', 'pending', 'confirmed', 'rolled_back']
/** The chain wins over an expiry for this long. */
const AFTERLIFE_MS = 24 * 3_600_000
/** Somebody else's payment that is not on its way by then stands in nobody's way any more: it was good for one minute. */
const HELD_MS = 120_000

export async function insertLinkKey(db: Database, row: LinkKeyRow): Promise<void> {
  await db.insert(linkKey).values(row)
}

export async function findLinkKey(db: Database, id: string): Promise<LinkKeyRow | undefined> {
  return (await db.select().from(linkKey).where(eq(linkKey.id, id)))[0]
}

export async function newestLinkKey(db: Database): Promise<LinkKeyRow | undefined> {
  return (await db.select().from(linkKey).orderBy(desc(linkKey.createdAt)).limit(1))[0]
}

export async function insertLink(db: Database, row: LinkRow): Promise<void> {
  await db.insert(paymentLink).values(row)
}

export async function findLink(db: Database, id: string): Promise<LinkRow | undefined> {
  return (await db.select().from(paymentLink).where(eq(paymentLink.id, id)))[0]
}

export async function listLinks(db: Database, limit: number): Promise<LinkRow[]> {
  return db
    .select()
    .from(paymentLink)
    .orderBy(desc(paymentLink.createdAt), desc(paymentLink.id))
    .limit(limit)
}

export async function setWithdrawn(
  db: Database,
  id: string,
  withdrawnAt: Date | null,
): Promise<LinkRow | undefined> {
  return (
    await db.update(paymentLink).set({ withdrawnAt }).where(eq(paymentLink.id, id)).returning()
  )[0]
}

export type LinkCounts = { paid: number; pending: number; taken: number }

/** What became of each link's payments, as last told. */
export async function countPayments(
  db: Database,
  linkIds: readonly string[],
): Promise<Map<string, LinkCounts>> {
  const counts = new Map<string, LinkCounts>(
    linkIds.map((id) => [id, { paid: 0, pending: 0, taken: 0 }]),
  )
  if (linkIds.length === 0) return counts
  const rows = await db
    .select({
      linkId: linkPayment.linkId,
      status: linkPayment.status,
      count: sql<string>`count(*)`,
    })
    .from(linkPayment)
    .where(inArray(linkPayment.linkId, [...linkIds]))
    .groupBy(linkPayment.linkId, linkPayment.status)
  for (const { linkId, status, count } of rows) {
    const known = counts.get(linkId)
    if (!known) continue
    if (PAID.includes(status)) known.paid += Number(count)
    else if (TAKEN.includes(status)) known.pending += Number(count)
    if (TAKEN.includes(status)) known.taken += Number(count)
  }
  return counts
}

/** Payments of links whose status the service may tell anew, the oldest first. */
export async function unsettledPayments(
  db: Database,
  linkIds: readonly string[],
  limits: { now: Date; most: number },
): Promise<LinkPaymentRow[]> {
  if (linkIds.length === 0) return []
  const since = new Date(limits.now.getTime() - AFTERLIFE_MS)
  return db
    .select()
    .from(linkPayment)
    .where(
      and(
        inArray(linkPayment.linkId, [...linkIds]),
        or(
          inArray(linkPayment.status, MOVING),
          and(eq(linkPayment.status, 'expired'), gt(linkPayment.createdAt, since)),
        ),
      ),
    )
    .orderBy(linkPayment.createdAt)
    .limit(limits.most)
}

export async function setPaymentStatus(db: Database, id: string, status: string): Promise<void> {
  await db.update(linkPayment).set({ status }).where(eq(linkPayment.id, id))
}

/** `id` of the place, and who takes it. */
export type NewPlace = {
  id: string
  sessionId: string | undefined
  requestKey: string | undefined
  now: Date
}

/** The place that a request took before under the same key, of the same session. */
export async function findPlace(
  db: Database,
  linkId: string,
  { sessionId, requestKey }: Pick<NewPlace, 'sessionId' | 'requestKey'>,
): Promise<LinkPaymentRow | undefined> {
  if (requestKey === undefined) return undefined
  const own =
    sessionId === undefined ? isNull(linkPayment.sessionId) : eq(linkPayment.sessionId, sessionId)
  return (
    await db
      .select()
      .from(linkPayment)
      .where(and(eq(linkPayment.linkId, linkId), eq(linkPayment.requestKey, requestKey), own))
  )[0]
}

/**
 * Takes a place among the payments of a link, for one that is about to be built. Whoever comes at the same moment waits for the row of
 * the link, so that the last place goes to one of them.
 * @returns nothing when all places are taken by payments that landed, are on their way, or are just being made by others
 */
export async function takePlace(
  db: Database,
  link: LinkRow,
  place: NewPlace,
): Promise<LinkPaymentRow | undefined> {
  return db.transaction(async (tx) => {
    await tx
      .select({ id: paymentLink.id })
      .from(paymentLink)
      .where(eq(paymentLink.id, link.id))
      .for('update')
    if (link.maxPayments !== null && (await takenPlaces(tx, link.id, place)) >= link.maxPayments)
      return undefined
    const { id, sessionId = null, requestKey = null, now } = place
    const row = {
      id,
      linkId: link.id,
      sessionId,
      requestKey,
      paymentId: null,
      status: 'building',
      createdAt: now,
    }
    await tx.insert(linkPayment).values(row)
    return row
  })
}

/** A payer's own payment that was never signed does not stand in their way; another's does for two minutes. */
async function takenPlaces(
  db: Pick<Database, 'select'>,
  linkId: string,
  { sessionId, now }: NewPlace,
): Promise<number> {
  const others =
    sessionId === undefined
      ? undefined
      : or(isNull(linkPayment.sessionId), ne(linkPayment.sessionId, sessionId))
  const held = and(
    inArray(linkPayment.status, ['building', 'created']),
    gt(linkPayment.createdAt, new Date(now.getTime() - HELD_MS)),
  )
  const rows = await db
    .select({ count: sql<string>`count(*)` })
    .from(linkPayment)
    .where(
      and(
        eq(linkPayment.linkId, linkId),
        or(inArray(linkPayment.status, TAKEN), and(held, others)),
      ),
    )
  return Number(rows[0]?.count ?? 0)
}

/** What was built in a place. */
export type Filling = { id: string; sessionId: string; paymentId: string; now: Date }

/**
 * Writes down the payment of a place. A place that has another one already was filled by an answer that its payer lost: both are payments of the link,
 * and the later one gets a row with the id of `made`.
 */
export async function fillPlace(db: Database, place: LinkPaymentRow, made: Filling): Promise<void> {
  const { id, sessionId, paymentId, now } = made
  const filled = await db
    .update(linkPayment)
    .set({ sessionId, paymentId, status: 'created' })
    .where(and(eq(linkPayment.id, place.id), eq(linkPayment.status, 'building')))
    .returning({ id: linkPayment.id })
  if (filled.length > 0) return
  const row = {
    id,
    linkId: place.linkId,
    sessionId,
    requestKey: null,
    paymentId,
    status: 'created',
    createdAt: now,
  }
  await db.insert(linkPayment).values(row).onConflictDoNothing({ target: linkPayment.paymentId })
}

/** Nothing was built. */
export async function leavePlace(db: Database, id: string): Promise<void> {
  await db.delete(linkPayment).where(and(eq(linkPayment.id, id), isNull(linkPayment.paymentId)))
}
