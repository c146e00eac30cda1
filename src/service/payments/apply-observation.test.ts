import { eq } from 'drizzle-orm'
import { describe, expect, test } from 'vitest'
import { buildPayment } from '#chains/solana/build.ts'
import { NATIVE_SOL } from '#contract/network.ts'
import type { PaymentStatus } from '#contract/payment.ts'
import {
  commitBefore,
  evmAddress,
  inSol,
  solanaAddress,
  transactionName,
  transferOf,
} from '#testing/ledger-fixture.ts'
import {
  BLOCK_TIME,
  HEIGHT,
  NOW,
  failed,
  final,
  landed,
  observationFixture,
  pending,
  unconfirmed,
} from '#testing/observation-fixture.ts'
import type { Observation } from '../chains/chain.ts'
import { insertAttempt } from '../db/attempts.ts'
import { takeClaim } from '../db/claims.ts'
import type { NewPayment, PaymentRecord } from '../db/payments.ts'
import { payment, refundRequest } from '../db/schema/payment.ts'
import { claim } from '../db/schema/proof.ts'
import type { LandedObservation } from '../verification/validate-transfer.ts'
import { applyObservation, transferKey } from './apply-observation.ts'

/** What an observation of a transaction does to a payment, its events and its claim: in one commit, or nothing. No chain is asked. */

const {
  addOrder,
  addReceived,
  addUnmatched,
  apply,
  claimsOf,
  eventsOf,
  ledger,
  read,
  statusesOf,
  unmatchedOf,
  useUp,
} = observationFixture()

