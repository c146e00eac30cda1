import { and, eq, isNull, not, sql, type SQL } from 'drizzle-orm'
import type { Database } from '#postgres/open.ts'
import {
  countTaken,
  findLinkPayment,
  TAKEN,
  textArray,
  type LimitedLink,
  type LinkPaymentRow,
  type LinkRow,
} from './links.ts'
import { linkPayment, paymentLink } from './schema.ts'

/** The places of a link: who may pay it now, where it takes so many payments. */

/**
 * Another payer's payment that was not broadcast by then holds no place: it was valid for one
 * minute.
 */
const RESERVED_MS = 120_000
/** The place of a wallet code is kept for so long after it was taken at most: as long as a quoted price. */
const MOST_LEASED_MS = 15 * 60_000
/** The request that took a place has its payment built by then, or ended without one. */
const BUILDING_MS = 30_000
/** Other sessions of one network address have at most so many places of a link with unsigned payments. */
const MOST_OF_ADDRESS = 3

/** The `id` of the place, and the payer who takes it. */
export type NewLinkUse = {
  id: string
  sessionId: string | undefined
  requestKey: string | undefined
  /** Stands for the payer's network address; undefined at a link that takes any number of payments. */
  presenter: string | undefined
  now: Date
}

/** Who asks again, and when. */
type Repetition = Pick<NewLinkUse, 'sessionId' | 'requestKey' | 'now'>

/**
 * The place that an earlier request of the same session took under the same key, where a payment was
 * built in it or that request may still run.
 */
export async function findLinkUse(
  db: Database,
  linkId: string,
  repetition: Repetition,
): Promise<LinkPaymentRow | undefined> {
  const own = ownPlaces(linkId, repetition)
  if (own === undefined) return undefined
  const isUsable = not(isAbandoned(repetition.now))
  return (await db.select().from(linkPayment).where(and(own, isUsable)))[0]
}

function ownPlaces(linkId: string, { sessionId, requestKey }: Repetition): SQL | undefined {
  if (requestKey === undefined) return undefined
  return and(
    eq(linkPayment.linkId, linkId),
    eq(linkPayment.requestKey, requestKey),
    sessionId === undefined ? isNull(linkPayment.sessionId) : eq(linkPayment.sessionId, sessionId),
  )
}

/** Of a place: its request ended before a payment was built, for example with the process. */
function isAbandoned(now: Date): SQL {
  const since = new Date(now.getTime() - BUILDING_MS).toISOString()
  return sql`(${linkPayment.paymentId} is null and ${linkPayment.createdAt} < ${since}::timestamptz)`
}

/**
 * Takes a place among the payments of a link, for a payment about to be built. Concurrent requests
 * wait for the row of the link, so only one of them gets the last place. A place that the same request
 * abandoned before is freed.
 * @returns nothing when the link was withdrawn meanwhile, or all places are taken by payments that
 * landed, are on their way, or are being made by others
 */
export async function allocateLinkUse(
  db: Database,
  link: LinkRow,
  place: NewLinkUse,
): Promise<LinkPaymentRow | undefined> {
  return db.transaction(async (tx) => {
    const [locked] = await tx
      .select({ withdrawnAt: paymentLink.withdrawnAt })
      .from(paymentLink)
      .where(eq(paymentLink.id, link.id))
      .for('update')
    // It may have been withdrawn since it was read.
    if (!locked || locked.withdrawnAt) return undefined
    const own = ownPlaces(link.id, place)
    if (own) await tx.delete(linkPayment).where(and(own, isAbandoned(place.now)))
    const { maxPayments } = link
    if (maxPayments !== null && !(await hasPlace(tx, { id: link.id, maxPayments }, place)))
      return undefined
    const { id, sessionId = null, requestKey = null, presenter = null, now } = place
    const row = {
      id,
      linkId: link.id,
      sessionId,
      requestKey,
      paymentId: null,
      sender: null,
      presenter,
      status: 'building',
      arrival: null,
      refunded: null,
      surplus: false,
      createdAt: now,
      checkedAt: null,
      leaseUntil: null,
      recorded: false,
    }
    await tx.insert(linkPayment).values(row)
    return row
  })
}

/**
 * Whether a link has a place for a payer. Their own unsigned payments do not block them; those of
 * another session take one place for two minutes, or while it is leased. Of these places one network address has few, and
 * never the last one beside another: alone it does not hold up a link for several payments. The place
 * of a link for one payment is given once: two payers who both sign would both pay.
 */
async function hasPlace(db: Database, link: LimitedLink, payer: NewLinkUse): Promise<boolean> {
  const left = link.maxPayments - (await countTaken(db, link))
  if (left <= 0) return false
  const { reserved, ofAddress } = await countReserved(db, link.id, payer)
  if (reserved >= left) return false
  return ofAddress === 0 || (ofAddress < MOST_OF_ADDRESS && reserved + 1 < left)
}

