import { eq, sql } from 'drizzle-orm'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { Database } from '#postgres/open.ts'
import { openLedger, transactionName, type LedgerFixture } from '#testing/ledger-fixture.ts'
import { openSeveredDatabase } from '#testing/severed-database.ts'
import {
  claimAssigned,
  consumeClaim,
  consumeOnce,
  releaseClaim,
  takeClaim,
  yieldGrant,
} from '../db/claims.ts'
import { claim } from '../db/schema/proof.ts'
import { Deadline } from '../verification/proof-time.ts'
import { VerificationReport } from '../verification/verification-report.ts'
import { claimTransfer, isGranted, withClaim, type TransferClaim } from './claim.ts'

/** What a call that settles a proof is told: whether the transfer is its own, and whether it may report the payment. */

const NETWORK = 'eip155:31337'
const LONG_AGO = new Date(0)
const FOR_LONG_MS = 20_000
const UNDECIDED = { code: 'PAYMENT_VERIFICATION_FAILED' }

let ledger: LedgerFixture

beforeAll(async () => {
  ledger = await openLedger()
})
afterAll(() => ledger?.[Symbol.asyncDispose]())

const newKey = () => `txid:${transactionName()}`
const claimant = (accountId = ledger.accountId, exclusive = false) => ({
  scope: accountId,
  accountId,
  exclusive,
})
const holds = (key: string) => eq(claim.key, key)
const rowOf = async (key: string) => (await ledger.db.select().from(claim).where(holds(key)))[0]

const hasLease = async (key: string) => ((await rowOf(key))?.leaseUntil ?? LONG_AGO) > LONG_AGO

/** A payment that the call `first` has used a transfer up for. */
async function settled() {
  const key = newKey()
  const { id } = await ledger.add({ mode: 'received' })
  const taken = await takeClaim(ledger.db, {
    network: NETWORK,
    key,
    ...claimant(),
    fingerprint: 'f',
    attempt: 'first',
  })
  if (!taken.taken) throw new Error('Expected a new transfer.')
  const facts = { paymentId: id, fingerprint: 'f', checks: '[]', transaction: null }
  await consumeClaim(ledger.db, taken.lease, facts)
  return { key, id, lease: taken.lease }
}

