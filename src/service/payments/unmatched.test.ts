import { eq, sql } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Hex, TypedDataDefinition } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { createPaymentId, type PaymentStatus } from '#contract/payment.ts'
import { signBuilt, startEvm, type EvmFixture } from '#testing/local-chains.ts'
import { proveTxid } from '#testing/proofs.ts'
import {
  eventually,
  openAccount,
  openContext,
  ownWallet,
  type OpenedContext,
} from '#testing/service-context.ts'
import type { Database } from '#postgres/open.ts'
import { claimForOrder } from '../db/claims.ts'
import { findPayment, insertPayment } from '../db/payments.ts'
import { payment } from '../db/schema/payment.ts'
import { claim } from '../db/schema/proof.ts'
import { assignmentKey, lockTransfer, markMatched } from '../db/unmatched.ts'
import { receivePayment } from '../settlement/receive.ts'
import { pollOnce } from '../monitor/poll.ts'
import { buildTransaction } from './build.ts'
import { reportSubmitted } from '../monitor/report.ts'
import { readPaymentBody } from './status.ts'
import { noteUnmatched, readUnmatched } from './unmatched.ts'
import { assignUnmatched, unassignUnmatched } from './unmatched-assign.ts'

/** Money that arrived and that nothing ties to an order: its wallet replaced the fees, and its sender is not verified. */

const ETH = 10n ** 18n
const PAID = ETH / 100n
const RESOURCE = 'https://shop.example/a'

let evm: EvmFixture

beforeAll(async () => {
  evm = await startEvm({ slotsInEpoch: 2 })
  await evm.mine()
})
afterAll(() => evm?.[Symbol.asyncDispose]())

/** A transfer that names no order, in a block unless `blocks` is 0. */
async function sendPlain(payer: PrivateKeyAccount, payee: Hex, blocks = 3): Promise<Hex> {
  const fees = { gas: 21_000n, maxFeePerGas: 10n ** 10n, maxPriorityFeePerGas: 10n ** 9n }
  const bytes = await payer.signTransaction({
    type: 'eip1559',
    chainId: 31_337,
    nonce: 0,
    ...fees,
    to: payee,
    value: PAID,
  })
  const signature = await evm.client.sendRawTransaction({ serializedTransaction: bytes })
  if (blocks > 0) await evm.mine(blocks)
  return signature
}