/** The other sessions that have unsigned payments of a link, and how many of them come from the payer's address. */
async function countReserved(
  db: Database,
  linkId: string,
  payer: Pick<NewLinkUse, 'sessionId' | 'presenter' | 'now'>,
): Promise<{ reserved: number; ofAddress: number }> {
  const { sessionId = null, presenter = null, now } = payer
  const ago = (ms: number) => new Date(now.getTime() - ms).toISOString()
  const since = ago(RESERVED_MS)
  // One status at a time, as above.
  const { rows } = await db.execute<{ reserved: string; of_address: string }>(sql`
    select count(distinct payer)::text as reserved,
      count(distinct payer) filter (where presenter = ${presenter}::text)::text as of_address
    from unnest(${textArray(['building', 'created', 'expired'])}) as one (status)
    cross join lateral (
      select coalesce(${linkPayment.sessionId}, ${linkPayment.id}) as payer, ${linkPayment.presenter} as presenter
      from ${linkPayment}
      where ${linkPayment.linkId} = ${linkId} and ${linkPayment.status} = one.status
        and ${linkPayment.createdAt} > ${ago(MOST_LEASED_MS)}::timestamptz
        and (${linkPayment.leaseUntil} > ${ago(0)}::timestamptz
          or ${linkPayment.createdAt} > ${since}::timestamptz and one.status <> 'expired')
        and (${sessionId}::text is null or ${linkPayment.sessionId} is distinct from ${sessionId}::text)
    ) as found`)
  const [found] = rows
  return { reserved: Number(found?.reserved ?? 0), ofAddress: Number(found?.of_address ?? 0) }
}

/**
 * Whether what a payer has on the screen as a code may be paid now: the link still has their place.
 * The place of a link for one payment is kept two minutes longer by that, within 15 minutes after it
 * was taken, also when the transaction that was built has expired: a wallet that reads the code makes
 * its own. The places of other links are not kept: one network address could take them all.
 */
export async function leaseLinkUse(
  db: Database,
  { id, maxPayments }: Pick<LinkRow, 'id' | 'maxPayments'>,
  { paymentId, sessionId, now }: { paymentId: string; sessionId: string; now: Date },
): Promise<boolean> {
  return db.transaction(async (tx) => {
    const [locked] = await tx
      .select({ withdrawnAt: paymentLink.withdrawnAt })
      .from(paymentLink)
      .where(eq(paymentLink.id, id))
      .for('update')
    const row = await findLinkPayment(tx, paymentId)
    if (!locked || row?.linkId !== id || row.sessionId !== sessionId) return false
    if (TAKEN.includes(row.status)) return true
    if (locked.withdrawnAt || row.status === 'failed') return false
    if (maxPayments === null) return true
    const end = row.createdAt.getTime() + MOST_LEASED_MS
    const left = maxPayments - (await countTaken(tx, { id, maxPayments }))
    const payer = { sessionId, presenter: undefined, now }
    if (now.getTime() >= end || (await countReserved(tx, id, payer)).reserved >= left) return false
    if (maxPayments > 1) return true
    const leaseUntil = new Date(Math.min(end, now.getTime() + RESERVED_MS))
    await tx.update(linkPayment).set({ leaseUntil }).where(eq(linkPayment.id, row.id))
    return true
  })
}

/** The payment that was built in a place. */
export type Filling = {
  id: string
  sessionId: string
  paymentId: string
  /** The wallet that the payer named. */
  sender: string
  now: Date
}

/**
 * Records the payment of a place. If the place already has another payment, the payer lost the
 * answer that carried it: both are payments of the link, and the later one gets a row with the id
 * of `made`.
 */
export async function fillLinkUse(
  db: Database,
  place: LinkPaymentRow,
  made: Filling,
): Promise<void> {
  const { id, sessionId, paymentId, sender, now } = made
  const filled = await db
    .update(linkPayment)
    .set({ sessionId, paymentId, sender, status: 'created' })
    .where(and(eq(linkPayment.id, place.id), eq(linkPayment.status, 'building')))
    .returning({ id: linkPayment.id })
  if (filled.length > 0) return
  const row = {
    id,
    linkId: place.linkId,
    sessionId,
    requestKey: null,
    paymentId,
    sender,
    status: 'created',
    createdAt: now,
  }
  await db.insert(linkPayment).values(row).onConflictDoNothing({ target: linkPayment.paymentId })
}

/** Frees a place in which nothing was built. */
export async function releaseLinkUse(db: Database, id: string): Promise<void> {
  await db.delete(linkPayment).where(and(eq(linkPayment.id, id), isNull(linkPayment.paymentId)))
}
