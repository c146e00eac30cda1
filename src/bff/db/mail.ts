import { createHash } from 'node:crypto'
import { and, asc, count, eq, gt, inArray, isNotNull, isNull, lt, ne, or, sql } from 'drizzle-orm'
import type { MailKind } from '#contract/mail-endpoints.ts'
import { createId } from '#contract/payment.ts'
import type { Database } from '#postgres/open.ts'
import { mailAddress, mailCursor, mailItem, mailMessage, type MailFacts } from './mail-schema.ts'
import { walletRole } from './schema.ts'

export type MailAddressRow = typeof mailAddress.$inferSelect
export type MailMessageRow = typeof mailMessage.$inferSelect
export type MailItemRow = typeof mailItem.$inferSelect
/** An event that some people want, before it is known who. */
export type MailNews = { key: string; kind: MailKind; facts: MailFacts; at?: Date }

/** Messages and the events in them are forgotten after this long. */
const RETENTION_MS = 30 * 24 * 3_600_000
/** With one call every ten minutes this is more than can be sent. */
const MOST_DELETED = 10_000
/** An entry of a list that is older is not written: its item could be forgotten, and made again. */
const NEWS_MS = 29 * 24 * 3_600_000

export function hashAddress(address: string): string {
  return createHash('sha256').update(address.toLowerCase()).digest('hex')
}

export async function findMailAddress(
  db: Database,
  wallet: string,
): Promise<MailAddressRow | undefined> {
  const rows = await db.select().from(mailAddress).where(eq(mailAddress.wallet, wallet))
  return rows[0]
}

/**
 * Writes what a person wants. A new address has a code to confirm it, and the message with the code is
 * queued in the same commit, with the one to the confirmed address that the person had before.
 */
export async function writeMailAddress(
  db: Database,
  row: MailAddressRow,
  { sendCode, mostCodes, since }: { sendCode: boolean; mostCodes: number; since: Date },
): Promise<boolean> {
  return db.transaction(async (tx) => {
    if (sendCode) {
      // Requests at once wait for each other, so that each counts the codes of those before it.
      for (const name of [`wallet ${row.wallet}`, `address ${hashAddress(row.address)}`].toSorted())
        await tx.execute(sql`select pg_advisory_xact_lock(hashtextextended(${`mail ${name}`}, 0))`)
      const { wallet, address } = row
      if ((await countCodes(tx, { wallet, address, since })) >= mostCodes) return false
    }
    const { wallet: _, ...changed } = row
    await notifyEarlierAddress(tx, row)
    await tx
      .insert(mailAddress)
      .values(row)
      .onConflictDoUpdate({ target: mailAddress.wallet, set: changed })
    if (sendCode)
      await tx.insert(mailMessage).values(newMessage(row, { kind: 'code', at: row.updatedAt }))
    return true
  })
}

/** Nobody who has a person's session can move that person's e-mails unnoticed. */
async function notifyEarlierAddress(
  tx: Database,
  {
    wallet,
    address: next,
    updatedAt: at,
  }: Pick<MailAddressRow, 'wallet' | 'updatedAt'> & {
    address: string | null
  },
): Promise<void> {
  const [person] = await tx
    .select()
    .from(mailAddress)
    .where(and(eq(mailAddress.wallet, wallet), isNotNull(mailAddress.confirmedAt)))
    .for('update')
  if (!person || person.address === next) return
  const { address, language } = person
  const message = newMessage(person, { kind: 'moved', at })
  await tx.insert(mailMessage).values({ ...message, earlier: { address, language } })
}

/** Codes that were queued since then for this person, or by anybody for this address. */
async function countCodes(
  db: Database,
  { wallet, address, since }: { wallet: string; address: string; since: Date },
): Promise<number> {
  const ofEither = or(
    eq(mailMessage.wallet, wallet),
    eq(mailMessage.addressHash, hashAddress(address)),
  )
  return db.$count(
    mailMessage,
    and(eq(mailMessage.kind, 'code'), gt(mailMessage.createdAt, since), ofEither),
  )
}

