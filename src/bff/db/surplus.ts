import { and, asc, eq, inArray, isNotNull, isNull, sql } from 'drizzle-orm'
import type { Database } from '#postgres/open.ts'
import { invoice, linkPayment, paymentLink, type Refunded } from './schema.ts'

/**
 * Which payments of a link pay it, and which are owed back. The rule, for links and invoices alike:
 * of the payments that arrived and did not go back in full, in the order of arrival, the first ones
 * pay, as many as the link takes. All later ones are surplus. A payment that went back in full pays
 * nothing, so the next one takes its place: the merchant then has the money for the link once, and
 * owes nothing. A refund in part leaves a payment in its place. A void invoice takes none: all that
 * arrives is surplus. Of a link that takes any number nothing is.
 *
 * The column `surplus` says so of each payment. It is written in the transaction that changes what it
 * follows from, the status or the refund of a payment, while the row of the link is locked.
 */

type Row = typeof linkPayment.$inferSelect
type Transaction = Parameters<Parameters<Database['transaction']>[0]>[0]

/** The money has arrived. */
export const PAID = ['confirmed', 'finalized']

/** Of the payments of a link, in the order of arrival, the first one that pays it. */
export function firstPaying<T extends Pick<Row, 'status' | 'refunded' | 'surplus'>>(
  payments: readonly T[],
): T | undefined {
  return payments.find((each) => PAID.includes(each.status) && !each.refunded && !each.surplus)
}

/** Arrived, and did not go back in full. Without parameters: otherwise no partial index is used. */
const stands = sql`(${linkPayment.status} in ('confirmed', 'finalized') and ${linkPayment.refunded} is null)`

/**
 * Makes all who change what counts of a link's payments wait for each other, until the transaction ends.
 * @returns how many payments the link takes; null for any number
 */
export async function lockLink(tx: Transaction, linkId: string): Promise<number | null> {
  const [link] = await tx
    .select({ maxPayments: paymentLink.maxPayments })
    .from(paymentLink)
    .where(eq(paymentLink.id, linkId))
    .for('update')
  return link?.maxPayments ?? null
}

/**
 * After the status or the refund of one payment of a link has changed: who pays the link now. Besides
 * that payment the one at the end of those that pay, and the one after it, may have changed sides.
 * The caller has locked the link.
 */
export async function settleSurplus(
  tx: Transaction,
  { id, linkId }: Pick<Row, 'id' | 'linkId'>,
): Promise<void> {
  const [link] = await tx
    .select({
      takes: sql<number | null>`case when exists (
        select 1 from ${invoice} where ${invoice.linkId} = ${linkId} and ${invoice.state} = 'void'
      ) then 0 else ${paymentLink.maxPayments} end`,
      arrived: sql<number>`coalesce((
        select max(${linkPayment.arrival}) from ${linkPayment} where ${linkPayment.linkId} = ${linkId}
      ), 0)`,
    })
    .from(paymentLink)
    .where(eq(paymentLink.id, linkId))
  // No more than it takes have ever arrived.
  if (!link || link.takes === null || link.arrived <= link.takes) return
  const { takes } = link
  const edge = await tx
    .select({ id: linkPayment.id, arrival: linkPayment.arrival })
    .from(linkPayment)
    .where(and(eq(linkPayment.linkId, linkId), isNotNull(linkPayment.arrival), stands))
    .orderBy(linkPayment.arrival)
    .offset(Math.max(takes - 1, 0))
    .limit(2)
  // Of the last payment that pays; undefined where all that there are pay.
  const last = takes === 0 ? 0 : edge[0]?.arrival
  await tx
    .update(linkPayment)
    .set({
      surplus: last === undefined ? false : sql`${stands} and ${linkPayment.arrival} > ${last}`,
    })
    .where(inArray(linkPayment.id, [id, ...edge.map((each) => each.id)]))
}

/**
 * Notes whether a payment went back in full, unless something else was noted since the row was read.
 * @returns whether that changed who pays the link
 */
export async function setRefunded(
  db: Database,
  row: Pick<Row, 'id' | 'linkId' | 'refunded'>,
  refunded: Refunded | null,
): Promise<boolean> {
  const { id, linkId, refunded: from } = row
  if (refunded === from) return false
  const isSame = and(
    eq(linkPayment.id, id),
    from === null ? isNull(linkPayment.refunded) : eq(linkPayment.refunded, from),
  )
  if (refunded !== null && from !== null) {
    await db.update(linkPayment).set({ refunded }).where(isSame)
    return false
  }
  return db.transaction(async (tx) => {
    // Of a link that takes any number nothing follows from it.
    if ((await lockLink(tx, linkId)) === null) return false
    const changed = await tx
      .update(linkPayment)
      .set({ refunded })
      .where(isSame)
      .returning({ id: linkPayment.id })
    if (changed.length > 0) await settleSurplus(tx, row)
    return changed.length > 0
  })
}