describe('a payment moves', () => {
  const HAS_EVIDENCE: readonly PaymentStatus[] = [
    'pending',
    'confirmed',
    'finalized',
    'rolled_back',
  ]
  const inPool = 'in the pool'

  test.each<[PaymentStatus, typeof inPool | Partial<LandedObservation>, PaymentStatus[]]>([
    ['created', inPool, ['pending']],
    ['created', unconfirmed, ['pending']],
    ['created', {}, ['pending', 'confirmed']],
    ['created', final, ['pending', 'confirmed', 'finalized']],
    ['created', failed, ['pending']],
    ['created', { ...failed, ...final }, ['pending', 'failed']],
    ['pending', inPool, []],
    ['pending', unconfirmed, []],
    ['pending', {}, ['confirmed']],
    ['pending', final, ['confirmed', 'finalized']],
    ['pending', failed, []],
    ['pending', { ...failed, ...final }, ['failed']],
    ['rolled_back', inPool, ['pending']],
    ['rolled_back', unconfirmed, ['pending']],
    ['rolled_back', {}, ['confirmed']],
    ['rolled_back', final, ['confirmed', 'finalized']],
    ['rolled_back', failed, ['pending']],
    ['rolled_back', { ...failed, ...final }, ['failed']],
    ['expired', inPool, []],
    ['expired', unconfirmed, []],
    ['expired', {}, ['confirmed']],
    ['expired', final, ['confirmed', 'finalized']],
    ['expired', { ...failed, ...final }, []],
    ['confirmed', inPool, []],
    ['confirmed', {}, []],
    ['confirmed', final, ['finalized']],
    ['confirmed', { ...failed, ...final }, []],
    ['finalized', final, []],
    ['failed', final, []],
  ])('from %s, where the chain shows %o, to %j', async (status, shown, path) => {
    const signature = transactionName()
    const tied = HAS_EVIDENCE.includes(status) ? ({ signature, evidence: 'sender' } as const) : {}
    const row = await addOrder({ status, ...tied })
    const observation = shown === inPool ? pending(row) : landed(row, shown)
    expect(await apply(row, observation, { signature })).toBe(path.length > 0 ? 'moved' : 'same')
    const events = await eventsOf(row.id)
    const blockHeight = shown === inPool ? null : HEIGHT
    const { accountId } = ledger()
    expect(events).toMatchObject(
      path.map((to) => ({
        status: to,
        kind: 'payment',
        accountId,
        source: 'watcher',
        blockHeight,
        at: NOW,
      })),
    )
    expect(await read(row.id)).toMatchObject({ status: path.at(-1) ?? status })
    expect(await claimsOf(signature)).toHaveLength(path.includes('confirmed') ? 1 : 0)
  })

  test('with what the chain says of its transaction', async () => {
    const row = await addOrder({ draft: true, nonce: 2, failure: 'It was given up.' })
    const signature = transactionName()
    expect(await apply(row, pending(row), { signature, source: 'client' })).toBe('moved')
    expect(await read(row.id)).toMatchObject({
      status: 'pending',
      draft: false,
      evidence: 'sender',
      signature: null,
      reportedSignature: signature,
      nonce: 7,
      payerNonce: null,
      broadcastAt: NOW,
      updatedAt: NOW,
    })
    expect(await apply(row, landed(row), { signature })).toBe('moved')
    expect(await read(row.id)).toMatchObject({
      status: 'confirmed',
      signature,
      blockHeight: HEIGHT,
      blockHash: '0xblock',
      blockTime: BLOCK_TIME,
      fee: 21n,
      feePayer: row.sender,
      nonce: 7,
      failure: null,
      confirmedAt: NOW,
      evidence: 'sender',
    })
    const later = { db: ledger().db, now: () => new Date(NOW.getTime() + 1_000) }
    const seen = { paymentId: row.id, signature, source: 'watcher' } as const
    await applyObservation(later, { ...seen, observation: landed(row, final) })
    expect(await read(row.id)).toMatchObject({ status: 'finalized', confirmedAt: NOW })
    expect((await eventsOf(row.id)).map(({ source }) => source)).toEqual([
      'client',
      'watcher',
      'watcher',
    ])
  })

  test('and keeps the nonce and the time at which it left its payer, where they are known', async () => {
    const broadcastAt = new Date('2026-02-28T00:00:00.000Z')
    const row = await addOrder({ nonce: 2, broadcastAt })
    const signature = transactionName()
    const transfer = transferOf(row, { nonce: null })
    await apply(row, { state: 'pending', transfer }, { signature })
    expect(await read(row.id)).toMatchObject({ status: 'pending', nonce: 2, broadcastAt })
    await apply(row, landed(row, { transfer }), { signature })
    expect(await read(row.id)).toMatchObject({ status: 'confirmed', nonce: 2 })
  })

  test('to failed with the reason that the chain gives', async () => {
    const row = await addOrder()
    const signature = transactionName()
    await apply(row, landed(row, { ...failed, ...final }), { signature })
    expect(await read(row.id)).toMatchObject({ failure: 'reverted', signature, confirmedAt: null })
    const open = await addOrder()
    await apply(open, landed(open, failed), { signature: transactionName() })
    expect(await read(open.id)).toMatchObject({ status: 'pending', failure: null })
  })

  test('and keeps the nonce of a transaction that has its fees, as a faster one will have other fees', async () => {
    const row = await ledger().add({ fingerprint: '9:1' })
    const transfer = transferOf(row, { fingerprint: '9:1' })
    await apply(row, { state: 'pending', transfer }, { signature: transactionName() })
    expect(await read(row.id)).toMatchObject({ evidence: 'fingerprint', payerNonce: 7 })
    const faster = landed(row, { transfer: transferOf(row, { fingerprint: '12:3' }) })
    expect(await apply(row, faster, { signature: transactionName() })).toBe('moved')
    expect(await read(row.id)).toMatchObject({ status: 'confirmed', evidence: 'fingerprint' })
  })
})