describe('on Postgres', () => {
  let opened: OpenedContext

  beforeAll(async () => {
    opened = await openContext([evm.network])
  })
  afterAll(() => opened?.[Symbol.asyncDispose]())

  async function follow(): Promise<void> {
    const [chain] = opened.context.chains.values()
    if (!chain) throw new Error('no chain')
    const tip = Number(await evm.client.getBlockNumber())
    await eventually(
      () => chain.head(),
      ({ height }) => height >= tip,
    )
    expect((await pollOnce(opened.context, chain, { expiredToo: true })).failures).toEqual([])
  }

  type Parties = { payer: PrivateKeyAccount; payee: Hex }

  const order = ({ payer, payee }: Parties, reference: string) =>
    buildTransaction(opened.context, opened.actor, {
      walletAddress: payer.address,
      recipientAddress: payee,
      amount: '0.01',
      resource: RESOURCE,
      metadata: { referenceId: reference },
      senderVerified: false,
    })

  /** Two equal orders of an unverified payer, and a transfer with other fees that fits both. */
  async function unmatched() {
    const [payer, wallet] = await Promise.all([evm.wallet(ETH), evm.wallet(ETH)])
    const payee = wallet.address
    await ownWallet(opened, payee)
    const orders = [
      await order({ payer, payee }, 'one'),
      await order({ payer, payee }, 'two'),
    ] as const
    await evm.mine()
    const signature = await sendPlain(payer, payee)
    await follow()
    const [transfer] = await listed(signature)
    if (!transfer) throw new Error('the transfer is not listed')
    return {
      payer,
      payee,
      wallet,
      signature,
      transfer,
      first: orders[0].paymentId,
      second: orders[1].paymentId,
    }
  }

  const list = (actor = opened.actor) =>
    readUnmatched(opened.context, actor, { limit: 500, offset: 0 })
  const listed = async (signature: string) =>
    (await list()).transfers.filter((transfer) => transfer.signature === signature)
  const body = (paymentId: string) => readPaymentBody(opened.context, paymentId)
  const assign = (
    transferId: string,
    input: Parameters<typeof assignUnmatched>[2],
    actor = opened.actor,
  ) => assignUnmatched(opened.context, { actor, transferId }, input)
  const unassign = (transferId: string, actor = opened.actor) =>
    unassignUnmatched(opened.context, { actor, transferId }, {})
  const claimsOf = (signature: string) =>
    opened.context.db
      .select()
      .from(claim)
      .where(eq(claim.key, `txid:${signature}`))

  /** The payer says with a signature which order its transaction pays. */
  async function sign(payer: PrivateKeyAccount, paymentId: string, signature: string) {
    const { attribution } = await body(paymentId)
    const request: unknown = attribution.request
    const payerSignature = await payer.signTypedData(request as TypedDataDefinition)
    return reportSubmitted(opened.context, opened.actor, { paymentId, signature, payerSignature })
  }

  /** What an operator is asked to sign to return a transfer: its transaction is the reference. */
  const build = (from: string, { payer, signature }: Pick<Parties, 'payer'> & { signature: Hex }) =>
    buildTransaction(opened.context, opened.actor, {
      walletAddress: from,
      recipientAddress: payer.address,
      amount: '0.01',
      metadata: { referenceId: signature },
      senderVerified: true,
    })

  async function refund(
    wallet: PrivateKeyAccount,
    made: Parameters<typeof build>[1],
    blocks = 3,
  ): Promise<string> {
    const { paymentId } = await build(wallet.address, made)
    await evm.mine()
    await sign(wallet, paymentId, await sendPlain(wallet, made.payer.address, blocks))
    await follow()
    return paymentId
  }

  const receive = async (
    { payer, payee, signature }: Parties & { signature: Hex },
    signer = payer,
  ) => {
    const resource = 'https://shop.example/b'
    const { network } = evm.network
    return receivePayment(opened.context, opened.actor, {
      walletAddress: payee,
      paymentProof: await proveTxid({
        payer,
        payTo: payee,
        txRef: signature,
        network,
        amount: PAID,
        url: resource,
        signer,
      }),
      expectedAmount: '0.01',
      resource,
      timeout: 10,
    })
  }

  test('it is shown to the payee with the orders it fits, and to nobody else', async () => {
    const { transfer, signature, first, second, payer, payee } = await unmatched()
    expect(transfer).toMatchObject({
      transferId: expect.stringMatching(/^umt_/),
      network: evm.network.network,
      sender: payer.address,
      recipient: payee,
      symbol: 'ETH',
      amount: { value: '0.01' },
      amountAtomic: PAID.toString(),
      assigned: null,
    })
    expect(transfer.candidates).toEqual([
      {
        paymentId: first,
        status: 'created',
        timestamp: expect.any(Number),
        metadata: { referenceId: 'one' },
      },
      {
        paymentId: second,
        status: 'created',
        timestamp: expect.any(Number),
        metadata: { referenceId: 'two' },
      },
    ])
    expect((await body(first)).attribution).toMatchObject({
      evidence: null,
      missing: ['payer_signature', 'sender_verification'],
      transfer: signature,
    })
    expect(await list(await openAccount(opened.context))).toEqual({
      success: true,
      total: 0,
      undecided: 0,
      transfers: [],
    })
    const page = await readUnmatched(opened.context, opened.actor, { limit: 1, offset: 0 })
    expect(page).toMatchObject({ total: (await list()).total, transfers: [{ signature }] })
  })

  test('a person assigns it to an order: that is recorded, moves no status, claims the transfer, and can be undone', async () => {
    const { transfer, signature, first, second } = await unmatched()
    const { transferId } = transfer
    const before = await body(first)
    const assigned = { paymentId: first, by: 'Ana', note: 'She called.' }
    expect(await assign(transferId, assigned)).toMatchObject({
      transfer: { assigned: { ...assigned, at: expect.any(Number) } },
    })
    const after = await body(first)
    expect(after.attribution.assigned).toEqual({
      transferId,
      transfer: signature,
      by: 'Ana',
      at: expect.any(Number),
      note: 'She called.',
    })
    expect({ ...after, confirmations: 0, attribution: null }).toEqual({
      ...before,
      confirmations: 0,
      attribution: null,
    })
    expect(await claimsOf(signature)).toMatchObject([
      { paymentId: first, exclusive: true, scope: opened.actor.accountId },
    ])

    // Once more changes nothing; another order is refused until it is undone.
    expect(await assign(transferId, { paymentId: first, by: 'Ben' })).toMatchObject({
      transfer: { assigned },
    })
    await expect(assign(transferId, { paymentId: second })).rejects.toMatchObject({
      code: 'INVALID_PARAMETERS',
      facts: { details: { paymentId: expect.stringContaining(first) } },
    })
    expect((await unassign(transferId)).transfer.assigned).toBeNull()
    expect((await unassign(transferId)).transfer.assigned).toBeNull()
    expect(await claimsOf(signature)).toEqual([])
    expect((await body(first)).attribution.assigned).toBeNull()
    expect(await assign(transferId, { paymentId: second })).toMatchObject({
      transfer: { assigned: { paymentId: second, by: null, note: null } },
    })
  })

  test('what waits for a decision comes before what is assigned or paid back, however much newer that is', async () => {
    const oldest = await unmatched()
    const later = [await unmatched(), await unmatched()] as const
    const [before, whole] = [await list(), { limit: 1, offset: 0 }]
    await assign(later[0].transfer.transferId, { paymentId: later[0].first })
    const { wallet, signature } = later[1]
    const paymentId = await refund(wallet, later[1])
    const { status } = await body(paymentId)
    expect(['confirmed', 'finalized']).toContain(status)
    expect(await listed(signature)).toMatchObject([{ refundedBy: { paymentId, status } }])
    const { transfers, undecided, total } = await list()
    expect({ undecided, total }).toEqual({ undecided: before.undecided - 2, total: before.total })
    const places = [oldest, ...later].map((each) =>
      transfers.findIndex((transfer) => transfer.signature === each.signature),
    )
    expect(places[0]).toBeLessThan(undecided)
    expect(places.slice(1).every((place) => place >= undecided)).toBe(true)
    const [first] = (await readUnmatched(opened.context, opened.actor, whole)).transfers
    expect(first?.signature).toBe(oldest.signature)
  })

  test('a refund counts from when it may land, so that nobody refunds twice', async () => {
    const made = await unmatched()
    const { undecided } = await list()
    const paymentId = await refund(made.wallet, made, 0)
    expect(await listed(made.signature)).toMatchObject([
      { refundedBy: { paymentId, status: 'pending' } },
    ])
    expect((await list()).undecided).toBe(undecided - 1)
    await evm.mine(3)
    await follow()
    const { status } = await body(paymentId)
    expect(['confirmed', 'finalized']).toContain(status)
    expect(await listed(made.signature)).toMatchObject([{ refundedBy: { paymentId, status } }])
    const move = (to: PaymentStatus) =>
      opened.context.db.update(payment).set({ status: to }).where(eq(payment.id, paymentId))
    await move('rolled_back')
    expect(await listed(made.signature)).toMatchObject([{ refundedBy: { status: 'rolled_back' } }])
    await move('expired')
    const row = await findPayment(opened.context.db, paymentId)
    if (!row) throw new Error('no refund')
    for (const [mode, at, counts] of [
      ['received', 'finalized', false],
      ['hosted', 'failed', false],
      ['draft', 'created', true],
      ['hosted', 'created', true],
    ] as const) {
      const id = createPaymentId()
      const draft = mode === 'draft'
      const kind = { mode: draft ? ('local' as const) : mode, draft }
      const other = { id, ...kind, status: at, signature: null, nonce: null, fingerprint: null }
      await insertPayment(opened.context.db, { ...row, ...other })
      const refundedBy = counts ? { paymentId: id, status: at } : null
      expect(await listed(made.signature), `${mode} ${at}`).toMatchObject([{ refundedBy }])
      if (draft)
        await opened.context.db.update(payment).set({ status: 'expired' }).where(eq(payment.id, id))
    }
    expect((await list()).undecided).toBe(undecided - 1)
  })

  test('a refund from a wallet that is not registered counts', async () => {
    const made = await unmatched()
    const paymentId = await refund(await evm.wallet(ETH), made)
    expect(await listed(made.signature)).toMatchObject([{ refundedBy: { paymentId } }])
  })

  const refusedFor = (paymentId: string) => ({
    code: 'INVALID_PARAMETERS',
    facts: {
      details: {
        reason: { code: 'transfer_refunded' },
        metadata: expect.stringContaining(paymentId),
      },
    },
  })

  test('of two operators who refund one transfer at once one is refused, and so is everybody until the other refund has expired', async () => {
    const made = await unmatched()
    const { undecided } = await list()
    const wallets = [await evm.wallet(ETH), await evm.wallet(ETH)]
    const built = await Promise.allSettled(wallets.map(({ address }) => build(address, made)))
    const [one, ...more] = built.flatMap((each) => (each.status === 'fulfilled' ? each.value : []))
    if (!one) throw new Error('nobody could refund')
    expect(more).toEqual([])
    const refused = refusedFor(one.paymentId)
    const [other] = built.flatMap((each) => (each.status === 'rejected' ? [each] : []))
    expect(other?.reason).toMatchObject(refused)
    const [transfer] = await listed(made.signature)
    expect(transfer).toMatchObject({ refundedBy: { paymentId: one.paymentId, status: 'created' } })
    // It may come to nothing: it stays among those that need a decision.
    expect((await list()).undecided).toBe(undecided)
    await expect(build(made.wallet.address, made)).rejects.toMatchObject(refused)
    await opened.context.db
      .update(payment)
      .set({ status: 'expired' })
      .where(eq(payment.id, one.paymentId))
    const next = await build(made.wallet.address, made)
    await evm.client.sendRawTransaction({
      serializedTransaction: await signBuilt(made.wallet, next.transaction),
    })
    await evm.mine(3)
    await follow()
    await expect(build(made.wallet.address, made)).rejects.toMatchObject(refusedFor(next.paymentId))
  })

  test.each([
    ['is refunded', 3],
    ['is being refunded', 0],
  ])('what %s pays no order and no proof', async (_, blocks) => {
    const made = await unmatched()
    const { payer, first, second, signature, transfer } = made
    await refund(made.wallet, made, blocks)
    // Nothing asks the payer to sign for it any more.
    expect((await body(first)).attribution.transfer).toBeNull()
    const signed = sign(payer, first, signature)
    if (blocks === 0) await signed
    else
      await expect(signed).rejects.toMatchObject({
        code: 'INVALID_PARAMETERS',
        facts: { details: { signature: expect.stringContaining('refunded') } },
      })
    await follow()
    expect(await body(first)).toMatchObject({ status: 'created' })
    await expect(receive(made)).rejects.toMatchObject({ reason: 'already_used' })
    await expect(assign(transfer.transferId, { paymentId: second })).rejects.toMatchObject({
      code: 'INVALID_PARAMETERS',
      facts: { details: { transferId: expect.stringContaining('refund') } },
    })
    expect(await claimsOf(signature)).toEqual([])
    expect(await listed(signature)).toHaveLength(1)
  })

  test('what pays an order by late evidence has no refund to begin any more', async () => {
    const { payer, first, signature } = await unmatched()
    await sign(payer, first, signature)
    await follow()
    expect(['confirmed', 'finalized']).toContain((await body(first)).status)
    expect(await listed(signature)).toEqual([])
  })

  test('only an own unpaid order whose terms it fits can have it, and one transfer at most', async () => {
    const [one, other] = [await unmatched(), await unmatched()]
    const { transferId } = one.transfer
    const stranger = await openAccount(opened.context)
    await expect(assign(transferId, { paymentId: one.first }, stranger)).rejects.toMatchObject({
      code: 'NOT_FOUND',
    })
    await expect(unassign(transferId, stranger)).rejects.toMatchObject({ code: 'NOT_FOUND' })
    const late = await order(one, 'late')
    const theirs = await buildTransaction(opened.context, stranger, {
      walletAddress: one.payer.address,
      recipientAddress: one.payee,
      amount: '0.01',
    })
    for (const paymentId of [
      other.first,
      late.paymentId,
      theirs.paymentId,
      'pay_1111111111111111111111',
    ]) {
      await expect(assign(transferId, { paymentId })).rejects.toMatchObject({
        code: 'INVALID_PARAMETERS',
        facts: { details: { paymentId: expect.any(String) } },
      })
    }

    // A second transfer of the same payer fits both orders as well.
    const fees = { gas: 21_000n, maxFeePerGas: 10n ** 10n, maxPriorityFeePerGas: 10n ** 9n }
    const bytes = await one.payer.signTransaction({
      type: 'eip1559',
      chainId: 31_337,
      nonce: 1,
      ...fees,
      to: one.payee,
      value: PAID,
    })
    const signature = await evm.client.sendRawTransaction({ serializedTransaction: bytes })
    await evm.mine(3)
    await follow()
    const [again] = await listed(signature)
    await assign(transferId, { paymentId: one.first })
    await expect(assign(again?.transferId ?? '', { paymentId: one.first })).rejects.toMatchObject({
      facts: { details: { paymentId: expect.stringContaining('another') } },
    })
    expect(await claimsOf(signature)).toEqual([])
  })

  test('of assignments at once to two orders one is made', async () => {
    const { transfer, signature, first, second } = await unmatched()
    const outcomes = await Promise.allSettled(
      [first, second, first, second].map((paymentId) => assign(transfer.transferId, { paymentId })),
    )
    const made = outcomes.flatMap((outcome) =>
      outcome.status === 'fulfilled' ? [outcome.value.transfer.assigned?.paymentId] : [],
    )
    expect(new Set(made).size).toBe(1)
    for (const outcome of outcomes)
      if (outcome.status === 'rejected')
        expect(outcome.reason).toMatchObject({ code: 'INVALID_PARAMETERS' })
    const [row] = await claimsOf(signature)
    expect(row?.paymentId).toBe(made[0])
  })

  test("a payer's signature outranks a person's assignment, to the same order and to another", async () => {
    for (const chosen of ['first', 'second'] as const) {
      const made = await unmatched()
      const { transfer, signature, payer, first, second } = made
      await assign(transfer.transferId, { paymentId: made[chosen], by: 'Ana' })
      await sign(payer, first, signature)
      await follow()
      expect(await body(first)).toMatchObject({
        status: 'confirmed',
        attribution: { evidence: 'payer_signature' },
      })
      expect(await body(second)).toMatchObject({
        status: 'created',
        attribution: { assigned: null },
      })
      expect(await listed(signature)).toEqual([])
      // Nobody gives it back any more.
      await expect(unassign(transfer.transferId)).rejects.toMatchObject({ code: 'NOT_FOUND' })
      expect(await claimsOf(signature)).toMatchObject([{ paymentId: first }])
    }
  })

  test('a proof of an assigned transfer buys nothing until the assignment is undone', async () => {
    const { transfer, signature, payer, payee, first } = await unmatched()
    await assign(transfer.transferId, { paymentId: first })
    const proven = { payer, payee, signature }
    await expect(receive(proven)).rejects.toMatchObject({ reason: 'already_used' })
    expect(await claimsOf(signature)).toMatchObject([{ paymentId: first }])
    await unassign(transfer.transferId)
    const answer = await receive(proven)
    expect(answer).toMatchObject({ verified: true, status: 'confirmed' })
    expect(answer.paymentId).not.toBe(first)
    expect(await listed(signature)).toEqual([])
    expect(await claimsOf(signature)).toMatchObject([{ paymentId: answer.paymentId }])
    expect((await body(first)).attribution.assigned).toBeNull()
  })

  test('what was used up by a proof is not unmatched, whatever orders it fits', async () => {
    const [payer, { address: payee }] = await Promise.all([evm.wallet(ETH), evm.wallet(0n)])
    await ownWallet(opened, payee)
    await order({ payer, payee }, 'planted')
    await evm.mine()
    const signature = await sendPlain(payer, payee)
    const resource = 'https://shop.example/b'
    const paymentProof = await proveTxid({
      payer,
      payTo: payee,
      txRef: signature,
      network: evm.network.network,
      amount: PAID,
      url: resource,
    })
    const asked = {
      walletAddress: payee,
      paymentProof,
      expectedAmount: '0.01',
      resource,
      timeout: 10,
    }
    expect(await receivePayment(opened.context, opened.actor, asked)).toMatchObject({
      status: 'confirmed',
    })
    await follow()
    expect(await listed(signature)).toEqual([])
  })
})

