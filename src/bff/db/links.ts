import { and, desc, eq, inArray, isNotNull, isNull, lt, or, sql, type SQL } from 'drizzle-orm'
import type { Database } from '#postgres/open.ts'
import { linkKey, linkPayment, paymentLink } from './schema.ts'
import { lockLink, PAID, settleSurplus } from './surplus.ts'

export type LinkRow = typeof paymentLink.$inferSelect
export type LinkKeyRow = typeof linkKey.$inferSelect
export type LinkPaymentRow = typeof linkPayment.$inferSelect

/** The money has arrived or is on its way. A rolled-back payment counts too: it may land again. */
export const TAKEN = ['pending', 'confirmed', 'finalized', 'rolled_back']
/** May still change to another status. */
const MOVING = ['created', 'pending', 'confirmed', 'rolled_back']
/** An expired payment is checked again for this long: the chain overrides an expiry. */
const AFTERLIFE_MS = 24 * 3_600_000
/** And once more where nobody has looked since the service gave it up, within a week. */
const LAST_LOOK_MS = 7 * AFTERLIFE_MS
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

export async function findShortLink(db: Database, code: string): Promise<LinkRow | undefined> {
  return (await db.select().from(paymentLink).where(eq(paymentLink.code, code)))[0]
}

export async function listLinks(db: Database, limit: number): Promise<LinkRow[]> {
  return db
    .select()
    .from(paymentLink)
    .where(ofNoInvoice())
    .orderBy(desc(paymentLink.createdAt), desc(paymentLink.id))
    .limit(limit)
}

/** The link of an invoice opens and closes with the invoice alone. Its terms name the invoice from the start. */
function ofNoInvoice() {
  return sql`${paymentLink.short} ->> 'invoice' is null`
}

/** @returns nothing where the seller has no such link, or an invoice decides about it */
export async function setWithdrawn(
  db: Database,
  id: string,
  withdrawnAt: Date | null,
): Promise<LinkRow | undefined> {
  return (
    await db
      .update(paymentLink)
      .set({ withdrawnAt })
      .where(and(eq(paymentLink.id, id), ofNoInvoice()))
      .returning()
  )[0]
}

export type LinkCounts = { paid: number; pending: number; taken: number }

/**
 * Within a query: a payment that is still on its way an hour after it was built holds no place. Its
 * sender may keep it from being mined, at no cost; if it lands, it is there all the same.
 */
export const holdsPlace = sql`(${linkPayment.status} <> 'pending' or ${linkPayment.createdAt} > now() - interval '1 hour')`

/** The number of payments of each link, by their last known status. */
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
    .where(and(inArray(linkPayment.linkId, [...linkIds]), holdsPlace))
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

/** A link that takes so many payments. */
export type LimitedLink = Pick<LinkRow, 'id'> & { maxPayments: number }

/**
 * How many payments a link has. Where it has all that it takes, the others are not counted in full.
 * One status at a time, in the order of the index: for one payment of any status Postgres would read
 * the table.
 */
export async function countTaken(db: Database, { id, maxPayments }: LimitedLink): Promise<number> {
  const { rows } = await db.execute<{ count: string }>(sql`
    select count(*)::text as count from unnest(${textArray(TAKEN)}) as one (status)
    cross join lateral (
      select 1 from ${linkPayment}
      where ${linkPayment.linkId} = ${id} and ${linkPayment.status} = one.status and ${holdsPlace}
      order by ${linkPayment.createdAt} desc limit ${maxPayments}
    ) as found`)
  return Number(rows[0]?.count ?? 0)
}

export function textArray(values: readonly string[]): SQL {
  const each = values.map((value) => sql`${value}`)
  return sql`array[${sql.join(each, sql`, `)}]::text[]`
}

/** Within a query: whether the status of a link's payment may still change. */
export function mayChange(now: Date) {
  return or(
    inArray(linkPayment.status, MOVING),
    and(eq(linkPayment.status, 'expired'), isLookedAtAgain(now)),
  )
}

/** Of an expired payment. The service looks for one for 25 hours. */
function isLookedAtAgain(now: Date): SQL {
  const ago = (ms: number) => sql`${new Date(now.getTime() - ms).toISOString()}::timestamptz`
  const { createdAt, checkedAt } = linkPayment
  return sql`${createdAt} > ${ago(LAST_LOOK_MS)} and (${createdAt} > ${ago(AFTERLIFE_MS)}
    or ${checkedAt} is null or ${checkedAt} < ${createdAt} + interval '26 hours')`
}