describe('of a transfer', () => {
  /** Asks for it, and reads which checks were recorded. */
  async function ask(
    key: string,
    { ms = 1_000, ...asked }: Partial<TransferClaim> & { ms?: number } = {},
  ) {
    const report = new VerificationReport()
    const answer = await claimTransfer(ledger, {
      network: NETWORK,
      key,
      claimant: claimant(),
      fingerprint: 'f',
      deadline: new Deadline(ms),
      report,
      ...asked,
    }).catch((error: unknown) => ({ error }))
    return { answer, checks: report.checks }
  }

  test('that nobody has used, the call has it under its name, and the check says so', async () => {
    const key = newKey()
    const { answer, checks } = await ask(key, { attempt: 'mine' })
    expect(answer).toEqual({
      lease: { network: NETWORK, key, scope: ledger.accountId, attempt: 'mine' },
    })
    expect(checks).toMatchObject([
      {
        name: 'single_use',
        source: 'record',
        ok: true,
        expectedFact: { code: 'never_used' },
        gotFact: { code: 'never_used' },
      },
    ])
    const unnamed = await ask(newKey())
    expect(unnamed.answer).toMatchObject({
      lease: { attempt: expect.stringMatching(/^[0-9a-f-]{36}$/) },
    })
  })

  test('that was used by the same question of the same account, the call has the record', async () => {
    const { key, id } = await settled()
    const { answer, checks } = await ask(key)
    expect(answer).toMatchObject({ used: { paymentId: id } })
    expect(checks).toMatchObject([
      {
        name: 'single_use',
        source: 'record',
        ok: true,
        expectedFact: { code: 'unused_or_same_question' },
        gotFact: { code: 'same_question' },
      },
    ])
  })

  test.each([
    ['another question', { fingerprint: 'g' }],
    ['another account', { claimant: { scope: 'keyless', accountId: 'acc_1', exclusive: false } }],
  ])(
    'that was used, %s has nothing: while nobody was told success it is in settlement',
    async (_, asked) => {
      const { key, id } = await settled()
      await ledger.db.update(claim).set({ exclusive: true }).where(holds(key))
      const before = await ask(key, asked)
      expect(before.answer).toMatchObject({
        error: { code: 'INVALID_PAYMENT_PROOF', reason: 'already_used' },
      })
      expect(before.checks).toMatchObject([
        { name: 'in_settlement', ok: false, gotFact: { code: 'used' } },
      ])
      await consumeOnce(ledger.db, { paymentId: id, attempt: 'first' })
      expect((await ask(key, asked)).checks).toMatchObject([{ name: 'single_use', ok: false }])
    },
  )

  test('that a person assigned to an order, a proof has nothing, and nothing is in settlement', async () => {
    const key = newKey()
    const { id } = await ledger.add()
    await claimAssigned(ledger.db, claimant(), { network: NETWORK, key, paymentId: id })
    expect((await ask(key)).checks).toMatchObject([{ name: 'single_use', ok: false }])
  })

  test('that another call looks at, nothing is decided until that one has ended', async () => {
    const key = newKey()
    const first = await ask(key)
    if (!('lease' in first.answer)) throw new Error('used')
    const { lease } = first.answer
    const { answer, checks } = await ask(key, { ms: 150 })
    expect(answer).toMatchObject({ error: UNDECIDED })
    expect(checks).toEqual([])
    const second = ask(key, { ms: FOR_LONG_MS, attempt: 'second' })
    await releaseClaim(ledger.db, lease)
    expect((await second).answer).toMatchObject({ lease: { attempt: 'second' } })
  })

  test('the call gives back what it did not use, also when it fails, and extends its lease meanwhile', async () => {
    const key = newKey()
    const first = await ask(key)
    if (!('lease' in first.answer)) throw new Error('used')
    const { lease } = first.answer
    const work = async () => {
      await ledger.db.update(claim).set({ leaseUntil: LONG_AGO }).where(holds(key))
      await expect.poll(() => hasLease(key), { timeout: 10_000 }).toBe(true)
      return 'worked'
    }
    expect(await withClaim(ledger, { lease }, work)).toBe('worked')
    expect(await rowOf(key)).toBeUndefined()
    const again = await ask(key)
    if (!('lease' in again.answer)) throw new Error('used')
    const failing = withClaim(ledger, { lease: again.answer.lease }, () =>
      Promise.reject(new Error('failed')),
    )
    await expect(failing).rejects.toThrow('failed')
    expect(await rowOf(key)).toBeUndefined()
  })

  test('that the call has used up, its lease lives as long as somebody waits for the outcome', async () => {
    const [waiting, left] = [await settled(), await settled()]
    const end = (key: string) =>
      ledger.db.update(claim).set({ leaseUntil: LONG_AGO }).where(holds(key))
    await withClaim(ledger, { lease: left.lease, waits: () => false }, () =>
      withClaim(ledger, { lease: waiting.lease }, async () => {
        for (let beats = 0; beats < 2; beats++) {
          await end(waiting.key)
          await end(left.key)
          await expect.poll(() => hasLease(waiting.key), { timeout: 10_000 }).toBe(true)
        }
        expect(await hasLease(left.key)).toBe(false)
      }),
    )
    expect(await rowOf(waiting.key)).toBeDefined()
  })
})