/** Counts an attempt, then compares: each code can be tried so often, however many requests come at once. */
export async function confirmMailAddress(
  db: Database,
  { wallet, code, now }: { wallet: string; code: string; now: Date },
  mostAttempts: number,
): Promise<boolean> {
  const [row] = await db
    .update(mailAddress)
    .set({ codeAttempts: sql`${mailAddress.codeAttempts} + 1` })
    .where(
      and(
        eq(mailAddress.wallet, wallet),
        isNotNull(mailAddress.code),
        gt(mailAddress.codeExpiresAt, now),
        lt(mailAddress.codeAttempts, mostAttempts),
      ),
    )
    .returning()
  if (!row || row.code !== code) return false
  const confirmed = await db
    .update(mailAddress)
    .set({ confirmedAt: now, code: null, codeExpiresAt: null })
    .where(and(eq(mailAddress.wallet, wallet), eq(mailAddress.code, code)))
    .returning()
  return confirmed.length > 0
}

/** Deletes the address and what waits for it. With a time, the address is told so where it was confirmed. */
export async function deleteMailAddress(
  db: Database,
  wallet: string,
  notifyAt: Date | null,
): Promise<void> {
  await db.transaction(async (tx) => {
    if (notifyAt) await notifyEarlierAddress(tx, { wallet, address: null, updatedAt: notifyAt })
    await tx.delete(mailAddress).where(eq(mailAddress.wallet, wallet))
    await tx.delete(mailItem).where(eq(mailItem.wallet, wallet))
  })
}

/** How long the address of a person who lost the role is kept: a wallet may be missing in the configuration by mistake. */
const LEFT_RETENTION_MS = 7 * 24 * 3_600_000
/** The time of an address moves at most this often. */
const SEEN_EVERY_MS = 24 * 3_600_000

/**
 * Deletes the addresses of people who have had no role for a week, with what waits for them. Nobody
 * else can: they have no settings any more, and no owner sees them. `owners`: the wallets of the
 * configuration.
 */
export async function deleteLeftAddresses(
  db: Database,
  { owners, now }: { owners: readonly string[]; now: Date },
): Promise<void> {
  const hasRole = or(
    inArray(mailAddress.wallet, [...owners]),
    sql`exists (select 1 from ${walletRole} where ${walletRole.wallet} = ${mailAddress.wallet})`,
  )
  const before = (ms: number) => lt(mailAddress.updatedAt, new Date(now.getTime() - ms))
  // First: a proxy that was off for a week finds those who still have one.
  await db
    .update(mailAddress)
    .set({ updatedAt: now })
    .where(and(hasRole, before(SEEN_EVERY_MS)))
  await db.transaction(async (tx) => {
    const left = await tx
      .delete(mailAddress)
      .where(and(sql`not (${hasRole})`, before(LEFT_RETENTION_MS)))
      .returning({ wallet: mailAddress.wallet })
    const wallets = left.map(({ wallet }) => wallet)
    await tx.delete(mailItem).where(inArray(mailItem.wallet, wallets))
  })
}

/** Takes no more events from now on. @returns the person, undefined for a token of nobody */
export async function unsubscribe(
  db: Database,
  token: string,
): Promise<MailAddressRow | undefined> {
  return db.transaction(async (tx) => {
    const [row] = await tx
      .update(mailAddress)
      .set({ kinds: [] })
      .where(eq(mailAddress.unsubscribeToken, token))
      .returning()
    if (row)
      await tx
        .delete(mailItem)
        .where(and(eq(mailItem.wallet, row.wallet), isNull(mailItem.messageId)))
    return row
  })
}

export async function findByUnsubscribeToken(
  db: Database,
  token: string,
): Promise<MailAddressRow | undefined> {
  const rows = await db.select().from(mailAddress).where(eq(mailAddress.unsubscribeToken, token))
  return rows[0]
}

/** When the newest message to a person's address was given up, unless one was sent since. */
export async function findFailure(db: Database, wallet: string): Promise<Date | undefined> {
  const rows = await db
    .select()
    .from(mailMessage)
    .where(
      and(
        eq(mailMessage.wallet, wallet),
        ne(mailMessage.kind, 'moved'),
        inArray(mailMessage.state, ['sent', 'dead']),
      ),
    )
    .orderBy(sql`${mailMessage.createdAt} desc`)
    .limit(1)
  return rows[0]?.state === 'dead' ? rows[0].createdAt : undefined
}

/** The people whose address is confirmed and who want something. */
export async function findRecipients(db: Database): Promise<MailAddressRow[]> {
  return db
    .select()
    .from(mailAddress)
    .where(and(isNotNull(mailAddress.confirmedAt), sql`cardinality(${mailAddress.kinds}) > 0`))
}

/**
 * Where nobody is sent anything. Whether somebody is, is asked again behind the lock: who has confirmed an address meanwhile keeps the position, and who does
 * later waits for the lock and sets a new one.
 */
