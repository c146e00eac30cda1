import { eq } from 'drizzle-orm'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { NATIVE_ETH, NATIVE_SOL, SOLANA_DEVNET } from '#contract/network.ts'
import { createPaymentId, type PaymentStatus } from '#contract/payment.ts'
import {
  refundRequestText,
  refundRequestTypedData,
  type RefundRequestTerms,
} from '#contract/refund-request.ts'
import { startEvm, type EvmFixture } from '#testing/local-chains.ts'
import { numberRecorded, openAccount, openContext, ownWallet } from '#testing/service-context.ts'
import { evmWallet, solanaWallet } from '#testing/test-browser.ts'
import type { OpenedContext } from '#testing/service-context.ts'
import type { Actor } from '../context/context.ts'
import { applyObservation } from '../payments/apply-observation.ts'
import { insertPayment, type NewPayment } from '../db/payments.ts'
import { readDeployment } from '../db/deployment.ts'
import { payment, refundRequest } from '../db/schema/payment.ts'
import { listEvents } from '../events/list.ts'
import {
  createRefundRequest,
  decideRefundRequest,
  listRefundRequests,
  readRequestsOf,
} from './refund-requests.ts'
import { buildRefund } from './refund.ts'

const ETH = 10n ** 18n
const PAID = ETH / 100n
/** A contract that answers every call with the word for "signed". */
const ACCEPTS = '0x631626ba7e60e01b60005260206000f3'

let evm: EvmFixture
let opened: OpenedContext
let payee: string
const payer = privateKeyToAccount(generatePrivateKey())

beforeAll(async () => {
  evm = await startEvm({ slotsInEpoch: 2 })
  await evm.mine()
  opened = await openContext([evm.network])
  payee = (await evm.wallet(ETH)).address
  await ownWallet(opened, payee)
})
afterAll(async () => {
  await opened?.[Symbol.asyncDispose]()
  await evm?.[Symbol.asyncDispose]()
})

/** A payment of the payer that arrived. */
async function paid(facts: Partial<NewPayment> = {}): Promise<string> {
  const { address: asset, symbol, decimals } = NATIVE_ETH
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
    sender: payer.address,
    recipient: payee,
    ...facts,
  })
  return row.id
}

type Asked = Partial<RefundRequestTerms> & { paymentId: string }

async function termsOf(asked: Asked): Promise<RefundRequestTerms> {
  return {
    number: 1,
    network: evm.network.network,
    deployment: await readDeployment(opened.context.db),
    payer: payer.address,
    asset: NATIVE_ETH.address,
    symbol: 'ETH',
    decimals: 18,
    amountAtomic: PAID,
    reason: '',
    ...asked,
  }
}

type Input = Parameters<typeof createRefundRequest>[2]

/** What the payer's wallet signs, and sends. `by`: another wallet than the payer's. */
async function signed(asked: Asked, by = payer): Promise<Input> {
  const terms = await termsOf(asked)
  const data = refundRequestTypedData(terms) as unknown as Parameters<typeof by.signTypedData>[0]
  return {
    paymentId: terms.paymentId,
    number: terms.number,
    amount: `0.${terms.amountAtomic.toString().padStart(18, '0')}`,
    ...(terms.reason !== '' && { reason: terms.reason }),
    signature: await by.signTypedData(data),
  }
}

const create = (input: Input, actor: Actor = opened.actor) =>
  createRefundRequest(opened.context, actor, input)
const ask = async (asked: Asked) => (await create(await signed(asked))).request
const decide = (requestId: string, decline: boolean, by: object = {}) =>
  decideRefundRequest(opened.context, { actor: opened.actor, requestId, decline }, by)
const requestsOf = (paymentId: string) => readRequestsOf(opened.context, opened.actor, paymentId)
const stateOf = async (paymentId: string) => (await requestsOf(paymentId)).requests[0]?.state
const FIRST = { limit: 500, offset: 0 }
const listed = async (actor: Actor = opened.actor) =>
  (await listRefundRequests(opened.context, actor, FIRST)).requests.map(
    ({ requestId }) => requestId,
  )