type Limits = { now: Date; most: number }

/** However many links are asked for at once, so many payments of each come into question. */
const LEAST_OF_LINK = 10
/** Of a link's expired payments, the newest that come into question. Events tell of any that lands. */
const MOST_EXPIRED = 200

/**
 * Payments of these links whose status may still change, for the service to be asked. Each link has
 * its turn before a link has a second one: nobody's unsigned payments hold up those of other links.
 */
export async function takeUnsettledPayments(
  db: Database,
  linkIds: readonly string[],
  limits: Limits,
): Promise<LinkPaymentRow[]> {
  if (linkIds.length === 0) return []
  const { now, most } = limits
  const fair = Math.max(LEAST_OF_LINK, Math.ceil(most / linkIds.length))
  const facts = sql`${linkPayment.id}, ${linkPayment.checkedAt}, ${linkPayment.createdAt}`
  // Without parameters: otherwise the index of these statuses would not be used.
  const moving = sql.raw(MOVING.map((status) => `'${status}'`).join(', '))
  const { rows } = await db.execute<{ id: string }>(sql`
    select found.id from unnest(${textArray([...new Set(linkIds)])}) as link (id)
    cross join lateral (
      select id, checked_at, row_number() over (order by checked_at nulls first, created_at) as turn from (
        (select ${facts} from ${linkPayment} where ${linkPayment.linkId} = link.id and ${linkPayment.status} in (${moving})
          order by ${linkPayment.checkedAt} nulls first, ${linkPayment.createdAt} limit ${fair})
        union all
        (select ${facts} from ${linkPayment} where ${linkPayment.linkId} = link.id and ${linkPayment.status} = 'expired'
          and ${isLookedAtAgain(now)} order by ${linkPayment.createdAt} desc limit ${MOST_EXPIRED})
      ) as payment order by turn limit ${fair}
    ) as found
    order by found.turn, found.checked_at nulls first limit ${most}`)
  return recordChecked(
    db,
    rows.map(({ id }) => id),
    now,
  )
}

/** The same of all links that take so many payments, those that were asked for longest ago first. */
export async function takeUnsettledOfLimited(
  db: Database,
  { now, most }: Limits,
): Promise<LinkPaymentRow[]> {
  const rows = await db
    .select({ id: linkPayment.id })
    .from(linkPayment)
    .innerJoin(paymentLink, eq(paymentLink.id, linkPayment.linkId))
    .where(and(isNotNull(paymentLink.maxPayments), mayChange(now)))
    .orderBy(sql`${linkPayment.checkedAt} asc nulls first`, linkPayment.createdAt)
    .limit(most)
  const ids = rows.map(({ id }) => id)
  return recordChecked(db, ids, now)
}

/** An order that its payer left unsigned has ended at the service by then. */
const ABANDONED_MS = 3_600_000
const ABANDONED_AGAIN_MS = 24 * 3_600_000

/**
 * Orders of any link that were not signed, the oldest first. No event tells of the end of one. Of those
 * that the service calls open the next look is a day later.
 */
export async function takeAbandoned(
  db: Database,
  { now, most }: Limits,
): Promise<LinkPaymentRow[]> {
  const ago = (ms: number) => new Date(now.getTime() - ms)
  const { id, status, createdAt, checkedAt } = linkPayment
  const isDue = or(isNull(checkedAt), lt(checkedAt, ago(ABANDONED_AGAIN_MS)))
  const rows = await db
    .select({ id })
    .from(linkPayment)
    .where(and(eq(status, 'created'), lt(createdAt, ago(ABANDONED_MS)), isDue))
    .orderBy(createdAt)
    .limit(most)
  return recordChecked(
    db,
    rows.map((row) => row.id),
    now,
  )
}

/** Of these payments the service is asked now. */
export async function recordChecked(
  db: Database,
  ids: readonly string[],
  checkedAt: Date,
): Promise<LinkPaymentRow[]> {
  if (ids.length === 0) return []
  return db
    .update(linkPayment)
    .set({ checkedAt })
    .where(inArray(linkPayment.id, [...ids]))
    .returning()
}

