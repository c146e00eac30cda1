import { eq } from 'drizzle-orm'
import { keccak256, type Hex } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { NATIVE_ETH } from '#contract/network.ts'
import { createPaymentId } from '#contract/payment.ts'
import { signBuilt, startEvm, type EvmFixture } from '#testing/local-chains.ts'
import {
  eventually,
  openAccount,
  openContext,
  ownWallet,
  type OpenedContext,
} from '#testing/service-context.ts'
import { insertPayment, type NewPayment } from '../db/payments.ts'
import { payment } from '../db/schema/payment.ts'
import { insertUnmatched } from '../db/unmatched.ts'
import { sendPayment } from '../hosted/send.ts'
import { buildTransaction } from '../payments/build.ts'
import { createWallet } from '../wallets/create-wallet.ts'
import { pollOnce } from '../monitor/poll.ts'
import { reportSubmitted } from '../monitor/report.ts'
import { readList } from '../payments/list/history.ts'
import { buildRefund, refundPayment, releaseRefund } from './refund.ts'
import { readPaymentBody, readStatuses } from '../payments/status.ts'
import { readUnmatched } from '../payments/unmatched.ts'

const ETH = 10n ** 18n
const PAID = ETH / 100n

let evm: EvmFixture

beforeAll(async () => {
  evm = await startEvm({ slotsInEpoch: 2 })
  await evm.mine()
})
afterAll(() => evm?.[Symbol.asyncDispose]())