const fields = (refused: Promise<unknown>) =>
  refused.then(
    () => expect.fail('it was accepted'),
    (error: { code?: string; facts?: { details?: object } }) => [
      error.code,
      ...Object.keys(error.facts?.details ?? {}),
    ],
  )
const rowsOf = (paymentId: string) =>
  opened.context.db.select().from(refundRequest).where(eq(refundRequest.paymentId, paymentId))
const setStatus = (id: string, status: PaymentStatus) =>
  opened.context.db.update(payment).set({ status }).where(eq(payment.id, id))

/** Writes a refund of the payment, with this status, into the ledger. */
const refund = (refundOf: string, amount: bigint, status: PaymentStatus) =>
  paid({ refundOf, amount, status, sender: payee, recipient: payer.address })

describe('a request for a refund', () => {
  test('is listed with its evidence, moves nothing, and tells the feed', async () => {
    const paymentId = await paid({
      resource: 'https://shop.example/cups',
      metadata: JSON.stringify({ referenceId: 'ORD-1' }),
    })
    const { next } = await requestsOf(paymentId)
    expect(next).toEqual({
      number: 1,
      deployment: await readDeployment(opened.context.db),
      amountAtomic: PAID.toString(),
    })
    const input = await signed({ paymentId, amountAtomic: PAID / 2n, reason: 'It broke.' })
    const { request } = await create(input)
    expect(request).toMatchObject({
      paymentId,
      number: 1,
      state: 'open',
      payer: payer.address,
      amountAtomic: (PAID / 2n).toString(),
      reason: 'It broke.',
      signature: input.signature,
      declined: null,
    })
    const { requests } = await listRefundRequests(opened.context, opened.actor, FIRST)
    expect(requests.find(({ requestId }) => requestId === request.requestId)).toEqual({
      ...request,
      resource: 'https://shop.example/cups',
      metadata: { referenceId: 'ORD-1' },
    })
    expect((await requestsOf(paymentId)).next).toBeNull()
    const after = await opened.context.db
      .select({ status: payment.status })
      .from(payment)
      .where(eq(payment.refundOf, paymentId))
    expect(after).toEqual([])
    await numberRecorded(opened.context)
    const { events } = await listEvents(opened.context, opened.actor, { after: '0' })
    expect(events.filter((event) => event.paymentId === paymentId)).toMatchObject([
      { type: 'refund_request', status: 'finalized', refundRequest: request },
    ])
  })

  test('without an amount asks for all that is left', async () => {
    const paymentId = await paid()
    await refund(paymentId, PAID / 4n, 'confirmed')
    const { amount: _amount, ...input } = await signed({
      paymentId,
      amountAtomic: (PAID * 3n) / 4n,
    })
    expect((await create(input)).request.amountAtomic).toBe(((PAID * 3n) / 4n).toString())
    // The same bytes again are the same request, although nothing is said of the amount.
    await refund(paymentId, PAID / 4n, 'confirmed')
    expect((await create(input)).request.amountAtomic).toBe(((PAID * 3n) / 4n).toString())
    expect(await rowsOf(paymentId)).toHaveLength(1)
  })

  test('of another wallet is refused, whatever of it is the payer’s', async () => {
    const paymentId = await paid()
    const other = privateKeyToAccount(generatePrivateKey())
    const right = await signed({ paymentId, reason: 'It broke.' })
    const wrong: Input[] = [
      await signed({ paymentId }, other),
      await signed({ paymentId, payer: other.address }, other),
      // What the payer signed, for something else.
      { ...right, amount: '0.009' },
      { ...right, reason: 'Another reason.' },
      { ...right, paymentId: await paid() },
      { ...right, number: 2 },
      { ...(await signed({ paymentId, deployment: `0x${'0'.repeat(64)}` })) },
      { ...(await signed({ paymentId, network: 'eip155:1' })) },
      { ...(await signed({ paymentId, asset: payee })) },
      { ...right, signature: '0x' },
      { ...right, signature: 'nonsense' },
    ]
    for (const input of wrong)
      expect(await fields(create(input))).toEqual(['INVALID_PARAMETERS', 'signature'])
    expect(await rowsOf(paymentId)).toEqual([])
  })

  test('of a contract wallet is what the contract accepts (EIP-1271)', async () => {
    const { address } = evmWallet()
    const paymentId = await paid({ sender: address })
    const input = { paymentId, number: 1, signature: '0x1234' }
    expect(await fields(create(input))).toEqual(['INVALID_PARAMETERS', 'signature'])
    await evm.setCode(address, ACCEPTS)
    expect((await create(input)).request).toMatchObject({ payer: address, state: 'open' })
  })

  test('on Solana is signed as a text', async () => {
    const [buyer, till] = [solanaWallet(), solanaWallet()]
    await ownWallet(opened, till.address)
    const { address: asset, symbol, decimals } = NATIVE_SOL
    const facts = { network: SOLANA_DEVNET, asset, symbol, decimals, recipient: till.address }
    const paymentId = await paid({ ...facts, sender: buyer.address, amount: 5_000n })
    const text = refundRequestText(
      await termsOf({ paymentId, ...facts, payer: buyer.address, amountAtomic: 5_000n }),
    )
    expect(text).toContain('Amount: 0.000005 SOL (5000 units)')
    const input = { paymentId, number: 1 }
    const stranger = await solanaWallet().sign(text)
    expect(await fields(create({ ...input, signature: stranger }))).toEqual([
      'INVALID_PARAMETERS',
      'signature',
    ])
    expect(
      (await create({ ...input, signature: await buyer.sign(text) })).request.amountAtomic,
    ).toBe('5000')
  })

  test('is refused for a payment that has not arrived, is a draft, is a refund, or has nothing left', async () => {
    for (const status of ['created', 'pending', 'failed', 'expired', 'rolled_back'] as const) {
      const paymentId = await paid({ status })
      expect(await fields(create(await signed({ paymentId })))).toEqual([
        'INVALID_PARAMETERS',
        'paymentId',
      ])
      expect((await requestsOf(paymentId)).next).toBeNull()
    }
    const draft = await paid({ draft: true })
    const original = await paid()
    const back = await refund(original, PAID, 'confirmed')
    for (const paymentId of [draft, back])
      expect(await fields(create(await signed({ paymentId })))).toEqual([
        'INVALID_PARAMETERS',
        'paymentId',
      ])
    expect(await fields(create(await signed({ paymentId: original })))).toEqual([
      'INVALID_PARAMETERS',
      'amount',
    ])
    expect((await requestsOf(original)).next).toBeNull()
    const other = await openAccount(opened.context)
    const mine = await paid()
    expect(await fields(create(await signed({ paymentId: mine }), other))).toEqual(['NOT_FOUND'])
    const tooMuch = await signed({ paymentId: mine, amountAtomic: PAID + 1n })
    expect(await fields(create(tooMuch))).toEqual(['INVALID_PARAMETERS', 'amount'])
    const nothing = await signed({ paymentId: mine, amountAtomic: 0n })
    expect(await fields(create(nothing))).toEqual(['INVALID_PARAMETERS', 'amount'])
  })

  test('is neither taken nor listed for money that another wallet than the account’s received', async () => {
    const { address: own } = evmWallet()
    // A visitor of two wallets pays from one to the other, and has the account record it.
    const planted = await paid({ recipient: own })
    expect((await requestsOf(planted)).next).toBeNull()
    expect(await fields(create(await signed({ paymentId: planted })))).toEqual([
      'INVALID_PARAMETERS',
      'paymentId',
    ])
    expect(await rowsOf(planted)).toEqual([])

    // An account that registered no wallet cannot tell; once it did, the others are gone from its list.
    const other = await openAccount(opened.context)
    const { accountId } = other
    const paymentId = await paid({ recipient: own, accountId })
    const { request } = await create(await signed({ paymentId }), other)
    expect(await listed(other)).toEqual([request.requestId])
    await ownWallet({ ...opened, actor: other }, evmWallet().address)
    expect(await listed(other)).toEqual([])
    await ownWallet({ ...opened, actor: other }, own)
    expect(await listed(other)).toEqual([request.requestId])
  })

  test('asked ten times at once is one, with the same signature and with ten different ones', async () => {
    const paymentId = await paid()
    const input = await signed({ paymentId })
    const replies = await Promise.all(Array.from({ length: 10 }, () => create(input)))
    expect(new Set(replies.map(({ request }) => request.requestId)).size).toBe(1)
    expect(await rowsOf(paymentId)).toHaveLength(1)
    const second = await paid()
    const inputs = await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        signed({ paymentId: second, reason: `Reason ${index}` }),
      ),
    )
    const outcomes = await Promise.allSettled(inputs.map((each) => create(each)))
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    expect(await rowsOf(second)).toHaveLength(1)
  })

  test('cannot be replayed after it was declined; the payer may ask again, three times in all', async () => {
    const paymentId = await paid()
    const first = await signed({ paymentId, number: 1 })
    for (const number of [1, 2, 3]) {
      expect((await requestsOf(paymentId)).next).toMatchObject({ number })
      const { requestId } = await ask({ paymentId, number })
      expect(await fields(create(await signed({ paymentId, number: number + 1 })))).toEqual([
        'INVALID_PARAMETERS',
        'number',
      ])
      await decide(requestId, true, { by: 'Ana', note: 'Send it back first.' })
      expect((await create(first)).request).toMatchObject({ number: 1, state: 'declined' })
    }
    expect(await rowsOf(paymentId)).toHaveLength(3)
    expect((await requestsOf(paymentId)).next).toBeNull()
    expect(await fields(create(await signed({ paymentId, number: 4 })))).toEqual([
      'INVALID_PARAMETERS',
      'number',
    ])
  })
})