describe('a payment does not move', () => {
  test('by a transaction that is not to be found; it is in no block then', async () => {
    const block = { blockHeight: 99, blockHash: '0xold', blockTime: BLOCK_TIME, fee: 5n }
    const signature = transactionName()
    const row = await addOrder({ status: 'pending', signature, ...block })
    expect(await apply(row, { state: 'not_found' }, { signature })).toBe('same')
    expect(await read(row.id)).toMatchObject({
      status: 'pending',
      blockHeight: null,
      blockHash: null,
      blockTime: null,
      fee: null,
    })
    expect(await statusesOf(row.id)).toEqual([])
  })

  test.each<[string, (row: PaymentRecord) => Observation]>([
    ['is back in the pool', pending],
    ['has reverted in a block that is not final', (row) => landed(row, failed)],
  ])('while its transaction %s; the former block is forgotten', async (_, observe) => {
    const block = { blockHeight: 99, blockHash: '0xold', blockTime: BLOCK_TIME, fee: 5n }
    const tied = { signature: transactionName(), evidence: 'sender' } as const
    const row = await addOrder({ status: 'pending', ...tied, ...block })
    expect(await apply(row, observe(row), tied)).toBe('same')
    expect(await read(row.id)).toMatchObject({ blockHeight: null, blockHash: null, fee: null })
  })

  test('while its block does not count yet; that block is known', async () => {
    const tied = { signature: transactionName(), evidence: 'sender' } as const
    const row = await addOrder({ status: 'pending', ...tied })
    expect(await apply(row, landed(row, unconfirmed), tied)).toBe('same')
    expect(await read(row.id)).toMatchObject({ blockHeight: HEIGHT, blockTime: BLOCK_TIME })
  })

  test('by what the pool does not show yet', async () => {
    const row = await addOrder()
    const signature = transactionName()
    expect(await apply(row, { state: 'pending' }, { signature })).toBe('same')
    const nothing: Observation = { state: 'pending', transfer: null }
    expect(await apply(row, nothing, { signature })).toBe('foreign')
    expect(await read(row.id)).toMatchObject({ status: 'created', reportedSignature: null })
  })

  test('by a transaction that is another payment, or that a block holds from before the order', async () => {
    const row = await addOrder()
    const signature = transactionName()
    const transfer = transferOf(row, { recipient: evmAddress() })
    expect(await apply(row, landed(row, { transfer }), { signature })).toBe('foreign')
    expect(await apply(row, landed(row, { transfer: null }), { signature })).toBe('foreign')
    expect(await apply(row, landed(row, { height: 100 }), { signature })).toBe('foreign')
    const unknown = { ...row, id: 'pay_1111111111111111111111' }
    expect(await apply(unknown, landed(row), { signature })).toBe('foreign')
    expect(await statusesOf(row.id)).toEqual([])
  })

  test('by a transfer that nothing ties to it; one that moves nothing needs no evidence', async () => {
    const row = await ledger().add()
    const signature = transactionName()
    expect(await apply(row, landed(row), { signature })).toBe('unproven')
    expect(await read(row.id)).toMatchObject({ status: 'created', signature: null })
    const expired = await ledger().add({ status: 'expired' })
    expect(await apply(expired, pending(expired), { signature })).toBe('same')
  })

  test('by a transaction that is another payment of the account', async () => {
    const signature = transactionName()
    await addOrder({ status: 'confirmed', signature, evidence: 'sender' })
    const row = await addOrder()
    expect(await apply(row, landed(row), { signature })).toBe('taken')
    const untied = await ledger().add()
    expect(await apply(untied, landed(untied), { signature })).toBe('taken')
    // In the ledger of another account it may be a payment too.
    const theirs = await addOrder({ accountId: ledger().otherId })
    expect(await apply(theirs, landed(theirs), { signature })).toBe('moved')
  })

  test('by a transaction that another payment takes at this moment', async () => {
    const signature = transactionName()
    const [row, other] = [await addOrder(), await addOrder()]
    const applied = await commitBefore(
      ledger().db,
      (tx) => tx.update(payment).set({ signature }).where(eq(payment.id, other.id)),
      () => apply(row, landed(row, unconfirmed), { signature }),
    )
    expect(applied).toBe('taken')
    expect(await statusesOf(row.id)).toEqual([])
  })

  test('and any other error of the database is thrown', async () => {
    const row = await addOrder()
    const signature = transactionName()
    await expect(apply(row, landed(row, { height: 101.5 }), { signature })).rejects.toThrow(
      'Failed query',
    )
    expect(await read(row.id)).toMatchObject({ status: 'created' })
  })

  test('again by a second transaction with the nonce of a confirmed one', async () => {
    const signature = transactionName()
    const tied = { signature, evidence: 'hosted', nonce: 7 } as const
    const row = await ledger().add({ mode: 'hosted', status: 'confirmed', ...tied })
    expect(await apply(row, landed(row, final), { signature: transactionName() })).toBe('same')
    expect(await apply(row, landed(row, final), { signature })).toBe('moved')
  })
})

describe('an order stays tied', () => {
  test('to the transaction that has paid it, with no evidence to be found any more', async () => {
    const tied = { signature: transactionName(), evidence: 'payer_signature' } as const
    const row = await ledger().add({ status: 'confirmed', ...tied })
    expect(await apply(row, landed(row, final), tied)).toBe('moved')
    expect(await read(row.id)).toMatchObject({ status: 'finalized', evidence: 'payer_signature' })
  })

  test('to what was reported for it, where it began before evidence was asked for', async () => {
    const reportedSignature = transactionName()
    const row = await ledger().add({ status: 'pending', reportedSignature, evidence: 'unproven' })
    const seen = { signature: reportedSignature }
    expect(await apply(row, landed(row), { signature: transactionName() })).toBe('unproven')
    expect(await apply(row, landed(row), seen)).toBe('moved')
    expect(await read(row.id)).toMatchObject({ status: 'confirmed', evidence: 'unproven' })
    const other = transactionName()
    const newer = await ledger().add({
      status: 'pending',
      reportedSignature: other,
      evidence: 'fingerprint',
    })
    expect(await apply(newer, landed(newer), { signature: other })).toBe('unproven')
  })

  test('to nothing without evidence: that is looked for', async () => {
    const signature = transactionName()
    const row = await addOrder({ status: 'pending', signature })
    expect(await apply(row, landed(row), { signature })).toBe('moved')
    expect(await read(row.id)).toMatchObject({ status: 'confirmed', evidence: 'sender' })
  })
})