/**
 * Writes the status of a link's payment, unless another one was written since the row was read: that
 * one may be newer. The first time that it is paid it gets its number of arrival. Where it arrives, or
 * is gone again, it is settled who pays the link. Payments that do so at once wait for the row of the
 * link: no number is given twice.
 */
export async function setPaymentStatus(
  db: Database,
  row: LinkPaymentRow,
  status: string,
): Promise<void> {
  const { id, linkId, status: from, arrival } = row
  const isSame = and(eq(linkPayment.id, id), eq(linkPayment.status, from))
  const isPaid = PAID.includes(status)
  if (isPaid === PAID.includes(from) && (!isPaid || arrival !== null)) {
    await db.update(linkPayment).set({ status, presenter: null }).where(isSame)
    return
  }
  await db.transaction(async (tx) => {
    await lockLink(tx, linkId)
    await tx
      .update(linkPayment)
      .set({ status, presenter: null, ...(isPaid && { arrival: nextArrival(linkId) }) })
      .where(isSame)
    await settleSurplus(tx, row)
  })
}

/** Of a payment of a link that is locked: its number of arrival, or the next one. */
function nextArrival(linkId: string): SQL {
  return sql`coalesce(${linkPayment.arrival}, (
    select coalesce(max(counted.arrival), 0) + 1 from ${linkPayment} as counted where counted.link_id = ${linkId}))`
}

/** How far a payment has come. Of a rolled-back one only an event that it is final says more. */
const PROGRESS = [
  'created',
  'pending',
  'expired',
  'failed',
  'confirmed',
  'rolled_back',
  'finalized',
]

/**
 * Writes the status that an event tells, where it is further than what is known: events may come
 * late, and again after a lost connection. For a payment that goes back the service is asked, since
 * the event may be an old one: see `refreshRolledBack`.
 */
export async function noteStatusEvent(
  db: Database,
  paymentId: string,
  status: string,
): Promise<void> {
  if (status === 'created' || status === 'rolled_back') return
  const row = await findLinkPayment(db, paymentId)
  if (row && PROGRESS.indexOf(status) > PROGRESS.indexOf(row.status))
    await setPaymentStatus(db, row, status)
}

/** Undefined for a payment that no link has. */
export async function findLinkPayment(
  db: Database,
  paymentId: string,
): Promise<LinkPaymentRow | undefined> {
  const [row] = await db.select().from(linkPayment).where(eq(linkPayment.paymentId, paymentId))
  return row
}

/** Which of these payments were made through these links. */
export async function paymentsOfLinks(
  db: Database,
  linkIds: readonly string[],
  paymentIds: readonly string[],
): Promise<{ linkId: string; paymentId: string | null }[]> {
  if (linkIds.length === 0 || paymentIds.length === 0) return []
  return db
    .select({ linkId: linkPayment.linkId, paymentId: linkPayment.paymentId })
    .from(linkPayment)
    .where(
      and(
        inArray(linkPayment.paymentId, [...paymentIds]),
        inArray(linkPayment.linkId, [...linkIds]),
      ),
    )
}

/**
 * When a payment that has no row in a restored database was made at the earliest: that of the newest
 * row, or of the oldest link. Undefined without a link.
 */
export async function readNewestUse(db: Database): Promise<Date | undefined> {
  const [newest] = await db
    .select({ at: linkPayment.createdAt })
    .from(linkPayment)
    .orderBy(desc(linkPayment.createdAt))
    .limit(1)
  if (newest) return newest.at
  const [oldest] = await db
    .select({ at: paymentLink.createdAt })
    .from(paymentLink)
    .orderBy(paymentLink.createdAt)
    .limit(1)
  return oldest?.at
}

/**
 * The row of a payment that a restored database does not have, with the status of the service.
 * @returns false where it has one, or the link is not known
 */
export async function restoreLinkUse(
  db: Database,
  {
    status,
    ...made
  }: Pick<LinkPaymentRow, 'id' | 'linkId' | 'status' | 'createdAt'> & {
    paymentId: string
    sender: string
  },
): Promise<boolean> {
  if (!(await findLink(db, made.linkId))) return false
  const [row] = await db
    .insert(linkPayment)
    .values({ ...made, status: 'created' })
    .onConflictDoNothing({ target: linkPayment.paymentId })
    .returning()
  if (!row) return false
  if (status !== row.status) await setPaymentStatus(db, row, status)
  return true
}