describe('a decision', () => {
  test('stays, when a later request of the payer is refunded', async () => {
    const paymentId = await paid()
    const half = { paymentId, amountAtomic: PAID / 2n }
    const first = await ask({ ...half, number: 1 })
    await decide(first.requestId, true, { by: 'Ana', note: 'Send it back first.' })
    await ask({ ...half, number: 2 })
    await refund(paymentId, PAID / 2n, 'finalized')
    const { requests } = await requestsOf(paymentId)
    expect(requests.map(({ number, state }) => [number, state])).toEqual([
      [2, 'refunded'],
      [1, 'declined'],
    ])
    expect(requests[1]?.declined?.note).toBe('Send it back first.')
  })

  test('declines with a note, and is undone, by the account that was paid alone', async () => {
    const paymentId = await paid()
    const { requestId } = await ask({ paymentId })
    const other = await openAccount(opened.context)
    for (const decline of [true, false])
      expect(
        await fields(decideRefundRequest(opened.context, { actor: other, requestId, decline }, {})),
      ).toEqual(['NOT_FOUND'])
    expect(await listed(other)).toEqual([])
    expect(await fields(decide(requestId, false))).toEqual(['NOT_FOUND'])
    expect((await decide(requestId, true, { by: 'Ana', note: 'No.' })).request).toMatchObject({
      state: 'declined',
      declined: { by: 'Ana', note: 'No.' },
    })
    expect(await listed()).not.toContain(requestId)
    expect(await fields(decide(requestId, true))).toEqual(['NOT_FOUND'])
    expect((await decide(requestId, false)).request).toMatchObject({
      state: 'open',
      declined: null,
    })
    expect(await listed()).toContain(requestId)
  })

  test('is not undone once the payer has asked again', async () => {
    const paymentId = await paid()
    const { requestId } = await ask({ paymentId })
    await decide(requestId, true)
    await ask({ paymentId, number: 2 })
    expect(await fields(decide(requestId, false))).toEqual(['NOT_FOUND'])
    expect((await requestsOf(paymentId)).requests.map(({ state }) => state)).toEqual([
      'open',
      'declined',
    ])
  })
})