describe('the transfer that confirms an order', () => {
  test('is used up for it, and is unmatched no longer', async () => {
    const row = await addOrder()
    const signature = transactionName()
    await addUnmatched(row, signature)
    expect(await apply(row, landed(row), { signature })).toBe('moved')
    expect(await claimsOf(signature)).toMatchObject([
      { attempt: 'order', paymentId: row.id, scope: ledger().accountId },
    ])
    expect(await unmatchedOf(signature)).toMatchObject({ matchedPaymentId: row.id })
  })

  test('is used up once: not when it becomes final, and not where the caller does so', async () => {
    const signature = transactionName()
    const confirmed = await addOrder({ status: 'confirmed', signature, evidence: 'sender' })
    expect(await apply(confirmed, landed(confirmed, final), { signature })).toBe('moved')
    expect(await claimsOf(signature)).toEqual([])
    const row = await addOrder()
    const other = transactionName()
    expect(await apply(row, landed(row), { signature: other, claimed: true })).toBe('moved')
    expect(await claimsOf(other)).toEqual([])
  })

  test('waits while a proof of it is looked at, and pays nothing here that a proof has used up', async () => {
    const [row, other] = [await addOrder(), await addReceived()]
    const [held, used] = [transactionName(), transactionName()]
    const { accountId } = ledger()
    const key = { network: row.network, key: `txid:${held}`, fingerprint: 'f' }
    await takeClaim(ledger().db, { ...key, scope: accountId, accountId, exclusive: false })
    await addUnmatched(row, held)
    expect(await apply(row, landed(row), { signature: held })).toBe('same')
    expect(await unmatchedOf(held)).toMatchObject({ matchedPaymentId: null })
    await useUp(used, other.id)
    expect(await apply(row, landed(row), { signature: used })).toBe('taken')
    expect(await read(row.id)).toMatchObject({ status: 'created', signature: null })
  })

  test('is the payment that the service signed, whatever its payee used it for', async () => {
    const [row, other] = [await ledger().add({ mode: 'hosted', nonce: 7 }), await addReceived()]
    const signature = transactionName()
    await useUp(signature, other.id)
    expect(await apply(row, landed(row), { signature })).toBe('moved')
    expect(await read(row.id)).toMatchObject({ status: 'confirmed', evidence: 'hosted' })
  })

  test('is not used up by a payer’s own record, whose payee is another account', async () => {
    const recipient = evmAddress()
    await ledger().own(recipient, ledger().otherId)
    const row = await addOrder({ recipient })
    const signature = transactionName()
    expect(await apply(row, landed(row), { signature })).toBe('moved')
    expect(await claimsOf(signature)).toEqual([])
  })

  test('is known on Solana by its message, and waits until the node shows that', async () => {
    const row = await ledger().add(inSol())
    const transfer = transferOf(row, { memo: row.id, nonce: null })
    const signature = transactionName()
    expect(await apply(row, landed(row, { transfer }), { signature })).toBe('same')
    expect(await read(row.id)).toMatchObject({ status: 'created' })
    const messageHash = signature.slice(2)
    expect(await apply(row, landed(row, { transfer, messageHash }), { signature })).toBe('moved')
    expect(await read(row.id)).toMatchObject({ status: 'confirmed', evidence: 'memo' })
    expect(
      await ledger()
        .db.select()
        .from(claim)
        .where(eq(claim.key, `message:${messageHash}`)),
    ).toMatchObject([{ paymentId: row.id }])
    expect(transferKey(row.network, { signature, messageHash: undefined })).toBeNull()
  })

  test.each<[string, PaymentStatus, 'local' | 'received', string]>([
    ['was refunded, pays no order', 'finalized', 'local', 'taken'],
    ['is being refunded, pays no order yet', 'pending', 'local', 'same'],
    ['is being refunded, pays no proof', 'pending', 'received', 'taken'],
  ])('and that %s', async (_, status, mode, expected) => {
    const row = await ledger().add({ mode, senderVerified: true })
    const signature = transactionName()
    await addUnmatched(row, signature)
    const { sender: recipient, recipient: sender } = row
    const metadata = JSON.stringify({ referenceId: signature })
    await ledger().add({ sender, recipient, status, metadata })
    const observation = landed(row, { moved: [transferOf(row)] })
    expect(await apply(row, observation, { signature })).toBe(expected)
    expect(await read(row.id)).toMatchObject({ status: 'created', signature: null })
    expect(await claimsOf(signature)).toEqual([])
    expect(await unmatchedOf(signature)).toMatchObject({ matchedPaymentId: null })
  })
})

