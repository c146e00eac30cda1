import { setTimeout as sleep } from 'node:timers/promises'
import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Database } from '#postgres/open.ts'
import { createPaymentId } from '#contract/payment.ts'
import { ENGINES } from '#testing/postgres.ts'
import { refusal } from '#testing/proofs.ts'
import { insertTestPayment } from '#testing/service-app.ts'
import { openContext, type OpenedContext } from '#testing/service-context.ts'
import { consumeClaim, releaseClaim, takeClaim } from '../db/claims.ts'
import { claim } from '../db/schema/proof.ts'
import { VerificationReport, ProofRefusedError } from '../verification/verification-report.ts'
import { Deadline } from '../verification/proof-time.ts'
import { claimTransfer, withClaim } from './claim.ts'

const LONG_AGO = new Date(0)
const ENDS_FIRST_MS = 500
/** More than a lease lasts. */
const LONGER_MS = 5_000

/** The same database, which counts what it is asked. */
function counted(db: Database) {
  const statements = { read: 0, write: 0 }
  const kinds = { execute: 'write', $count: 'read', select: 'read' } as const
  const counting = new Proxy(db, {
    get(target, name) {
      if (name in kinds) statements[kinds[name as keyof typeof kinds]]++
      const value: unknown = Reflect.get(target, name)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
  return { db: counting, statements }
}

/** Who may work on a proof: one attempt at a time, and another soon after it died. */

describe.each(ENGINES)('on %s', (engine) => {
  let opened: OpenedContext

  beforeAll(async () => {
    opened = await openContext([], { engine })
  })

  afterAll(() => opened?.[Symbol.asyncDispose]())

  const claimant = () => ({
    scope: opened.actor.accountId,
    accountId: opened.actor.accountId,
    exclusive: false,
  })
  const question = (key: string) => ({ network: 'eip155:31337' as const, key, fingerprint: 'f' })
  const ask = (key: string, ms: number) =>
    claimTransfer(opened.context, {
      ...question(key),
      claimant: claimant(),
      deadline: new Deadline(ms),
      report: new VerificationReport(),
    })

  test('what a process that died has held is another’s within five seconds', async () => {
    // Taken, and never spoken of again.
    expect(
      await takeClaim(opened.context.db, { ...question('txid:dead'), ...claimant() }),
    ).toMatchObject({ taken: true })
    const startedAt = performance.now()
    expect(await ask('txid:dead', 30_000)).toMatchObject({ lease: { key: 'txid:dead' } })
    expect(performance.now() - startedAt).toBeLessThan(5_000)
  })

  test('what lives keeps its hold longer than any lease, and gives it back at its end', async () => {
    const first = await ask('txid:slow', 1_000)
    if (!('lease' in first)) throw new Error('used')
    let others: unknown
    await withClaim(opened.context, { lease: first.lease }, async () => {
      others = await refusal(ask('txid:slow', 6_000))
    })
    expect(others).toEqual({ code: 'PAYMENT_VERIFICATION_FAILED' })
    expect(await ask('txid:slow', 1_000)).toMatchObject({ lease: { key: 'txid:slow' } })
  })

  test('a proof that waits for another attempt costs at most twelve statements in six seconds, one of which writes', async () => {
    const first = await ask('txid:again', 1_000)
    if (!('lease' in first)) throw new Error('used')
    const { db, statements } = counted(opened.context.db)
    await withClaim(opened.context, { lease: first.lease }, async () => {
      const again = claimTransfer(
        { db },
        {
          ...question('txid:again'),
          claimant: claimant(),
          deadline: new Deadline(6_000),
          report: new VerificationReport(),
        },
      )
      expect(await refusal(again)).toEqual({ code: 'PAYMENT_VERIFICATION_FAILED' })
    })
    expect(statements.read + statements.write).toBeLessThanOrEqual(12)
    expect(statements.write).toBe(1)
  })

  test('what one process holds at a time is extended by one statement a second, and an end leaves the others', async () => {
    const keys = Array.from({ length: 5 }, (_, index) => `txid:together${index}`)
    const { db, statements } = counted(opened.context.db)
    const hold = async (key: string, ms: number) => {
      const held = await ask(key, 1_000)
      if (!('lease' in held)) throw new Error('used')
      await withClaim({ db }, { lease: held.lease }, async () => {
        await sleep(ms)
        if (ms > ENDS_FIRST_MS) {
          const other = ask(key, 100)
          expect(await refusal(other)).toEqual({ code: 'PAYMENT_VERIFICATION_FAILED' })
        }
      })
    }
    const ends = keys.map((key, index) => hold(key, index === 0 ? ENDS_FIRST_MS : LONGER_MS))
    await Promise.all(ends)
    expect(statements.write).toBeGreaterThanOrEqual(4)
    expect(statements.write).toBeLessThanOrEqual(6)
    expect(await ask('txid:together0', 1_000)).toMatchObject({ lease: {} })
  })

  test('a consumed proof stays consumed after every lease, and a lost lease can consume nothing', async () => {
    const { db } = opened.context
    const paymentId = createPaymentId()
    await insertTestPayment(db, { id: paymentId, accountId: opened.actor.accountId })
    const facts = { paymentId, fingerprint: 'f', checks: '[]', transaction: null }
    const lost = await ask('txid:used', 1_000)
    await db.update(claim).set({ leaseUntil: LONG_AGO }).where(eq(claim.key, 'txid:used'))
    const holder = await ask('txid:used', 1_000)
    if (!('lease' in lost) || !('lease' in holder)) throw new Error('used')
    expect(await consumeClaim(db, lost.lease, facts)).toBe(false)
    await releaseClaim(db, lost.lease)
    expect(await consumeClaim(db, holder.lease, facts)).toBe(true)
    await db.update(claim).set({ leaseUntil: LONG_AGO }).where(eq(claim.key, 'txid:used'))
    expect(await ask('txid:used', 1_000)).toMatchObject({ used: { paymentId } })
    const other = {
      ...question('txid:used'),
      claimant: claimant(),
      fingerprint: 'g',
      deadline: new Deadline(1_000),
      report: new VerificationReport(),
    }
    await expect(claimTransfer(opened.context, other)).rejects.toBeInstanceOf(ProofRefusedError)
  })
})