describe('a call may report a payment', () => {
  const lines: string[] = []
  const log = pino({ level: 'error' }, { write: (line: string) => void lines.push(line) })

  /** A call with a connection; `undo` is what its service does when the response is not written. */
  function openCall(
    paymentId: string,
    attempt: string,
    {
      db = ledger.db,
      gone = () => false,
      ms = FOR_LONG_MS,
    }: { db?: Database; gone?: () => boolean; ms?: number } = {},
  ) {
    const undos: (() => Promise<void>)[] = []
    const caller = {
      get gone() {
        return gone()
      },
      ifUnanswered: (undo: () => Promise<void>) => void undos.push(undo),
    }
    const ask = () =>
      isGranted({ db, log }, { caller, deadline: new Deadline(ms) }, { paymentId, attempt })
    return { ask, undos }
  }
  const ask = (paymentId: string, attempt: string, ms = FOR_LONG_MS) =>
    openCall(paymentId, attempt, { ms }).ask()

  test('once, and one whose response was not written leaves it to another call', async () => {
    const { id } = await settled()
    const first = openCall(id, 'first')
    expect(await first.ask()).toBe(true)
    const other = openCall(id, 'other')
    expect(await other.ask()).toBe(false)
    expect(other.undos).toEqual([])
    for (const undo of first.undos) await undo()
    expect(await other.ask()).toBe(true)
    expect(await ask(id, 'first')).toBe(false)
    // Without a connection there is nothing to undo.
    const without = await settled()
    expect(
      await isGranted(
        { db: ledger.db, log },
        { deadline: new Deadline(FOR_LONG_MS), caller: undefined },
        { paymentId: without.id, attempt: 'first' },
      ),
    ).toBe(true)
  })

  test('only after the call that used the transfer up has ended, and waits for that until its deadline', async () => {
    const { id } = await settled()
    expect(await ask(id, 'other', 150)).toBe(false)
    const waiting = ask(id, 'other')
    await yieldGrant(ledger.db, { paymentId: id, attempt: 'first' })
    expect(await waiting).toBe(true)
  })

  test('only after the revocation of an earlier grant, and decides nothing while that lasts', async () => {
    const { key, id } = await settled()
    const first = openCall(id, 'first')
    expect(await first.ask()).toBe(true)
    let revoked: Promise<unknown> = Promise.resolve()
    await ledger.db.transaction(async (tx) => {
      await tx.execute(sql`select from service.claim where key = ${key} for update`)
      revoked = Promise.all(first.undos.map((undo) => undo()))
      await expect(ask(id, 'other', 300)).rejects.toMatchObject(UNDECIDED)
    })
    await revoked
    expect(await ask(id, 'other')).toBe(true)
  })

  test('after the last of several revocations of its payment', async () => {
    await using severed = await openSeveredDatabase(ledger.target)
    const { id } = await settled()
    const first = openCall(id, 'first')
    const behind = openCall(id, 'first', { db: severed.db })
    expect([await first.ask(), await behind.ask()]).toEqual([true, true])
    severed.way.atGrant = 'away'
    const early = Promise.all(first.undos.map((undo) => undo()))
    const late = Promise.all(behind.undos.map((undo) => undo()))
    await early
    await expect.poll(() => severed.way.cut, { timeout: 10_000 }).toBe(1)
    await expect(ask(id, 'other', 300)).rejects.toMatchObject(UNDECIDED)
    severed.way.away = false
    await late
    expect(await ask(id, 'other')).toBe(true)
  })

  test('when the database was lost between the commit of its grant and the answer', async () => {
    await using severed = await openSeveredDatabase(ledger.target)
    const { id } = await settled()
    severed.way.atGrant = 'once'
    expect(await openCall(id, 'first', { db: severed.db }).ask()).toBe(true)
    expect(severed.way.cut).toBe(1)
    expect(await ask(id, 'other')).toBe(false)
  })

  test('no longer when its caller went away meanwhile: its grant is revoked once the database is back', async () => {
    await using severed = await openSeveredDatabase(ledger.target)
    const { id } = await settled()
    severed.way.atGrant = 'away'
    const gone = () => severed.way.cut > 0
    const startedAt = performance.now()
    await expect(openCall(id, 'first', { db: severed.db, gone }).ask()).rejects.toThrow(
      'Failed query',
    )
    // Others do not wait for as long as one whose caller is there.
    expect(performance.now() - startedAt).toBeLessThan(10_000)
    expect(severed.way.cut).toBe(1)
    // It was committed.
    expect(await consumeOnce(ledger.db, { paymentId: id, attempt: 'other' })).toBe('told_before')
    severed.way.away = false
    expect(await ask(id, 'other')).toBe(true)
    expect(lines).toEqual([])
  })

  test('no longer when the database does not come back in time', async () => {
    await using severed = await openSeveredDatabase(ledger.target)
    const { id } = await settled()
    severed.way.atGrant = 'away'
    const clock = performance.now.bind(performance)
    const late = vi
      .spyOn(performance, 'now')
      .mockImplementation(() => clock() + (severed.way.cut > 0 ? 15_001 : 0))
    const call = openCall(id, 'first', { db: severed.db, ms: 60_000 })
    await expect(call.ask()).rejects.toThrow('Failed query')
    late.mockRestore()
    severed.way.away = false
    expect(await ask(id, 'other')).toBe(true)
  })

  test('and an error that is not a lost database is thrown at once, with no revocation', async () => {
    const { id } = await settled()
    // A text that Postgres does not take.
    const failing = openCall(id, 'first\0')
    await expect(failing.ask()).rejects.toThrow('Failed query')
    expect(failing.undos).toEqual([])
    expect(await ask(id, 'first')).toBe(true)
    expect(lines).toEqual([])
  })
})
