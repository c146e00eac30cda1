import {
  and,
  arrayOverlaps,
  desc,
  eq,
  getTableColumns,
  gt,
  inArray,
  lte,
  ne,
  or,
  lt,
} from 'drizzle-orm'
import type { Database } from '#postgres/open.ts'
import { givenTo, type Member } from './people.ts'
import { session, sessionPayment, challenge } from './schema.ts'

export type SessionRow = typeof session.$inferSelect

/** A session, with the highest role that owners gave to one of its wallets. */
export type SessionWithRole = SessionRow & { given: Member | null }

/**
 * A session that stands. Its role follows from its wallets, the configuration and what owners gave,
 * each time it is read: a role that is taken away is gone at the next request.
 */
export type OpenSession = {
  id: string
  wallets: string[]
  /** The wallet with the highest role in the merchant's account; null for a buyer. */
  member: Member | null
  expiresAt: Date
}

const WITH_ROLE = { ...getTableColumns(session), given: givenTo(session.wallets) }

export async function insertSession(db: Database, row: SessionRow): Promise<SessionWithRole> {
  const rows = await db.insert(session).values(row).returning(WITH_ROLE)
  const [written] = rows
  if (!written) throw new Error('A session was not written.')
  return written
}

/** The session of a cookie, unless one of its two limits has passed. */
export async function findSession(
  db: Database,
  cookieHash: string,
  now: Date,
): Promise<SessionWithRole | undefined> {
  const rows = await db
    .select(WITH_ROLE)
    .from(session)
    .where(
      and(eq(session.cookieHash, cookieHash), gt(session.idleAt, now), gt(session.expiresAt, now)),
    )
  return rows[0]
}

/** Those of the sessions that still stand. */
export async function findSessions(
  db: Database,
  ids: string[],
  now: Date,
): Promise<SessionWithRole[]> {
  if (ids.length === 0) return []
  return db
    .select(WITH_ROLE)
    .from(session)
    .where(and(inArray(session.id, ids), gt(session.idleAt, now), gt(session.expiresAt, now)))
}

/** Sessions that any of these wallets opened and that still stand. */
export async function findSessionsOf(
  db: Database,
  wallets: string[],
  now: Date,
): Promise<SessionWithRole[]> {
  return db
    .select(WITH_ROLE)
    .from(session)
    .where(
      and(
        arrayOverlaps(session.wallets, wallets),
        gt(session.idleAt, now),
        gt(session.expiresAt, now),
      ),
    )
}

/** @returns the ids of the sessions that ended */
export async function deleteOtherSessions(
  db: Database,
  wallets: string[],
  retainedId: string,
): Promise<string[]> {
  const rows = await db
    .delete(session)
    .where(and(arrayOverlaps(session.wallets, wallets), ne(session.id, retainedId)))
    .returning({ id: session.id })
  return rows.map(({ id }) => id)
}

export async function extendSession(db: Database, id: string, idleAt: Date): Promise<void> {
  await db.update(session).set({ idleAt }).where(eq(session.id, id))
}

/** A sign-in: another cookie, another set of wallets, fresh limits. Nothing when the cookie before it is no longer the session's. */
export async function replaceSession(
  db: Database,
  cookieHash: string,
  next: Omit<SessionRow, 'id' | 'createdAt'>,
): Promise<SessionWithRole | undefined> {
  const rows = await db
    .update(session)
    .set(next)
    .where(eq(session.cookieHash, cookieHash))
    .returning(WITH_ROLE)
  return rows[0]
}

/** @returns the id of the session that ended */
export async function deleteSession(db: Database, cookieHash: string): Promise<string | undefined> {
  const rows = await db
    .delete(session)
    .where(eq(session.cookieHash, cookieHash))
    .returning({ id: session.id })
  return rows[0]?.id
}

export async function deleteExpiredSessions(db: Database, now: Date): Promise<void> {
  await db.delete(session).where(or(lte(session.idleAt, now), lte(session.expiresAt, now)))
}

export async function insertSessionPayment(
  db: Database,
  row: { sessionId: string; paymentId: string; sender?: string; createdAt?: Date },
): Promise<void> {
  await db.insert(sessionPayment).values(row).onConflictDoNothing()
}

/** The newest payments that a session made from a wallet. */
export async function findPaymentsFrom(
  db: Database,
  made: { sessionId: string; sender: string; since: Date },
  limit: number,
): Promise<string[]> {
  const { sessionId, sender, since } = made
  const rows = await db
    .select({ paymentId: sessionPayment.paymentId })
    .from(sessionPayment)
    .where(
      and(
        eq(sessionPayment.sessionId, sessionId),
        eq(sessionPayment.sender, sender),
        gt(sessionPayment.createdAt, since),
      ),
    )
    .orderBy(desc(sessionPayment.createdAt))
    .limit(limit)
  return rows.map(({ paymentId }) => paymentId)
}

export async function hasSessionPayment(
  db: Database,
  sessionId: string,
  paymentId: string,
): Promise<boolean> {
  const rows = await db
    .select({ paymentId: sessionPayment.paymentId })
    .from(sessionPayment)
    .where(and(eq(sessionPayment.sessionId, sessionId), eq(sessionPayment.paymentId, paymentId)))
  return rows.length > 0
}

/** Which sessions made these payments. */
export async function findMakers(
  db: Database,
  paymentIds: string[],
): Promise<Map<string, string[]>> {
  const makers = new Map<string, string[]>()
  if (paymentIds.length === 0) return makers
  const rows = await db
    .select()
    .from(sessionPayment)
    .where(inArray(sessionPayment.paymentId, paymentIds))
  for (const row of rows)
    makers.set(row.paymentId, [...(makers.get(row.paymentId) ?? []), row.sessionId])
  return makers
}

export type ChallengeRow = typeof challenge.$inferSelect

export async function insertChallenge(db: Database, row: ChallengeRow): Promise<void> {
  await db.insert(challenge).values(row)
}

type ChallengeName = Pick<ChallengeRow, 'id' | 'origin' | 'browserHash'>

/** Takes the challenge out of the table: of two who come at once, one gets it. A stranger's attempt leaves it where it is. */
export async function takeChallenge(
  db: Database,
  name: ChallengeName,
): Promise<ChallengeRow | undefined> {
  return (await db.delete(challenge).where(isChallenge(name)).returning())[0]
}

/** The challenge, which stays in the table. */
export async function findChallenge(
  db: Database,
  name: ChallengeName,
): Promise<ChallengeRow | undefined> {
  return (await db.select().from(challenge).where(isChallenge(name)))[0]
}

function isChallenge({ id, origin, browserHash }: ChallengeName) {
  return and(
    eq(challenge.id, id),
    eq(challenge.origin, origin),
    eq(challenge.browserHash, browserHash),
  )
}

export async function deleteExpiredChallenges(db: Database, now: Date): Promise<void> {
  await db.delete(challenge).where(lt(challenge.expiresAt, now))
}
