import { eq, sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  openLedger,
  transactionName,
  transferOf,
  type LedgerFixture,
} from '#testing/ledger-fixture.ts'
import { readSent } from '#testing/sent-statements.ts'
import type { Observation } from '../chains/chain.ts'
import type { NewPayment, PaymentRecord } from '../db/payments.ts'
import { event, payment } from '../db/schema/payment.ts'
import { applyObservation, isRecorded } from './apply-observation.ts'

/** What is not written because the row says it already would have written nothing. */

const TIME = new Date('2026-03-01T11:59:58.000Z')
const OTHER_TIME = new Date('2026-03-01T11:59:59.000Z')

let ledger: LedgerFixture

beforeAll(async () => {
  ledger = await openLedger()
})
afterAll(() => ledger?.[Symbol.asyncDispose]())

const MODES = ['local', 'hosted', 'received'] as const
const STATUSES = ['created', 'pending', 'rolled_back', 'expired'] as const
const BLOCKS: Partial<NewPayment>[] = [{}, { blockHeight: 101, blockTime: TIME }]

function observationsOf(row: PaymentRecord): Observation[] {
  const transfer = { ...transferOf(row), nonce: row.nonce }
  const landed = {
    state: 'landed',
    succeeded: true,
    height: 101,
    blockHash: '0xblock',
    confirmed: false,
    finalized: false,
    feeAtomic: 21n,
    feePayer: row.sender,
    blockTime: TIME,
    transfer,
    failure: null,
  } as const
  const failed = { succeeded: false, failure: 'reverted' }
  return [
    { state: 'not_found' },
    { state: 'pending' },
    { state: 'pending', transfer },
    { state: 'pending', transfer: { ...transfer, amountAtomic: transfer.amountAtomic + 1n } },
    landed,
    { ...landed, transfer: { ...transfer, amountAtomic: transfer.amountAtomic + 1n } },
    { ...landed, height: 102 },
    { ...landed, blockTime: OTHER_TIME },
    { ...landed, confirmed: true },
    { ...landed, confirmed: true, finalized: true },
    { ...landed, ...failed },
    { ...landed, ...failed, confirmed: true, finalized: true },
  ]
}

test('what a row says already is not written again, and nothing else is left out', async () => {
  const { db } = ledger
  const context = { db, now: () => new Date() }
  const left: string[] = []
  for (const mode of MODES)
    for (const status of STATUSES)
      for (const [place, block] of BLOCKS.entries()) {
        const count = observationsOf(await ledger.add({ mode })).length
        for (let index = 0; index < count; index++) {
          const row = await ledger.add({ mode, status, senderVerified: true, ...block })
          const observation = observationsOf(row)[index]
          if (!observation || !isRecorded(row, { observation })) continue
          left.push(`${mode} ${status} ${place} ${observation.state}`)
          const read = () =>
            db
              .select({ row: payment, version: sql<string>`xmin::text` })
              .from(payment)
              .where(eq(payment.id, row.id))
          const before = await read()
          const seen = { paymentId: row.id, signature: transactionName(), observation }
          expect(await applyObservation(context, { ...seen, source: 'watcher' })).toBe('same')
          expect(await read()).toEqual(before)
          expect(await db.select().from(event).where(eq(event.paymentId, row.id))).toEqual([])
        }
      }
  // A row that names no block, for what is nowhere or in a pool; one that names the block, for what landed there.
  expect(left).toEqual(
    MODES.flatMap((mode) => [
      `${mode} pending 0 not_found`,
      `${mode} pending 0 pending`,
      `${mode} pending 1 landed`,
    ]),
  )
})

test('what goes on waiting is written in one statement by the row of a round, and as without it', async () => {
  const { db } = ledger
  const context = { db, now: () => TIME }
  const alone: string[] = []
  for (const mode of ['hosted', 'received'] as const)
    for (const status of STATUSES)
      for (const [place, block] of BLOCKS.entries()) {
        const count = observationsOf(await ledger.add({ mode })).length
        for (let index = 0; index < count; index++) {
          const apply = async (byRow: boolean) => {
            const row = await ledger.add({ mode, status, updatedAt: TIME, ...block })
            const observation = observationsOf(row)[index] ?? { state: 'not_found' }
            const seen = { paymentId: row.id, signature: transactionName(), observation }
            const read = byRow ? { read: row } : {}
            let applied: unknown
            const sent = await readSent(async () => {
              applied = await applyObservation(context, { ...seen, source: 'watcher', ...read })
            })
            const [after] = await db.select().from(payment).where(eq(payment.id, row.id))
            const events = await db.select().from(event).where(eq(event.paymentId, row.id))
            if (byRow && sent.length === 1) alone.push(`${mode} ${status} ${place} ${index}`)
            return {
              applied,
              events: events.map((noted) => noted.status),
              status: after?.status,
              height: after?.blockHeight,
              time: after?.blockTime,
              fee: after?.fee,
            }
          }
          expect(await apply(true)).toEqual(await apply(false))
        }
      }
  // By the place in the list above: nowhere, in a pool, and in blocks that do not count yet.
  const waits = [0, 2, 4, 6, 7]
  expect(alone.filter((name) => name.includes('pending'))).toEqual(
    ['hosted', 'received'].flatMap((mode) =>
      [0, 1].flatMap((place) => waits.map((index) => `${mode} pending ${place} ${index}`)),
    ),
  )
})
