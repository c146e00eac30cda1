import { eq } from 'drizzle-orm'
import { describe, expect, test } from 'vitest'
import { evmAddress, inSol, transactionName } from '#testing/ledger-fixture.ts'
import { BLOCK_TIME, NOW, observationFixture } from '#testing/observation-fixture.ts'
import { MAX_REORG } from '../chains/chain.ts'
import { insertAttempt } from '../db/attempts.ts'
import { readCursor, writeCursor } from '../db/cursors.ts'
import type { NewPayment, PaymentRecord } from '../db/payments.ts'
import { settlementFee } from '../db/schema/proof.ts'
import { reserveFee } from '../db/settlement-fees.ts'
import { rollBack } from './apply-observation.ts'

/** What happens to a confirmed payment whose block is gone. No chain is asked. */

const { addOrder, addReceived, context, eventsOf, ledger, read, statusesOf } = observationFixture()

describe('a confirmation whose block is gone', () => {
  const confirmed = (signature: string) =>
    ({
      status: 'confirmed',
      evidence: 'sender',
      signature,
      blockHeight: 500,
      blockHash: '0xgone',
      blockTime: BLOCK_TIME,
      confirmedAt: BLOCK_TIME,
      fee: 21n,
      feePayer: evmAddress(),
    }) as const

  test('is rolled back, and its transaction is looked for again', async () => {
    const signature = transactionName()
    const row = await addOrder(confirmed(signature))
    expect(await rollBack(context(), row)).toBe(true)
    expect(await read(row.id)).toMatchObject({
      status: 'rolled_back',
      signature,
      reportedSignature: signature,
      blockHeight: null,
      blockHash: null,
      blockTime: null,
      fee: null,
      feePayer: null,
      confirmedAt: null,
      updatedAt: NOW,
    })
    expect(await eventsOf(row.id)).toMatchObject([
      {
        status: 'rolled_back',
        kind: 'payment',
        source: 'watcher',
        blockHeight: 500,
        at: NOW,
        accountId: ledger().accountId,
      },
    ])
  })

  test('stays where the payment has changed since it was read', async () => {
    const row = await addOrder(confirmed(transactionName()))
    const changed: Partial<PaymentRecord>[] = [
      { id: 'pay_1111111111111111111111' },
      { signature: transactionName() },
      { blockHash: '0xother' },
    ]
    for (const facts of changed) expect(await rollBack(context(), { ...row, ...facts })).toBe(false)
    const finalized = await addOrder({ ...confirmed(transactionName()), status: 'finalized' })
    expect(await rollBack(context(), finalized)).toBe(false)
    for (const { id } of [row, finalized]) expect(await statusesOf(id)).toEqual([])
  })

  test.each<[string, Partial<NewPayment>, number]>([
    [
      'an order has the blocks read again that a reorganization may have replaced',
      {},
      500 - MAX_REORG,
    ],
    ['a payment that the service signed needs none', { mode: 'hosted', nonce: 7 }, 900],
    ['a proof needs none', { mode: 'received' }, 900],
    ['an order of unknown height needs none', { blockHeight: null }, 900],
    ['an order on Solana needs none', inSol(), 900],
  ])('of %s', async (_, row, height) => {
    const added = await addOrder({ ...confirmed(transactionName()), ...row })
    await writeCursor(ledger().db, added.network, {
      from: await readCursor(ledger().db, added.network),
      to: 900,
    })
    expect(await rollBack(context(), added)).toBe(true)
    expect(await readCursor(ledger().db, added.network)).toBe(height)
  })

  test.each([
    ['is followed still where our wallet signed another one', evmAddress()],
    ['is looked for again where the payer did', null],
  ])('%s', async (_, signer) => {
    const [ours, third] = [transactionName(), transactionName()]
    const row = await addReceived({ ...confirmed(third), reportedSignature: ours })
    const attempt = { paymentId: row.id, network: row.network, signature: ours, signer }
    await insertAttempt(ledger().db, { ...attempt, number: 1, signedTransaction: '', maxFee: 9n })
    await rollBack(context(), row)
    expect((await read(row.id)).reportedSignature).toBe(signer === null ? third : ours)
  })

  test('has its blocks read again also where a round ends that began before', async () => {
    const { db } = ledger()
    const added = await addOrder(confirmed(transactionName()))
    const { network } = added
    await writeCursor(db, network, { from: await readCursor(db, network), to: 900 })
    await rollBack(context(), added)
    await writeCursor(db, network, { from: 900, to: 950 })
    expect(await readCursor(db, network)).toBe(500 - MAX_REORG)
    await writeCursor(db, network, { from: 500 - MAX_REORG, to: 950 })
    expect(await readCursor(db, network)).toBe(950)
  })

  test('leaves what our wallet has paid for its settlement open again', async () => {
    const signature = transactionName()
    const row = await addReceived({ ...confirmed(signature), reportedSignature: signature })
    const { id: paymentId, network } = row
    const { accountId } = ledger()
    const fee = { paymentId, network, wallet: evmAddress(), accountId, feeAtomic: 9n }
    await reserveFee(ledger().db, fee)
    await ledger()
      .db.update(settlementFee)
      .set({ paid: 21n })
      .where(eq(settlementFee.paymentId, paymentId))
    expect(await rollBack(context(), row)).toBe(true)
    const [open] = await ledger()
      .db.select()
      .from(settlementFee)
      .where(eq(settlementFee.paymentId, paymentId))
    expect(open).toMatchObject({ paid: null, reserved: 9n })
  })
})