/** The surplus payments of each of these links, in the order of arrival. */
export async function surplusOf(
  db: Database,
  linkIds: readonly string[],
): Promise<Map<string, string[]>> {
  const surplus = new Map<string, string[]>()
  if (linkIds.length === 0) return surplus
  const rows = await db
    .select({ linkId: linkPayment.linkId, paymentId: linkPayment.paymentId })
    .from(linkPayment)
    .where(and(inArray(linkPayment.linkId, [...linkIds]), sql`${linkPayment.surplus}`))
    .orderBy(linkPayment.linkId, linkPayment.arrival)
  for (const { linkId, paymentId } of rows)
    if (paymentId !== null) surplus.set(linkId, [...(surplus.get(linkId) ?? []), paymentId])
  return surplus
}

const listed = {
  paymentId: linkPayment.paymentId,
  sender: linkPayment.sender,
  createdAt: linkPayment.createdAt,
  linkId: linkPayment.linkId,
  link: paymentLink.link,
  short: paymentLink.short,
  invoice: { id: invoice.id, number: invoice.number, state: invoice.state },
}
export type SurplusRow = Awaited<ReturnType<typeof listSurplus>>[number]

/** The surplus payments of all links, those that were made longest ago first; `after`: the payment that a page ended with. */
export async function listSurplus(
  db: Database,
  { after, limit }: { after: string | undefined; limit: number },
) {
  const last = db
    .select({ createdAt: linkPayment.createdAt, id: linkPayment.id })
    .from(linkPayment)
    .where(eq(linkPayment.paymentId, after ?? ''))
  return db
    .select(listed)
    .from(linkPayment)
    .innerJoin(paymentLink, eq(paymentLink.id, linkPayment.linkId))
    .leftJoin(invoice, eq(invoice.linkId, linkPayment.linkId))
    .where(
      and(
        sql`${linkPayment.surplus}`,
        after === undefined
          ? undefined
          : sql`(${linkPayment.createdAt}, ${linkPayment.id}) > ${last}`,
      ),
    )
    .orderBy(asc(linkPayment.createdAt), asc(linkPayment.id))
    .limit(limit)
}

export async function countSurplus(db: Database): Promise<number> {
  return db.$count(linkPayment, sql`${linkPayment.surplus}`)
}

/** Owed back as far as is known, or refunded by what a reorganization may still undo. */
const unclear = sql`(${linkPayment.surplus} or ${linkPayment.refunded} = 'full')`

/**
 * The ids of payments of links with one that is owed back, or with a refund that is not final: of these
 * the service is asked what went back, of those first that it was asked of longest ago. What went back
 * of any other payment changes nothing that a link or an invoice owes.
 */
export async function findUnclearRefunds(
  db: Database,
  linkIds: readonly string[] | 'all',
  most: number,
): Promise<string[]> {
  if (linkIds.length === 0) return []
  const ofLinks = linkIds === 'all' ? sql`true` : inArray(linkPayment.linkId, [...linkIds])
  const { rows } = await db.execute<{ id: string }>(sql`
    with unclear as (
      select ${linkPayment.id}, ${linkPayment.linkId}, ${linkPayment.checkedAt} from ${linkPayment}
      where ${unclear} and ${ofLinks} order by ${linkPayment.checkedAt} nulls first limit ${most}
    )
    select found.id from (
      select unclear.id, unclear.checked_at from unclear
      union all
      select paying.id, paying.checked_at from (select distinct unclear.link_id from unclear) as made
      join ${paymentLink} on ${paymentLink.id} = made.link_id
      cross join lateral (
        select ${linkPayment.id}, ${linkPayment.checkedAt} from ${linkPayment}
        where ${linkPayment.linkId} = ${paymentLink.id} and ${linkPayment.arrival} is not null
          and ${stands} and not ${linkPayment.surplus}
        order by ${linkPayment.arrival} limit ${paymentLink.maxPayments}
      ) as paying
    ) as found
    order by found.checked_at nulls first limit ${most}`)
  return rows.map(({ id }) => id)
}

/** A payment of a link that takes so many payments: the only ones of which one may be surplus. */
export async function findLimitedPayment(
  db: Database,
  paymentId: string,
): Promise<Row | undefined> {
  const [found] = await db
    .select({ row: linkPayment })
    .from(linkPayment)
    .innerJoin(paymentLink, eq(paymentLink.id, linkPayment.linkId))
    .where(and(eq(linkPayment.paymentId, paymentId), isNotNull(paymentLink.maxPayments)))
  return found?.row
}
