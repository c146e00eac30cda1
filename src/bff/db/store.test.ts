import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createPaymentId } from '#contract/payment.ts'
import { openDatabase, type Database, type OpenDatabase } from '#postgres/open.ts'
import { createTestDatabase, ENGINES, type TestDatabase } from '#testing/postgres.ts'
import { createCookieValue, createId, hashCookieValue } from '../session/random.ts'
import { BFF_SCHEMA } from './migrations-folder.ts'
import { deleteExpiredChallenges, insertChallenge, takeChallenge } from './challenges.ts'
import {
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

const NOW = new Date('2026-11-21T10:00:00Z')
const later = (minutes: number): Date => new Date(NOW.getTime() + minutes * 60_000)

describe.each(ENGINES)('the store on %s', (engine) => {
  let target: TestDatabase
  let opened: OpenDatabase
  let db: Database
  beforeAll(async () => {
    target = await createTestDatabase(engine)
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