export async function forgetPosition(
  db: Database,
  hasRecipients: (tx: Database) => Promise<boolean>,
): Promise<void> {
  await db.transaction(async (tx) => {
    const locked = await tx
      .select()
      .from(mailCursor)
      .where(isNotNull(mailCursor.position))
      .for('update')
    if (locked.length === 0 || (await hasRecipients(tx))) return
    await tx.update(mailCursor).set({ position: null })
  })
}

/** From where events are read for the first person who confirms an address; later ones have it already. */
export async function startPosition(db: Database, position: bigint): Promise<void> {
  await db
    .insert(mailCursor)
    .values({ id: 1, position, eventsAt: new Date(0), listsAt: new Date(0) })
    .onConflictDoUpdate({
      target: mailCursor.id,
      set: { position },
      setWhere: isNull(mailCursor.position),
    })
}

type Source = 'events' | 'lists'

/** Takes a turn to read, for one of all processes. @returns the position in the events, or undefined where it is another one's turn */
export async function takeTurn(
  db: Database,
  source: Source,
  { now, everyMs }: { now: Date; everyMs: number },
): Promise<{ position: bigint | null } | undefined> {
  const column = source === 'events' ? mailCursor.eventsAt : mailCursor.listsAt
  const next = new Date(now.getTime() + everyMs)
  await db
    .insert(mailCursor)
    .values({ id: 1, position: null, eventsAt: new Date(0), listsAt: new Date(0) })
    .onConflictDoNothing()
  const rows = await db
    .update(mailCursor)
    .set(source === 'events' ? { eventsAt: next } : { listsAt: next })
    // A clock that was far ahead stops nobody for longer than a turn.
    .where(or(sql`${column} <= ${now.toISOString()}::timestamptz`, gt(column, next)))
    .returning()
  return rows[0]
}

/**
 * Writes the events of a page for each person who wants them, and moves the position, in one commit.
 * @returns false where another process has moved it: nothing was written
 */
export async function writeNews(
  db: Database,
  news: readonly MailNews[],
  move: { from: bigint | null; to: bigint | null; now: Date },
): Promise<boolean> {
  return db.transaction(async (tx) => {
    const moved = await tx
      .update(mailCursor)
      .set({ position: move.to })
      .where(move.from === null ? isNull(mailCursor.position) : eq(mailCursor.position, move.from))
      .returning()
    if (moved.length === 0) return false
    await insertItems(tx, news, move.now)
    return true
  })
}

/** For each person who wants it. What a person already has an item of is left as it is. */
export async function insertItems(
  db: Database,
  news: readonly MailNews[],
  now: Date,
): Promise<void> {
  if (news.length === 0) return
  const oldest = new Date(now.getTime() - NEWS_MS)
  for (const { wallet, kinds, confirmedAt } of await findRecipients(db)) {
    const since = confirmedAt && confirmedAt > oldest ? confirmedAt : oldest
    const rows = news
      .filter(({ kind, at }) => kinds.includes(kind) && (at === undefined || at >= since))
      .map(({ key, kind, facts }) => ({ wallet, key, kind, facts, createdAt: now }))
    if (rows.length > 0) await db.insert(mailItem).values(rows).onConflictDoNothing()
  }
}

/** So many e-mails with one event each in an interval; beyond, one e-mail has all that waits. */
export type MailPace = { singles: number; intervalMs: number }

/**
 * Makes messages of what waits for a person. The person's row is locked meanwhile, so that two
 * processes do not make two.
 */
export async function composeMessages(
  db: Database,
  { now, pace }: { now: Date; pace: MailPace },
): Promise<void> {
  const waiting = await db
    .selectDistinct({ wallet: mailItem.wallet })
    .from(mailItem)
    .where(isNull(mailItem.messageId))
  for (const { wallet } of waiting)
    await db.transaction((tx) => composeFor(tx, wallet, { now, pace }))
}

