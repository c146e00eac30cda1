import { count, eq } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createPaymentId } from '#contract/payment.ts'
import { ETHER, evmAddress, openLedger, type LedgerFixture } from '#testing/ledger-fixture.ts'
import { ENGINES } from '#testing/postgres.ts'
import { findClaim, takeClaim } from './claims.ts'
import { findPayment } from './payments.ts'
import { awaitChanges } from './record-event.ts'
import { recordMove, recordPayment, recordPresented } from './record-payment.ts'
import { attempt, event, payment } from './schema/payment.ts'

/** A payment and what belongs to it are written together or not at all, without a transaction around them. */

const AT = new Date('2026-03-01T12:00:00.123Z')
const CREATED = { status: 'created', source: 'service', blockHeight: null, at: AT } as const

describe.each(ENGINES)('on %s', (engine) => {
  let ledger: LedgerFixture

  beforeAll(async () => {
    ledger = await openLedger(engine)
  })
  afterAll(() => ledger?.[Symbol.asyncDispose]())

  const rowOf = (more: Partial<typeof payment.$inferInsert> = {}) => ({
    id: createPaymentId(),
    accountId: ledger.accountId,
    mode: 'local' as const,
    status: 'created' as const,
    ...ETHER,
    sender: evmAddress(),
    recipient: evmAddress(),
    ...more,
  })
  const signedOf = (paymentId: string, signature: string) => ({
    paymentId,
    number: 1,
    network: ETHER.network,
    signer: null,
    signature,
    signedTransaction: '',
    paymentProof: null,
    nonce: 0,
    lastValidBlockHeight: null,
    maxFee: 1n,
    createdAt: AT,
    broadcastAt: AT,
  })
  const eventsOf = (id: string) =>
    ledger.db.select().from(event).where(eq(event.paymentId, id)).orderBy(event.id)

  test('a payment has its events in their order, what was signed for it, and the events of a draft are of a draft', async () => {
    const row = rowOf({ draft: true, amount: 10n ** 30n })
    const recorded = await recordPayment(ledger.db, row, {
      events: [CREATED, { ...CREATED, kind: 'verification', blockHeight: 7 }],
      signed: signedOf(row.id, `0x${row.id}`),
    })
    expect(recorded).toEqual(await findPayment(ledger.db, row.id))
    expect(recorded).toMatchObject({ amount: 10n ** 30n, draft: true })
    expect(await eventsOf(row.id)).toMatchObject([
      { kind: 'payment', status: 'created', blockHeight: null, draft: true, at: AT },
      { kind: 'verification', status: 'created', blockHeight: 7, draft: true, at: AT },
    ])
    expect(await ledger.db.$count(attempt, eq(attempt.paymentId, row.id))).toBe(1)
  })

  test('a payment whose signed transaction another one has is not there, and has no event', async () => {
    const [first, second] = [rowOf(), rowOf()]
    const signature = `0x${first.id}`
    const signed = signedOf(first.id, signature)
    await recordPayment(ledger.db, first, { events: [CREATED], signed })
    const refused = recordPayment(ledger.db, second, {
      events: [CREATED],
      signed: { ...signed, paymentId: second.id },
    })
    await expect(refused).rejects.toThrow('Failed query')
    expect(await findPayment(ledger.db, second.id)).toBeUndefined()
    expect(await eventsOf(second.id)).toEqual([])
  })

  test('a move is written with its event and told, and only from the status that it is from', async () => {
    const { id } = await ledger.add()
    using wait = awaitChanges(ledger.db, id)
    const move = { id, from: 'created', to: 'pending', at: AT } as const
    const again = () => recordMove(ledger.db, move, { source: 'service', blockHeight: null })
    await again()
    expect(await wait.changed(0)).toBe(true)
    await again()
    expect(await wait.changed(0)).toBe(false)
    expect(await findPayment(ledger.db, id)).toMatchObject({ status: 'pending', updatedAt: AT })
    expect(await eventsOf(id)).toMatchObject([{ status: 'pending', source: 'service' }])
  })

  test('a presented payment uses its proof up; the attempt that has lost the proof records nothing', async () => {
    const key = `txid:${createPaymentId()}`
    const { accountId } = ledger
    const taken = await takeClaim(ledger.db, {
      network: 'eip155:31337',
      key,
      scope: accountId,
      accountId,
      exclusive: false,
      fingerprint: 'f',
    })
    if (!taken.taken) throw new Error('taken')
    const record = (attemptName: string) => {
      const row = rowOf({ mode: 'received' })
      const consumed = { paymentId: row.id, fingerprint: 'f', checks: '[]', transaction: null }
      const lease = { ...taken.lease, attempt: attemptName }
      const recorded = ledger.db.transaction(async (tx) => {
        const presented = { events: [CREATED], signed: undefined, lease, consumed, fee: undefined }
        if (!(await recordPresented(tx, row, presented))) throw new Error('lost')
        expect(lease).not.toHaveProperty('consumed')
        return row.id
      })
      return { recorded, lease }
    }
    const all = async () => (await ledger.db.select({ all: count() }).from(payment))[0]?.all ?? 0
    const before = await all()
    const lost = record('another')
    await expect(lost.recorded).rejects.toThrow('lost')
    expect(lost.lease).not.toHaveProperty('consumed')
    expect(await all()).toBe(before)
    const mine = record(taken.lease.attempt)
    const id = await mine.recorded
    expect(mine.lease).toHaveProperty('consumed', true)
    const question = { network: 'eip155:31337', key, scope: accountId } as const
    expect(await findClaim(ledger.db, question)).toMatchObject({ paymentId: id })
    await expect(record(taken.lease.attempt).recorded).rejects.toThrow('lost')
  })
})