describe('on Postgres', () => {
  let opened: OpenedContext

  beforeAll(async () => {
    opened = await openContext([evm.network])
  })
  afterAll(() => opened?.[Symbol.asyncDispose]())

  async function managed(): Promise<string> {
    const { context, actor } = opened
    const { address } = await createWallet(
      { ...context, now: new Date() },
      { accountId: actor.accountId, family: 'evm', name: 'till' },
    )
    await ownWallet(opened, address)
    await evm.client.setBalance({ address: address as Hex, value: ETH })
    return address
  }

  /** A payment that arrived. */
  async function paid(
    facts: Partial<NewPayment> & { recipient: string },
  ): Promise<{ id: string; sender: string }> {
    const { address: asset, symbol, decimals } = NATIVE_ETH
    const { address: sender } = await evm.wallet(0n)
    const row = await insertPayment(opened.context.db, {
      id: createPaymentId(),
      accountId: opened.actor.accountId,
      mode: 'local',
      status: 'finalized',
      network: evm.network.network,
      asset,
      symbol,
      decimals,
      amount: PAID,
      sender,
      metadata: '{"referenceId":"order-7","note":"x"}',
      ...facts,
    })
    return { id: row.id, sender: row.sender }
  }

  type Body = Parameters<typeof refundPayment>[2]['body']
  const hosted = (body: Body, idempotency?: { key: string; fingerprint: string }) =>
    refundPayment(opened.context, opened.actor, { body, idempotency, waitMs: 0 })
  const local = (body: Parameters<typeof buildRefund>[2], actor = opened.actor) =>
    buildRefund(opened.context, actor, body)
  const fields = (refused: Promise<unknown>) =>
    refused.then(
      () => expect.fail('it was accepted'),
      (error: { code?: string; facts?: { details?: object } }) => [
        error.code,
        ...Object.keys(error.facts?.details ?? {}),
      ],
    )
  const refundOf = async (id: string) => (await readPaymentBody(opened.context, id)).refund
  const setStatus = (id: string, status: 'failed' | 'expired' | 'confirmed') =>
    opened.context.db.update(payment).set({ status }).where(eq(payment.id, id))

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

  /** When the validity of what was built is over, and the grace after it. A round reads 200 blocks at most. */
  async function longAfter(): Promise<void> {
    await evm.mine(400)
    for (let round = 0; round < 3; round++) await follow()
  }

  test('a managed wallet returns a part, then the rest: to the payer, in the same asset, under the same reference', async () => {
    const till = await managed()
    const order = await paid({ recipient: till })
    const part = await hosted({
      paymentId: order.id,
      amount: '0.004',
      reason: 'Out of stock.',
      note: 'box 7',
      metadata: { ticket: 12, referenceId: 'another order' },
    })
    expect(part).toMatchObject({
      mode: 'hosted',
      direction: 'sent',
      sender: till,
      recipient: order.sender,
      asset: NATIVE_ETH.address,
      amountAtomic: (4n * 10n ** 15n).toString(),
      refundOf: order.id,
      refundReason: 'Out of stock.',
      refundNote: 'box 7',
      metadata: { ticket: 12, referenceId: 'order-7' },
      resource: null,
    })
    expect(await refundOf(order.id)).toEqual({
      state: 'none',
      refundedAtomic: '0',
      pendingAtomic: (4n * 10n ** 15n).toString(),
    })
    await evm.mine(3)
    await follow()
    expect(await refundOf(order.id)).toEqual({
      state: 'partial',
      refundedAtomic: (4n * 10n ** 15n).toString(),
      pendingAtomic: '0',
    })

    const rest = await hosted({ paymentId: order.id })
    expect(rest.amountAtomic).toBe((6n * 10n ** 15n).toString())
    await evm.mine(3)
    await follow()
    expect(await refundOf(order.id)).toEqual({
      state: 'full',
      refundedAtomic: PAID.toString(),
      pendingAtomic: '0',
    })
    expect(await evm.client.getBalance({ address: order.sender as Hex })).toBe(PAID)
    expect(await fields(hosted({ paymentId: order.id, amount: '0.000000000000000001' }))).toEqual([
      'INVALID_PARAMETERS',
      'amount',
    ])

    const { payments } = await readList(opened.context, opened.actor, {
      type: 'all',
      limit: 50,
      offset: 0,
      wallets: [till],
    })
    expect(
      payments.map(({ paymentId, type, refundOf: of, refund }) => [
        paymentId,
        type,
        of,
        refund.state,
      ]),
    ).toEqual([
      [rest.paymentId, 'sent', order.id, 'none'],
      [part.paymentId, 'sent', order.id, 'none'],
      [order.id, 'received', null, 'full'],
    ])
  })

  test('an unsigned refund is built from the wallet that was paid, confirmed by its sender, or from another own wallet', async () => {
    const [payee, other] = [await evm.wallet(ETH), await evm.wallet(ETH)]
    await ownWallet(opened, payee.address)
    await ownWallet(opened, other.address)
    const order = await paid({ recipient: payee.address })
    const built = await local({ paymentId: order.id, amount: '0.003', reason: 'Broken.' })
    expect(built).toMatchObject({
      refundOf: order.id,
      sender: payee.address,
      recipient: order.sender,
      amount: { value: '0.003' },
    })
    expect(await refundOf(order.id)).toMatchObject({
      state: 'none',
      pendingAtomic: (3n * 10n ** 15n).toString(),
    })
    await evm.client.sendRawTransaction({
      serializedTransaction: await signBuilt(payee, built.transaction),
    })
    await evm.mine(3)
    await follow()
    expect(await readPaymentBody(opened.context, built.paymentId)).toMatchObject({
      status: 'confirmed',
      direction: 'sent',
      refundOf: order.id,
      draft: false,
    })
    expect(await refundOf(order.id)).toMatchObject({ state: 'partial' })
    expect(await local({ paymentId: order.id, walletAddress: other.address })).toMatchObject({
      sender: other.address,
      amountAtomic: (7n * 10n ** 15n).toString(),
    })
  })

  test('several payments are asked about in one request, which leaves out those of other accounts', async () => {
    const recipient = await managed()
    const [returned, partly, kept] = [
      await paid({ recipient }),
      await paid({ recipient }),
      await paid({ recipient, status: 'rolled_back' }),
    ]
    const back = { recipient: returned.sender, sender: recipient }
    await paid({ ...back, refundOf: returned.id })
    await paid({ ...back, refundOf: partly.id, amount: 1n })
    await paid({ ...back, refundOf: kept.id, amount: 2n, status: 'pending' })
    const ids = [returned.id, partly.id, kept.id]
    const { payments } = await readStatuses(opened.context, opened.actor, [
      ...ids,
      createPaymentId(),
    ])
    expect(new Map(payments.map((each) => [each.paymentId, each]))).toEqual(
      new Map(
        [
          ['finalized', 'full', PAID, 0n],
          ['finalized', 'partial', 1n, 0n],
          ['rolled_back', 'none', 0n, 2n],
        ].map(([status, state, refunded, pending], index) => [
          ids[index],
          {
            paymentId: ids[index],
            status,
            refund: { state, refundedAtomic: `${refunded}`, pendingAtomic: `${pending}` },
            late: false,
            refundFinal: state === 'full',
          },
        ]),
      ),
    )
    const other = await openAccount(opened.context)
    expect((await readStatuses(opened.context, other, ids)).payments).toEqual([])
  })

  test('ten requests at once for the whole payment make one refund, signed by the service or by the payee', async () => {
    const till = await managed()
    const payee = await evm.wallet(ETH)
    await ownWallet(opened, payee.address)
    for (const [recipient, refund] of [
      [till, hosted],
      [payee.address, local],
    ] as const) {
      const order = await paid({ recipient })
      const outcomes = await Promise.allSettled(
        Array.from({ length: 10 }, () => refund({ paymentId: order.id })),
      )
      const made = outcomes.flatMap((outcome) =>
        outcome.status === 'fulfilled' ? [outcome.value] : [],
      )
      expect(made).toMatchObject([{ amountAtomic: PAID.toString() }])
      for (const outcome of outcomes)
        if (outcome.status === 'rejected')
          expect(outcome.reason).toMatchObject({
            code: 'INVALID_PARAMETERS',
            facts: { details: { amount: expect.any(String) } },
          })
      expect(await refundOf(order.id)).toMatchObject({ pendingAtomic: PAID.toString() })
    }
  })

  test('of several unmatched transfers of one transaction each payment returns one, the largest that it covers', async () => {
    const { context, actor } = opened
    const [payee, payer] = [await evm.wallet(ETH), await evm.wallet(0n)]
    const { address: asset, symbol, decimals } = NATIVE_ETH
    const signature = keccak256(payer.address)
    const amounts = [PAID / 2n, PAID, PAID / 2n]
    for (const [index, amount] of amounts.entries())
      await insertUnmatched(context.db, {
        accountId: actor.accountId,
        network: evm.network.network,
        signature,
        authorizationKey: `token:payer:${index}`,
        sender: payer.address,
        recipient: payee.address,
        asset,
        symbol,
        decimals,
        amount,
        blockHeight: 1,
        createdAt: context.now(),
      })
    const build = (amount: string) =>
      buildTransaction(context, actor, {
        walletAddress: payee.address,
        recipientAddress: payer.address,
        amount,
        metadata: { referenceId: signature },
        senderVerified: true,
      })
    const open = async () =>
      (await readUnmatched(context, actor, { limit: 100, offset: 0 })).transfers
        .filter((row) => row.signature === signature && row.refundedBy === null)
        .map(({ amountAtomic }) => BigInt(amountAtomic))
        .toSorted((a, b) => Number(b - a))
    expect(await open()).toEqual([PAID, PAID / 2n, PAID / 2n])
    await build('0.006')
    expect(await open()).toEqual([PAID, PAID / 2n])
    await build('0.01')
    expect(await open()).toEqual([PAID / 2n])
    const refused = { facts: { details: { reason: { code: 'transfer_refunded' } } } }
    await expect(build('0.01')).rejects.toMatchObject(refused)
    await build('0.005')
    expect(await open()).toEqual([])
    await expect(build('0.005')).rejects.toMatchObject(refused)
  })

  test('of ten requests at once that return an unmatched transfer, from managed wallets or from others, one is made', async () => {
    const { context, actor } = opened
    const [till, payee, payer] = [await managed(), await evm.wallet(ETH), await evm.wallet(0n)]
    const { address: asset, symbol, decimals } = NATIVE_ETH
    const signature = keccak256(payer.address)
    await insertUnmatched(context.db, {
      accountId: actor.accountId,
      network: evm.network.network,
      signature,
      sender: payer.address,
      recipient: till,
      asset,
      symbol,
      decimals,
      amount: PAID,
      blockHeight: 1,
      createdAt: context.now(),
    })
    const terms = {
      recipientAddress: payer.address,
      amount: '0.01',
      metadata: { referenceId: signature },
    }
    const outcomes = await Promise.allSettled(
      Array.from({ length: 10 }, (_, index) =>
        index % 2 === 0
          ? sendPayment(context, actor, {
              body: { ...terms, walletAddress: till },
              idempotency: undefined,
              waitMs: 0,
            })
          : buildTransaction(context, actor, {
              ...terms,
              walletAddress: payee.address,
              senderVerified: true,
            }),
      ),
    )
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    for (const outcome of outcomes)
      if (outcome.status === 'rejected')
        expect(outcome.reason).toMatchObject({
          code: 'INVALID_PARAMETERS',
          facts: {
            details: {
              reason: { code: 'transfer_refunded' },
              metadata: expect.stringContaining(signature),
            },
          },
        })
  })

  test('what failed or expired is free again; what a reorganisation undid is not', async () => {
    const payee = await evm.wallet(ETH)
    await ownWallet(opened, payee.address)
    const order = await paid({ recipient: payee.address })
    for (const status of ['failed', 'expired'] as const) {
      const { paymentId } = await local({ paymentId: order.id })
      expect(await fields(local({ paymentId: order.id, amount: '0.001' }))).toEqual([
        'INVALID_PARAMETERS',
        'amount',
      ])
      await setStatus(paymentId, status)
      expect(await refundOf(order.id)).toEqual({
        state: 'none',
        refundedAtomic: '0',
        pendingAtomic: '0',
      })
    }
    const { paymentId } = await local({ paymentId: order.id, amount: '0.01' })
    await opened.context.db
      .update(payment)
      .set({ status: 'rolled_back' })
      .where(eq(payment.id, paymentId))
    expect(await fields(local({ paymentId: order.id, amount: '0.001' }))).toEqual([
      'INVALID_PARAMETERS',
      'amount',
    ])
  })

  test('an unsigned refund on EVM holds its amount until a person releases it, and is confirmed where it lands after that', async () => {
    const payee = await evm.wallet(ETH)
    await ownWallet(opened, payee.address)
    const order = await paid({ recipient: payee.address })
    const statusOf = async (id: string) => (await readPaymentBody(opened.context, id)).status
    const release = (paymentId: string, actor = opened.actor) =>
      releaseRefund(opened.context, actor, { paymentId })
    const built = await local({ paymentId: order.id })
    // Its validity and the grace of other payments are over, and another transaction used its nonce.
    await evm.client.sendRawTransaction({
      serializedTransaction: await signBuilt(
        payee,
        (await local({ paymentId: (await paid({ recipient: payee.address })).id })).transaction,
      ),
    })
    await longAfter()
    expect(await statusOf(built.paymentId)).toBe('created')
    expect(await fields(local({ paymentId: order.id, amount: '0.001' }))).toEqual([
      'INVALID_PARAMETERS',
      'amount',
    ])

    const other = await openAccount(opened.context)
    expect(await fields(release(built.paymentId, other))).toEqual(['NOT_FOUND'])
    expect(await fields(release(order.id))).toEqual(['INVALID_PARAMETERS', 'paymentId'])
    expect(await release(built.paymentId)).toMatchObject({ status: 'expired' })
    expect(await release(built.paymentId)).toMatchObject({ status: 'expired' })
    expect(await refundOf(order.id)).toMatchObject({ state: 'none', pendingAtomic: '0' })

    // Its wallet was asked, and approves now, with another nonce.
    await evm.client.sendRawTransaction({
      serializedTransaction: await signBuilt(payee, built.transaction, 1),
    })
    await evm.mine(3)
    await follow()
    expect(await statusOf(built.paymentId)).toBe('confirmed')
    expect(await refundOf(order.id)).toMatchObject({ state: 'full' })
    expect(await fields(release(built.paymentId))).toEqual(['INVALID_PARAMETERS', 'paymentId'])
  })

  test('a refund on EVM whose transaction was reported and not seen holds its amount, whatever used its nonce, until a person releases it', async () => {
    const payee = await evm.wallet(ETH)
    await ownWallet(opened, payee.address)
    const order = await paid({ recipient: payee.address })
    const built = await local({ paymentId: order.id })
    const statusOf = async () => (await readPaymentBody(opened.context, built.paymentId)).status
    // Its nonce is used by another one, and its wallet chose the next: no node has that one yet.
    const another = await paid({ recipient: payee.address, amount: PAID / 2n })
    await evm.client.sendRawTransaction({
      serializedTransaction: await signBuilt(
        payee,
        (await local({ paymentId: another.id })).transaction,
      ),
    })
    await evm.mine()
    const signed = await signBuilt(payee, built.transaction, 1)
    await reportSubmitted(opened.context, opened.actor, {
      paymentId: built.paymentId,
      signature: keccak256(signed),
    })
    await longAfter()
    expect(await statusOf()).toBe('created')
    expect(await refundOf(order.id)).toMatchObject({ pendingAtomic: PAID.toString() })

    const release = () =>
      releaseRefund(opened.context, opened.actor, { paymentId: built.paymentId })
    expect(await release()).toMatchObject({ status: 'expired' })
    expect(await refundOf(order.id)).toMatchObject({ state: 'none', pendingAtomic: '0' })
    // The chain decides all the same.
    await evm.client.sendRawTransaction({ serializedTransaction: signed })
    await evm.mine(3)
    await follow()
    expect(await statusOf()).toBe('confirmed')
  })

  test('a refund on EVM is not released while its wallet may have sent it unseen', async () => {
    const payee = await evm.wallet(ETH)
    await ownWallet(opened, payee.address)
    const order = await paid({ recipient: payee.address })
    const { paymentId, transaction } = await local({ paymentId: order.id })
    const release = () => releaseRefund(opened.context, opened.actor, { paymentId })
    const signed = await signBuilt(payee, transaction)
    await evm.client.sendRawTransaction({ serializedTransaction: signed })
    // It waits for a block.
    await expect(release()).rejects.toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
      message: expect.stringContaining('waits for a block'),
    })
    await evm.mine()
    // Its block has not been searched.
    await expect(release()).rejects.toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
      message: expect.stringContaining('have not been searched'),
    })
    expect(await refundOf(order.id)).toMatchObject({ pendingAtomic: PAID.toString() })
    await follow()
    expect(await fields(release())).toEqual(['INVALID_PARAMETERS', 'paymentId'])

    // One that was reported is not released where the chain shows it.
    const other = await paid({ recipient: payee.address })
    const reported = await local({ paymentId: other.id })
    const hash = await evm.client.sendRawTransaction({
      serializedTransaction: await signBuilt(payee, reported.transaction),
    })
    await evm.mine()
    await follow()
    await opened.context.db
      .update(payment)
      .set({ status: 'created', signature: null, reportedSignature: hash })
      .where(eq(payment.id, reported.paymentId))
    await expect(
      releaseRefund(opened.context, opened.actor, { paymentId: reported.paymentId }),
    ).rejects.toMatchObject({ message: expect.stringContaining('shows it as landed') })
  })

  test('a request repeated under its key gets the refund it made, also when nothing is left', async () => {
    const order = await paid({ recipient: await managed() })
    const idempotency = { key: `refund ${order.id}`, fingerprint: 'a' }
    const first = await hosted({ paymentId: order.id }, idempotency)
    expect((await hosted({ paymentId: order.id }, idempotency)).paymentId).toBe(first.paymentId)
    expect(
      await fields(hosted({ paymentId: order.id }, { ...idempotency, fingerprint: 'b' })),
    ).toEqual(['IDEMPOTENCY_CONFLICT'])
    const another = await paid({ recipient: await managed() })
    const at = { key: `refund ${another.id}`, fingerprint: 'a' }
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => hosted({ paymentId: another.id }, at)),
    )
    expect(new Set(answers.map(({ paymentId }) => paymentId)).size).toBe(1)
  })

  test('only what arrived from a customer is refunded, by the account that was paid', async () => {
    const [payee, stranger] = [await evm.wallet(ETH), await evm.wallet(ETH)]
    const { address: till } = await evm.wallet(ETH)
    await ownWallet(opened, payee.address)
    await ownWallet(opened, till)
    for (const status of ['created', 'pending', 'failed', 'expired', 'rolled_back'] as const) {
      const { id } = await paid({ recipient: payee.address, status })
      expect(await fields(local({ paymentId: id }))).toEqual(['INVALID_PARAMETERS', 'paymentId'])
    }
    const sent = await paid({ sender: payee.address, recipient: stranger.address })
    expect(await fields(local({ paymentId: sent.id }))).toEqual(['INVALID_PARAMETERS', 'paymentId'])
    const internal = await paid({ sender: till, recipient: payee.address })
    expect(await fields(local({ paymentId: internal.id }))).toEqual([
      'INVALID_PARAMETERS',
      'paymentId',
    ])
    const order = await paid({ recipient: payee.address })
    expect(await fields(local({ paymentId: order.id, walletAddress: stranger.address }))).toEqual([
      'INVALID_PARAMETERS',
      'walletAddress',
    ])
    expect(await fields(local({ paymentId: order.id, amount: '0.011' }))).toEqual([
      'INVALID_PARAMETERS',
      'amount',
    ])
    expect(await fields(hosted({ paymentId: order.id }))).toEqual([
      'INVALID_PARAMETERS',
      'walletAddress',
    ])
    const other = await openAccount(opened.context)
    expect(await fields(local({ paymentId: order.id }, other))).toEqual(['NOT_FOUND'])

    // An account without registered wallets refunds what it was paid; what another account owns is not its to refund.
    const external = await paid({ recipient: stranger.address })
    expect(await local({ paymentId: external.id })).toMatchObject({ sender: stranger.address })
    // Money that never reached the account does not leave it.
    for (const request of [local, hosted])
      expect(await fields(request({ paymentId: external.id, walletAddress: till }))).toEqual([
        'INVALID_PARAMETERS',
        'walletAddress',
      ])
    await ownWallet({ ...opened, actor: other }, stranger.address)
    const back = await paid({ recipient: (await evm.wallet(ETH)).address, refundOf: external.id })
    expect(await fields(local({ paymentId: back.id }))).toEqual(['INVALID_PARAMETERS', 'paymentId'])
    const foreign = await paid({ recipient: stranger.address })
    await expect(local({ paymentId: foreign.id })).rejects.toMatchObject({
      code: 'FORBIDDEN',
      facts: { details: { reason: { code: 'payee_not_owned', params: {} } } },
    })
  })
})