test('a transfer that is noted while another commit uses it up for an order is in one list', async () => {
  await using opened = await openContext([evm.network], { engine: 'postgres' })
  const { context, actor } = opened
  const [chain] = context.chains.values()
  if (!chain) throw new Error('no chain')
  const { network } = chain.network
  const [payer, { address: payee }] = await Promise.all([evm.wallet(ETH), evm.wallet(0n)])
  await ownWallet(opened, payee)
  const { paymentId } = await buildTransaction(context, actor, {
    walletAddress: payer.address,
    recipientAddress: payee,
    amount: '0.01',
    senderVerified: false,
  })
  const signature = await sendPlain(payer, payee)
  const { accountId } = actor
  const claimant = { scope: accountId, accountId, exclusive: true }
  const noting = { over: false }
  let noted: Promise<unknown> = Promise.resolve()
  await context.db.transaction(async (tx) => {
    await lockTransfer(tx, { accountId, network, signature })
    const key = assignmentKey({ signature, authorizationKey: '' })
    await claimForOrder(tx, claimant, { network, key, paymentId })
    await markMatched(tx, { accountId, network, signature }, paymentId)
    noted = noteUnmatched(context, chain, { signature, accountIds: [accountId] }).finally(
      () => (noting.over = true),
    )
    // It waits for this commit, or is over without having seen it.
    await eventually(
      async () => noting.over || (await waitsForLock(tx)),
      (decided) => decided,
    )
  })
  await noted
  expect(await readUnmatched(context, actor, { limit: 10, offset: 0 })).toMatchObject({
    transfers: [],
  })
})

async function waitsForLock(tx: Database): Promise<boolean> {
  const { rows } = await tx.execute<{ waiting: number }>(
    sql`select count(*)::int as waiting from pg_locks where locktype = 'advisory' and not granted
      and database = (select oid from pg_database where datname = current_database())`,
  )
  return (rows[0]?.waiting ?? 0) > 0
}