async function composeFor(
  tx: Database,
  wallet: string,
  { now, pace }: { now: Date; pace: MailPace },
): Promise<void> {
  const [person] = await tx
    .select()
    .from(mailAddress)
    .where(eq(mailAddress.wallet, wallet))
    .for('update', { skipLocked: true })
  if (!person) return
  const items = await tx
    .select({ key: mailItem.key })
    .from(mailItem)
    .where(and(eq(mailItem.wallet, wallet), isNull(mailItem.messageId)))
    .orderBy(asc(mailItem.createdAt), asc(mailItem.key))
  const recent = await tx
    .select({ kind: mailMessage.kind, messages: count() })
    .from(mailMessage)
    .where(
      and(
        eq(mailMessage.wallet, wallet),
        gt(mailMessage.createdAt, new Date(now.getTime() - pace.intervalMs)),
      ),
    )
    .groupBy(mailMessage.kind)
  const made = (kind: MailMessageRow['kind']) =>
    recent.find((each) => each.kind === kind)?.messages ?? 0
  const single = items.length <= pace.singles - made('event')
  if (!single && made('digest') > 0) return
  const groups = single ? items.map(({ key }) => [key]) : [items.map(({ key }) => key)]
  for (const keys of groups) {
    const kind = keys.length > 1 ? 'digest' : single ? 'event' : 'digest'
    const message = newMessage(person, { kind, at: now })
    await tx.insert(mailMessage).values(message)
    // Of a digest it is all that waits: a list of keys could be longer than a statement may be.
    await tx
      .update(mailItem)
      .set({ messageId: message.id })
      .where(
        and(
          eq(mailItem.wallet, wallet),
          isNull(mailItem.messageId),
          single ? inArray(mailItem.key, keys) : undefined,
        ),
      )
  }
}

function newMessage(
  { wallet, address }: Pick<MailAddressRow, 'wallet' | 'address'>,
  { kind, at }: { kind: MailMessageRow['kind']; at: Date },
): MailMessageRow {
  return {
    id: createId('mal'),
    wallet,
    kind,
    addressHash: hashAddress(address),
    state: 'pending',
    attempts: 0,
    nextAttemptAt: at,
    earlier: null,
    failure: null,
    createdAt: at,
  }
}

/**
 * Takes the next message that is due, for one of all processes, and notes the attempt before it is
 * made: until the next one is due, nobody else sends it.
 */
export async function takeMessage(
  db: Database,
  { now, waitMs }: { now: Date; waitMs: (attempts: number) => number },
): Promise<MailMessageRow | undefined> {
  return db.transaction(async (tx) => {
    const [due] = await tx
      .select()
      .from(mailMessage)
      .where(
        and(
          eq(mailMessage.state, 'pending'),
          sql`${mailMessage.nextAttemptAt} <= ${now.toISOString()}::timestamptz`,
        ),
      )
      .orderBy(asc(mailMessage.nextAttemptAt))
      .limit(1)
      .for('update', { skipLocked: true })
    if (!due) return undefined
    const attempts = due.attempts + 1
    const nextAttemptAt = new Date(now.getTime() + waitMs(attempts))
    await tx.update(mailMessage).set({ attempts, nextAttemptAt }).where(eq(mailMessage.id, due.id))
    return { ...due, attempts, nextAttemptAt }
  })
}

/** What became of an attempt. Only one that is still open changes. An earlier address is forgotten with the last. */
export async function writeMailAttempt(
  db: Database,
  id: string,
  result: Partial<Pick<MailMessageRow, 'state' | 'failure'>>,
): Promise<void> {
  const over = result.state !== undefined && result.state !== 'pending'
  await db
    .update(mailMessage)
    .set({ ...result, ...(over && { earlier: null }) })
    .where(and(eq(mailMessage.id, id), eq(mailMessage.state, 'pending')))
}

/** The first events of a message, and how many it has in all. */
export async function findItems(
  db: Database,
  messageId: string,
  limit: number,
): Promise<{ items: MailItemRow[]; total: number }> {
  const ofMessage = eq(mailItem.messageId, messageId)
  const [items, total] = [
    await db
      .select()
      .from(mailItem)
      .where(ofMessage)
      .orderBy(asc(mailItem.createdAt), asc(mailItem.key))
      .limit(limit),
    await db.$count(mailItem, ofMessage),
  ]
  return { items, total }
}

/** Of messages and of events at most so many at once. A message that still waits is of a time in which none were sent. */
export async function deleteOldMail(db: Database, now: Date): Promise<void> {
  const before = new Date(now.getTime() - RETENTION_MS)
  const messages = db
    .select({ id: mailMessage.id })
    .from(mailMessage)
    .where(lt(mailMessage.createdAt, before))
    .limit(MOST_DELETED)
  await db.delete(mailMessage).where(inArray(mailMessage.id, messages))
  const items = db
    .select({ wallet: mailItem.wallet, key: mailItem.key })
    .from(mailItem)
    .where(lt(mailItem.createdAt, before))
    .limit(MOST_DELETED)
  await db.delete(mailItem).where(sql`(${mailItem.wallet}, ${mailItem.key}) in ${items}`)
}