test('a hosted payment has the proof of what landed of all that was signed for it', async () => {
  const [slow, fast] = [transactionName(), transactionName()]
  const row = await ledger().add({
    mode: 'hosted',
    nonce: 7,
    paymentProof: 'proof of the fast one',
  })
  const { id: paymentId, network } = row
  const attempt = { paymentId, network, signedTransaction: '', maxFee: 9n }
  const proofs = { [slow]: 'proof of the slow one', [fast]: 'proof of the fast one' }
  for (const [index, [signature, paymentProof]] of Object.entries(proofs).entries())
    await insertAttempt(ledger().db, { ...attempt, number: index + 1, signature, paymentProof })
  await apply(row, pending(row), { signature: slow })
  expect(await read(row.id)).toMatchObject({ paymentProof: 'proof of the fast one' })
  await apply(row, landed(row), { signature: slow })
  expect(await read(row.id)).toMatchObject({ paymentProof: 'proof of the slow one' })
})

test('a request for a refund is settled once the refund is final', async () => {
  const original = await addReceived({ status: 'finalized' })
  const { id: paymentId, accountId, amount } = original
  const id = `rrq_${paymentId}`
  const asked = { id, paymentId, accountId, number: 1, amount, signature: '0x', createdAt: NOW }
  await ledger()
    .db.insert(refundRequest)
    .values({ ...asked, earlierRefunds: [] })
  const settledAt = async () =>
    (await ledger().db.select().from(refundRequest).where(eq(refundRequest.id, id)))[0]?.settledAt
  const refund = await ledger().add({ mode: 'hosted', nonce: 7, refundOf: paymentId, amount })
  const signature = transactionName()
  await apply(refund, landed(refund), { signature })
  expect(await settledAt()).toBeNull()
  await apply(refund, landed(refund, final), { signature })
  expect(await settledAt()).toEqual(NOW)
})

describe('a transaction on Solana that fails', () => {
  const failing = { ...failed, ...final }
  const [built, walletsOwn] = [solanaAddress(), solanaAddress()]

  async function addBuilt(row: Partial<NewPayment> = {}): Promise<PaymentRecord> {
    const terms = inSol()
    const bytes = buildPayment({
      paymentId: 'pay_1111111111111111111111',
      network: terms.network,
      asset: NATIVE_SOL,
      sender: terms.sender,
      recipient: terms.recipient,
      amountAtomic: terms.amount,
      blockhash: built,
      unitLimit: 30_000,
      unitPriceMicroLamports: 1n,
    })
    const unsignedTransaction = Buffer.from(bytes).toString('base64')
    return ledger().add({ ...terms, unsignedTransaction, ...row })
  }
  const fail = (row: PaymentRecord, failedBlockhash: string) =>
    apply(
      row,
      landed(row, {
        ...failing,
        failedBlockhash,
        transfer: transferOf(row, { memo: row.id, nonce: null }),
      }),
      { signature: transactionName() },
    )

  test('ends the order that the service built it for, and no order whose wallet made it itself', async () => {
    const row = await addBuilt()
    expect(await fail(row, walletsOwn)).toBe('same')
    expect(await read(row.id)).toMatchObject({ status: 'created' })
    expect(await fail(row, built)).toBe('moved')
    expect(await read(row.id)).toMatchObject({ status: 'failed' })
    const erased = await addBuilt({ unsignedTransaction: null })
    expect(await fail(erased, built)).toBe('same')
  })

  test('ends a refund, and what the service signed itself', async () => {
    const original = await addReceived({ status: 'finalized' })
    const refund = await addBuilt({ refundOf: original.id })
    expect(await fail(refund, walletsOwn)).toBe('moved')
    const row = await addBuilt({ mode: 'hosted' })
    expect(
      await apply(
        row,
        landed(row, {
          ...failing,
          failedBlockhash: walletsOwn,
          transfer: transferOf(row, { memo: row.id, nonce: null }),
        }),
        { signature: transactionName() },
      ),
    ).toBe('moved')
  })
})
