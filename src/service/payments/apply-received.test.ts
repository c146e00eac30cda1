import { eq } from 'drizzle-orm'
import { describe, expect, test } from 'vitest'
import { evmAddress, inSol, transactionName, transferOf } from '#testing/ledger-fixture.ts'
import {
  HEIGHT,
  NOW,
  failed,
  final,
  landed,
  observationFixture,
  unconfirmed,
} from '#testing/observation-fixture.ts'
import { insertAttempt } from '../db/attempts.ts'
import { claimAssigned, claimForOrder } from '../db/claims.ts'
import { unmatchedTransfer } from '../db/schema/payment.ts'
import { refusedPayer, settlementFee } from '../db/schema/proof.ts'
import { refusePayer, reserveFee } from '../db/settlement-fees.ts'

/** What an observation of a transaction does to a payment that a proof has handed in: which of the transfers is its own. No chain is asked. */

const {
  addOrder,
  addReceived,
  addUnmatched,
  apply,
  claimsOf,
  eventsOf,
  ledger,
  read,
  unmatchedOf,
  useUp,
} = observationFixture()

describe('a payment that was received by a proof', () => {
  test('is the transfer among others that its transaction moved, and needs no evidence', async () => {
    const row = await addReceived()
    const signature = transactionName()
    const other = transferOf(row, { recipient: evmAddress() })
    const moved = [other, transferOf(row)]
    expect(await apply(row, landed(row, { transfer: null, moved }), { signature })).toBe('moved')
    expect(await read(row.id)).toMatchObject({ status: 'confirmed', evidence: null })
    expect(await claimsOf(signature)).toEqual([])
    const order = await addOrder()
    const alone = { transfer: null, moved: [transferOf(order)] }
    expect(await apply(order, landed(order, alone), { signature })).toBe('foreign')
    const nothing = await addReceived()
    expect(
      await apply(nothing, landed(nothing, { moved: [other], transfer: null }), { signature }),
    ).toBe('foreign')
  })

  test('is tied by its proof alone, on Solana too', async () => {
    const row = await ledger().add({ ...inSol(), mode: 'received' })
    const signature = transactionName()
    expect(await apply(row, landed(row), { signature })).toBe('moved')
    expect(await read(row.id)).toMatchObject({ status: 'confirmed', evidence: null })
  })

  test('may have a transaction that is an order’s too', async () => {
    const signature = transactionName()
    await addOrder({ status: 'confirmed', signature, evidence: 'sender' })
    const row = await addReceived()
    expect(await apply(row, landed(row), { signature })).toBe('moved')
  })

  test('is confirmed by a transaction as often as that moved its terms', async () => {
    const terms = { sender: evmAddress(), recipient: evmAddress() }
    const signature = transactionName()
    const rows = [await addReceived(terms), await addReceived(terms), await addReceived(terms)]
    const applied: string[] = []
    for (const row of rows) {
      const moved = [transferOf(row), transferOf(row), transferOf(row, { amountAtomic: 1n })]
      applied.push(await apply(row, landed(row, { moved }), { signature }))
      await claimForOrder(ledger().db, claimant(), {
        network: row.network,
        key: `use:${row.id}`,
        paymentId: row.id,
      })
    }
    expect(applied).toEqual(['moved', 'moved', 'taken'])
  })

  const claimant = () => ({
    scope: ledger().accountId,
    accountId: ledger().accountId,
    exclusive: false,
  })

  test('takes an unmatched transfer, assigned or not, only when no other equal one is left', async () => {
    const terms = { sender: evmAddress(), recipient: evmAddress() }
    const signature = transactionName()
    const [first, second] = [await addReceived(terms), await addReceived(terms)]
    const order = await ledger().add(terms)
    await addUnmatched(first, signature)
    const { network } = first
    const assignment = { network, key: `txid:${signature}`, paymentId: order.id }
    await claimAssigned(ledger().db, claimant(), assignment)
    await ledger()
      .db.update(unmatchedTransfer)
      .set({ assignedPaymentId: order.id })
      .where(eq(unmatchedTransfer.signature, signature))
    const observation = landed(first, { moved: [transferOf(first), transferOf(first)] })
    expect(await apply(first, observation, { signature })).toBe('moved')
    expect(await unmatchedOf(signature)).toMatchObject({ assignedPaymentId: order.id })
    expect(await claimsOf(signature)).toMatchObject([{ paymentId: order.id }])
    const use = { network, key: `use:${first.id}`, paymentId: first.id }
    await claimForOrder(ledger().db, claimant(), use)
    expect(await apply(second, observation, { signature })).toBe('moved')
    expect(await unmatchedOf(signature)).toMatchObject({
      matchedPaymentId: second.id,
      assignedPaymentId: null,
    })
    expect(await claimsOf(signature)).toEqual([])
  })

  test('takes the one unmatched transfer of its transaction', async () => {
    const [row, signature] = [await addReceived(), transactionName()]
    await addUnmatched(row, signature)
    const observation = landed(row, { moved: [transferOf(row)] })
    // A revert, or a block that does not count, takes nothing.
    await apply(row, landed(row, { ...unconfirmed, moved: [transferOf(row)] }), { signature })
    expect(await unmatchedOf(signature)).toMatchObject({ matchedPaymentId: null })
    expect(await apply(row, observation, { signature })).toBe('moved')
    expect(await unmatchedOf(signature)).toMatchObject({ matchedPaymentId: row.id })
  })

  test('takes the unmatched transfer of its authorization, and no other one while an equal one is left', async () => {
    const terms = { sender: evmAddress(), recipient: evmAddress() }
    const [own, none] = [await addReceived(terms), await addReceived(terms)]
    const signature = transactionName()
    const keys = [`nonce:${own.id}`, `nonce:${transactionName()}`]
    for (const key of keys) await addUnmatched(own, signature, key)
    const moved = Array.from({ length: 4 }, () => transferOf(own))
    for (const row of [own, none]) await useUp(signature, row.id, `nonce:${row.id}`)
    const rowsOf = eq(unmatchedTransfer.signature, signature)
    const matches = async () => {
      const rows = await ledger().db.select().from(unmatchedTransfer).where(rowsOf)
      const matchOf = (key: string) => rows.find((row) => row.authorizationKey === key)
      return keys.map((key) => matchOf(key)?.matchedPaymentId ?? null)
    }
    expect(await apply(none, landed(none, { moved }), { signature })).toBe('moved')
    expect(await matches()).toEqual([null, null])
    expect(await apply(own, landed(own, { moved }), { signature })).toBe('moved')
    expect(await matches()).toEqual([own.id, null])
  })

  /** A payment that our wallet settles, and whose payer made a settlement fail before. */
  async function addSettled(signature: string) {
    const row = await addReceived({ reportedSignature: signature, paymentProof: 'proof' })
    const { id: paymentId, network, sender: payer } = row
    const attempt = { paymentId, network, signature, signer: evmAddress() }
    await insertAttempt(ledger().db, { ...attempt, number: 1, signedTransaction: '', maxFee: 9n })
    const { accountId } = ledger()
    await reserveFee(ledger().db, {
      paymentId,
      network,
      wallet: attempt.signer,
      accountId,
      feeAtomic: 9n,
    })
    await refusePayer(ledger().db, { network, payer, paymentId, transaction: 'earlier' })
    return row
  }
  const feeOf = async (id: string) =>
    (await ledger().db.select().from(settlementFee).where(eq(settlementFee.paymentId, id)))[0]?.paid
  const isRefused = async (id: string) =>
    ((await ledger().db.select().from(refusedPayer).where(eq(refusedPayer.paymentId, id)))[0]
      ?.refusedUntil ?? NOW) > new Date()

  test('has the fee of its receipt once the block counts, and its payer is refused no longer', async () => {
    const signature = transactionName()
    const row = await addSettled(signature)
    await apply(row, landed(row, unconfirmed), { signature })
    expect(await read(row.id)).toMatchObject({ status: 'pending', fee: null, feePayer: null })
    expect(await feeOf(row.id)).toBeNull()
    expect(await isRefused(row.id)).toBe(true)
    await apply(row, landed(row), { signature })
    expect(await read(row.id)).toMatchObject({ fee: 21n, feePayer: row.sender })
    expect(await read(row.id)).toMatchObject({ paymentProof: 'proof' })
    expect(await feeOf(row.id)).toBe(21n)
    expect(await isRefused(row.id)).toBe(false)
  })

  test('that has failed has cost the fee, and its payer stays refused', async () => {
    const signature = transactionName()
    const row = await addSettled(signature)
    await apply(row, landed(row, { ...failed, ...final }), { signature })
    expect(await feeOf(row.id)).toBe(21n)
    expect(await isRefused(row.id)).toBe(true)
  })

  test('has an event of its settlement when a proof was used for it, with its last status', async () => {
    const signature = transactionName()
    const row = await addReceived()
    await useUp(signature, row.id)
    await apply(row, landed(row), { signature, source: 'facilitator' })
    const settlement = { kind: 'settlement', source: 'facilitator', blockHeight: HEIGHT, at: NOW }
    const events = await eventsOf(row.id)
    expect(events).toMatchObject([
      { kind: 'payment', status: 'pending' },
      { kind: 'payment', status: 'confirmed' },
      { ...settlement, status: 'confirmed', accountId: ledger().accountId },
    ])
    await apply(row, landed(row, final), { signature })
    expect((await eventsOf(row.id)).filter(({ kind }) => kind === 'settlement')).toHaveLength(1)
    const atOnce = await addReceived()
    await useUp(transactionName(), atOnce.id)
    await apply(atOnce, landed(atOnce, final), { signature: transactionName() })
    expect((await eventsOf(atOnce.id)).at(-1)).toMatchObject({
      kind: 'settlement',
      status: 'finalized',
    })
    const without = await addOrder()
    await apply(without, landed(without), { signature: transactionName() })
    expect((await eventsOf(without.id)).map(({ kind }) => kind)).toEqual(['payment', 'payment'])
  })
})
