import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import * as v from 'valibot'
import { endpoints } from '#contract/endpoints.ts'
import { signBuilt, startEvm, type EvmFixture } from '#testing/local-chains.ts'
import { executeAsOwner } from '#testing/postgres.ts'
import {
  eventually,
  numberRecorded,
  openContext,
  ownWallet,
  type OpenedContext,
} from '#testing/service-context.ts'
import type { Chain } from '../chains/chain.ts'
import { findPayment } from '../db/payments.ts'
import { lastEventId, readEvents } from '../events/read.ts'
import { sweep } from '../service.ts'
import { pollOnce } from '../monitor/poll.ts'
import { buildTransaction } from './build.ts'
import { readList } from './list/history.ts'
import { reportSubmitted } from '../monitor/report.ts'
import { readPaymentBody } from './status.ts'

/** Orders of visitors whom nobody has verified: no payments of the merchant until evidence of their payer comes. */

const ETH = 10n ** 18n
const TEXT = {
  resource: 'https://evil.example/a',
  metadata: { referenceId: 'evil', description: 'words of a stranger' },
}

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

  async function draft(senderVerified?: boolean) {
    const [payer, payee] = await Promise.all([evm.wallet(ETH), evm.wallet(0n)])
    await ownWallet(opened, payee.address)
    const verified = senderVerified === undefined ? {} : { senderVerified }
    const built = await buildTransaction(opened.context, opened.actor, {
      walletAddress: payer.address,
      recipientAddress: payee.address,
      amount: '0.01',
      ...TEXT,
      ...verified,
    })
    const { paymentId } = built
    return {
      payer,
      payee: payee.address,
      paymentId,
      signed: await signBuilt(payer, built.transaction),
    }
  }

  /** The service's chain, once it has seen all blocks there are. */
  async function upToDate(): Promise<Chain> {
    const [chain] = opened.context.chains.values()
    if (!chain) throw new Error('no chain')
    const tip = Number(await evm.client.getBlockNumber())
    await eventually(
      () => chain.head(),
      ({ height }) => height >= tip,
    )
    return chain
  }

  async function follow(): Promise<void> {
    const chain = await upToDate()
    expect((await pollOnce(opened.context, chain, { expiredToo: true })).failures).toEqual([])
  }

  const list = (query: Record<string, string> = {}) =>
    readList(opened.context, opened.actor, {
      ...v.parse(endpoints.paymentList.query, query),
      wallets: undefined,
    })
  const listed = async (paymentId: string) =>
    (await list({ limit: '500' })).payments.some((row) => row.paymentId === paymentId)

  async function feed(paymentId: string): Promise<string[]> {
    await numberRecorded(opened.context)
    const filter = { accountId: opened.actor.accountId, kinds: ['payment' as const], wallets: [] }
    const rows = await readEvents(opened.context.db, filter, 0n)
    return rows.filter((row) => row.paymentId === paymentId).map(({ status }) => status)
  }

  test('a draft is in no list and no feed; once its payer has paid it, it is a payment with all its events', async () => {
    const { accountId } = opened.actor
    const before = {
      total: (await list()).total,
      last: await lastEventId(opened.context.db, accountId),
    }
    const order = await draft(false)
    expect(await readPaymentBody(opened.context, order.paymentId)).toMatchObject({
      draft: true,
      status: 'created',
      events: [{ status: 'created' }],
    })
    expect(await listed(order.paymentId)).toBe(false)
    expect((await list({ status: 'incomplete' })).payments).toMatchObject([
      { paymentId: order.paymentId, draft: true },
    ])
    expect(await feed(order.paymentId)).toEqual([])
    // No reader waits for an event that it will not get.
    expect({
      total: (await list()).total,
      last: await lastEventId(opened.context.db, accountId),
    }).toEqual(before)

    await evm.client.sendRawTransaction({ serializedTransaction: order.signed })
    await evm.mine(3)
    await follow()
    const body = await readPaymentBody(opened.context, order.paymentId)
    expect(body).toMatchObject({
      draft: false,
      status: 'confirmed',
      direction: 'received',
      attribution: { evidence: 'fingerprint' },
    })
    expect(body.events.map(({ status }) => status)).toEqual(['created', 'pending', 'confirmed'])
    expect(await feed(order.paymentId)).toEqual(['created', 'pending', 'confirmed'])
    expect(await list()).toMatchObject({
      total: before.total + 1,
      payments: [{ paymentId: order.paymentId, metadata: TEXT.metadata }],
    })
    expect((await list({ status: 'incomplete' })).total).toBe(0)
  })

  test('an order is no draft of a caller who says nothing of its sender, or has verified it, before or after', async () => {
    for (const senderVerified of [undefined, true]) {
      const order = await draft(senderVerified)
      expect(await listed(order.paymentId)).toBe(true)
      expect(await feed(order.paymentId)).toEqual(['created'])
    }
    const order = await draft(false)
    await reportSubmitted(opened.context, opened.actor, {
      paymentId: order.paymentId,
      signature: `0x${'ab'.repeat(32)}`,
      senderVerified: true,
    })
    expect(await listed(order.paymentId)).toBe(true)
    expect(await feed(order.paymentId)).toEqual(['created'])
  })

  test('after a day the text of a draft is erased, its terms stay, and its payer can still pay it', async () => {
    const [order, young, own] = [await draft(false), await draft(false), await draft()]
    // Past the last block in which it is taken, and past the grace.
    await evm.mine(320)
    await eventually(
      async () => {
        await follow()
        return readPaymentBody(opened.context, order.paymentId)
      },
      ({ status }) => status === 'expired',
    )
    const { db } = opened.context
    const before = await findPayment(db, order.paymentId)
    for (const { paymentId } of [order, own]) {
      await executeAsOwner(
        { target: opened.context.config.database, db },
        `update service.payment set created_at = now() - interval '24 hours 1 minute' where id = '${paymentId}'`,
      )
    }
    await sweep(opened.context)
    const erased = await findPayment(db, order.paymentId)
    expect(erased).toMatchObject({
      resource: null,
      metadata: null,
      unsignedTransaction: null,
      draft: true,
      status: 'expired',
    })
    const kept = [
      'id',
      'sender',
      'recipient',
      'amount',
      'asset',
      'network',
      'fingerprint',
      'nonce',
      'builtHeight',
      'lastValidBlockHeight',
    ] as const
    for (const column of kept) expect(erased?.[column], column).toEqual(before?.[column])
    expect(erased?.fingerprint).not.toBeNull()
    for (const { paymentId } of [young, own])
      expect(await findPayment(db, paymentId)).toMatchObject({
        resource: TEXT.resource,
        unsignedTransaction: expect.any(String),
      })

    const signature = await evm.client.sendRawTransaction({ serializedTransaction: order.signed })
    await evm.mine(3)
    await upToDate()
    const reported = await reportSubmitted(opened.context, opened.actor, {
      paymentId: order.paymentId,
      signature,
    })
    expect(reported).toMatchObject({
      status: 'confirmed',
      draft: false,
      metadata: null,
      resource: null,
      attribution: { evidence: 'fingerprint' },
    })
    expect(reported.events.map(({ status }) => status)).toEqual(['created', 'expired', 'confirmed'])
    expect(await listed(order.paymentId)).toBe(true)
  })
})
