import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createPaymentId } from '#contract/payment.ts'
import { openDatabase, type Database, type OpenDatabase } from '#postgres/open.ts'
import { createTestDatabase, ENGINES, type TestDatabase } from '#testing/postgres.ts'
import { createCookieValue, createId, hashCookieValue } from '../session/random.ts'
import { BFF_SCHEMA } from './migrations-folder.ts'
import {
  deleteExpiredChallenges,
  insertChallenge,
  takeChallenge,
  deleteExpiredSessions,
  deleteSession,
  findMakers,
  findSession,
  findSessions,
  hasSessionPayment,
  insertSession,
  insertSessionPayment,
  replaceSession,
  type SessionRow,
} from './sessions.ts'
import {
  insertLink,
  noteStatusEvent,
  setPaymentStatus,
  takeUnsettledPayments,
  type LinkPaymentRow,
} from './links.ts'
import { allocateLinkUse, fillLinkUse } from './link-places.ts'

const NOW = new Date('2026-11-21T10:00:00Z')
const later = (minutes: number): Date => new Date(NOW.getTime() + minutes * 60_000)

describe.each(ENGINES)('the store on %s', (engine) => {
  let target: TestDatabase
  let opened: OpenDatabase
  let db: Database
  beforeAll(async () => {
    target = await createTestDatabase(engine, 'bff')
    opened = await openDatabase(target.target, BFF_SCHEMA)
    db = opened.db
  })
  afterAll(async () => {
    await opened?.[Symbol.asyncDispose]()
    await target?.[Symbol.asyncDispose]()
  })

  async function createSession(facts: Partial<SessionRow> = {}): Promise<SessionRow> {
    const row = {
      id: createId('ses'),
      cookieHash: hashCookieValue(createCookieValue()),
      wallets: [],
      createdAt: NOW,
      idleAt: later(30),
      expiresAt: later(720),
      ...facts,
    }
    await insertSession(db, row)
    return row
  }

  test('of twenty who take one challenge at once, one gets it', async () => {
    const row = {
      id: createId('sic'),
      origin: 'https://a.example',
      browserHash: 'b',
      wallet: '0x',
      message: 'line one\nline two é',
      expiresAt: later(5),
    }
    await insertChallenge(db, row)
    expect(await takeChallenge(db, { ...row, origin: 'https://b.example' })).toBeUndefined()
    expect(await takeChallenge(db, { ...row, browserHash: 'c' })).toBeUndefined()
    const taken = await Promise.all(Array.from({ length: 20 }, () => takeChallenge(db, row)))
    expect(taken.filter(Boolean)).toEqual([row])
  })

  test('of two sign-ins over one cookie, one replaces it and the other finds it gone', async () => {
    const before = await createSession()
    const next = () => ({
      cookieHash: hashCookieValue(createCookieValue()),
      wallets: ['0x'],
      idleAt: later(30),
      expiresAt: later(720),
    })
    const replaced = await Promise.all([
      replaceSession(db, before.cookieHash, next()),
      replaceSession(db, before.cookieHash, next()),
    ])
    expect(replaced.filter(Boolean)).toHaveLength(1)
    expect(replaced.find(Boolean)).toMatchObject({ id: before.id, wallets: ['0x'] })
    expect(await findSession(db, before.cookieHash, NOW)).toBeUndefined()
  })

  test('a session stands until the first of its two limits', async () => {
    const row = await createSession({ idleAt: later(30), expiresAt: later(20) })
    expect(await findSession(db, row.cookieHash, later(19))).toEqual({ ...row, given: null })
    expect(await findSession(db, row.cookieHash, later(20))).toBeUndefined()
    const idle = await createSession({ idleAt: later(10) })
    expect(await findSession(db, idle.cookieHash, later(10))).toBeUndefined()
    expect(
      (await findSessions(db, [row.id, idle.id, 'ses_none'], later(15))).map(({ id }) => id),
    ).toEqual([row.id])
  })

  test('what a session made is found from both sides, and goes with it', async () => {
    const [one, two] = [await createSession(), await createSession()]
    const [shared, own] = [createPaymentId(), createPaymentId()]
    for (const [session, payment] of [
      [one, shared],
      [one, shared],
      [two, shared],
      [one, own],
    ] as const)
      await insertSessionPayment(db, { sessionId: session.id, paymentId: payment })
    expect(await hasSessionPayment(db, two.id, own)).toBe(false)
    const makers = await findMakers(db, [shared, own, createPaymentId()])
    expect(makers.get(shared)?.toSorted((a, b) => a.localeCompare(b))).toEqual(
      [one.id, two.id].toSorted((a, b) => a.localeCompare(b)),
    )
    expect(makers.get(own)).toEqual([one.id])
    expect(await deleteSession(db, one.cookieHash)).toBe(one.id)
    expect(await hasSessionPayment(db, one.id, own)).toBe(false)
    expect(await deleteSession(db, one.cookieHash)).toBeUndefined()
  })

  /** Payments of a new link, as they are after they were built. */
  async function createPayments(count: number): Promise<LinkPaymentRow[]> {
    const id = createPaymentId()
    const link = {
      id,
      link: id,
      code: null,
      short: null,
      expiresAt: null,
      maxPayments: null,
      createdBy: '0x',
      createdAt: NOW,
      withdrawnAt: null,
    }
    await insertLink(db, link)
    for (let index = 0; index < count; index++) {
      const use = {
        id: createPaymentId(),
        sessionId: 's',
        requestKey: undefined,
        senderVerified: false,
        presenter: undefined,
        now: NOW,
      }
      const place = await allocateLinkUse(db, link, use)
      if (!place) throw new Error('There is no place.')
      const filling = { id: use.id, sessionId: 's', paymentId: createPaymentId(), sender: '0x' }
      await fillLinkUse(db, place, { ...filling, now: NOW })
    }
    return takeUnsettledPayments(db, [id], { now: NOW, most: 100 })
  }
  const known = async ({ linkId, id }: LinkPaymentRow) => {
    const { rows } = await db.execute<{ status: string; arrival: number | null }>(
      `select status, arrival from bff.link_payment where link_id = '${linkId}' and id = '${id}'`,
    )
    return [rows[0]?.status, rows[0]?.arrival]
  }

  test('of two who write the status of a payment, the one who read it earlier changes nothing', async () => {
    const [row] = await createPayments(1)
    if (!row) throw new Error('There is no payment.')
    await noteStatusEvent(db, row.paymentId ?? '', 'finalized')
    // A refresh that was asked before the event answers after it.
    for (const late of ['pending', 'expired', 'confirmed']) await setPaymentStatus(db, row, late)
    expect(await known(row)).toEqual(['finalized', 1])
  })

  test.each([
    [
      ['pending', 'confirmed', 'finalized'],
      ['finalized', 1],
    ],
    // Missed events come again after a lost connection.
    [
      ['confirmed', 'pending', 'confirmed'],
      ['confirmed', 1],
    ],
    [
      ['finalized', 'pending', 'confirmed', 'rolled_back', 'failed'],
      ['finalized', 1],
    ],
    // The chain overrides an expiry, and shows what was a failure.
    [
      ['expired', 'pending', 'confirmed'],
      ['confirmed', 1],
    ],
    [
      ['pending', 'failed', 'pending'],
      ['failed', null],
    ],
    [
      ['confirmed', 'rolled_back'],
      ['confirmed', 1],
    ],
  ] as const)(
    'after the events %j the status of a payment and its arrival are %j',
    async (events, end) => {
      const [row] = await createPayments(1)
      if (!row) throw new Error('There is no payment.')
      for (const status of events) await noteStatusEvent(db, row.paymentId ?? '', status)
      expect(await known(row)).toEqual(end)
    },
  )

  test('a payment that was rolled back is set by no event but that it is final', async () => {
    const [row] = await createPayments(1)
    if (!row) throw new Error('There is no payment.')
    await setPaymentStatus(db, row, 'rolled_back')
    await noteStatusEvent(db, row.paymentId ?? '', 'confirmed')
    expect(await known(row)).toEqual(['rolled_back', null])
    await noteStatusEvent(db, row.paymentId ?? '', 'finalized')
    expect(await known(row)).toEqual(['finalized', 1])
  })

  test('twenty payments that confirm at once get twenty numbers of arrival, by events and answers', async () => {
    const rows = await createPayments(20)
    await Promise.all(
      rows.flatMap((row) => [
        noteStatusEvent(db, row.paymentId ?? '', 'confirmed'),
        setPaymentStatus(db, row, 'confirmed'),
      ]),
    )
    const arrivals = await Promise.all(rows.map(known))
    expect(
      arrivals.map(([, arrival]) => arrival).toSorted((a, b) => Number(a) - Number(b)),
    ).toEqual(Array.from({ length: 20 }, (_, index) => index + 1))
  })

  test('each link has its turn to be asked about, however many unsigned payments another has', async () => {
    const [many, few] = [await createPayments(100), await createPayments(1)]
    // Asked once already: the unsigned ones of the other link never were.
    await db.execute(
      `update bff.link_payment set checked_at = null where link_id = '${many[0]?.linkId}'`,
    )
    const links = [many, few].map(([row]) => row?.linkId ?? '')
    const taken = await takeUnsettledPayments(db, links, { now: NOW, most: 10 })
    expect(taken).toHaveLength(10)
    expect(taken.map(({ id }) => id)).toContain(few[0]?.id)
  })

  test('what has expired is removed, and nothing else', async () => {
    const [standing, ended] = [
      await createSession({ idleAt: later(100) }),
      await createSession({ idleAt: later(40) }),
    ]
    await deleteExpiredSessions(db, later(60))
    expect((await findSessions(db, [standing.id, ended.id], NOW)).map(({ id }) => id)).toEqual([
      standing.id,
    ])
    const row = {
      id: createId('sic'),
      origin: 'o',
      browserHash: 'b',
      wallet: '0x',
      message: 'm',
      expiresAt: later(5),
    }
    await insertChallenge(db, row)
    await deleteExpiredChallenges(db, later(5))
    expect(await takeChallenge(db, row)).toEqual(row)
    await insertChallenge(db, row)
    await deleteExpiredChallenges(db, later(6))
    expect(await takeChallenge(db, row)).toBeUndefined()
  })
})