describe('a refund', () => {
  test('that covers a request closes it, one that covers less does not, and a reorganization opens it again', async () => {
    const paymentId = await paid()
    // Of a refund before the request, nothing counts for it; also where it lands afterwards.
    await refund(paymentId, PAID / 10n, 'confirmed')
    const late = await refund(paymentId, PAID / 10n, 'pending')
    const { requestId } = await ask({ paymentId, amountAtomic: PAID / 2n })
    await setStatus(late, 'confirmed')
    expect(await stateOf(paymentId)).toBe('open')
    await refund(paymentId, (PAID * 3n) / 10n, 'confirmed')
    expect(await stateOf(paymentId)).toBe('open')
    const rest = await refund(paymentId, PAID / 5n, 'created')
    expect(await stateOf(paymentId)).toBe('refunding')
    expect(await listed()).toContain(requestId)
    expect(await fields(decide(requestId, true))).toEqual(['NOT_FOUND'])
    await setStatus(rest, 'confirmed')
    expect(await stateOf(paymentId)).toBe('refunded')
    expect(await listed()).not.toContain(requestId)
    await setStatus(rest, 'rolled_back')
    expect(await stateOf(paymentId)).toBe('refunding')
    await setStatus(rest, 'expired')
    expect(await stateOf(paymentId)).toBe('open')
    expect(await listed()).toContain(requestId)
    await setStatus(paymentId, 'rolled_back')
    expect(await listed()).not.toContain(requestId)
  })

  test('that is final takes its request off the list of those that may be open', async () => {
    const paymentId = await paid()
    await ask({ paymentId, amountAtomic: PAID / 2n })
    const back = await buildRefund(opened.context, opened.actor, {
      paymentId,
      amount: '0.005',
      senderVerified: true,
    })
    expect(await stateOf(paymentId)).toBe('refunding')
    const seen = (finalized: boolean) =>
      applyObservation(opened.context, {
        paymentId: back.paymentId,
        signature: `0x${'ab'.repeat(32)}`,
        source: 'watcher',
        observation: {
          state: 'landed',
          height: 1_000_000,
          blockHash: `0x${'cd'.repeat(32)}`,
          blockTime: null,
          messageHash: undefined,
          succeeded: true,
          confirmed: true,
          finalized,
          failure: null,
          feeAtomic: 0n,
          feePayer: null,
          transfer: {
            sender: payee,
            recipient: payer.address,
            asset: NATIVE_ETH.address,
            amountAtomic: PAID / 2n,
            memo: null,
            nonce: null,
          },
        },
      })
    expect(await seen(false)).toBe('moved')
    expect(await stateOf(paymentId)).toBe('refunded')
    expect(await rowsOf(paymentId)).toMatchObject([{ settledAt: null }])
    expect(await seen(true)).toBe('moved')
    expect(await rowsOf(paymentId)).toMatchObject([{ settledAt: expect.any(Date) }])
  })

  test('made ten times at once for one request returns no more than was asked for in one of them, nor than arrived', async () => {
    const paymentId = await paid()
    await ask({ paymentId, amountAtomic: (PAID * 3n) / 5n })
    const outcomes = await Promise.allSettled(
      Array.from({ length: 10 }, () =>
        buildRefund(opened.context, opened.actor, { paymentId, amount: '0.006' }),
      ),
    )
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    expect(await stateOf(paymentId)).toBe('refunding')
  })
})
