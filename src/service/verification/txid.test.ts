import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { eq } from 'drizzle-orm'
import {
  ETHER_AMOUNT,
  ETHER_RESOURCE,
  openEtherFixture,
  type EtherFixture,
  type SentEther,
} from '#testing/ether-fixture.ts'
import { alter, REFUSED_PAYEE, refusal, refused } from '#testing/proofs.ts'
import { eventually, openAccount, registerPayee, releasePayee } from '#testing/service-context.ts'
import { event } from '../db/schema/payment.ts'
import { claim } from '../db/schema/proof.ts'
import { buildTransaction } from '../payments/build.ts'
import { readHistory } from '../payments/list/history.ts'
import { readPaymentBody } from '../payments/status.ts'
import { pollOnce } from '../monitor/poll.ts'
import { reportSubmitted } from '../monitor/report.ts'
import { settlePayment, verifyPayment } from '../settlement/facilitator.ts'

/** Native ETH that the payer broadcast, proven by a signature: what a proof that holds is good for, and that it is good once. */

let fixture: EtherFixture

beforeAll(async () => {
  fixture = await openEtherFixture()
})
afterAll(() => fixture?.[Symbol.asyncDispose]())

test.each([1, 2] as const)(
  'a transfer that landed is received by its proof of version %i, recorded with its events, and found in the history',
  async (version) => {
    const sent = await fixture.send()
    const answer = await fixture.receive(sent, await fixture.prove(sent, { version }))
    expect(answer).toMatchObject({
      success: true,
      verified: true,
      alreadyProcessed: false,
      status: 'confirmed',
      signature: sent.txRef,
      sender: sent.payer.address,
      recipient: sent.payTo,
      amountAtomic: ETHER_AMOUNT.toString(),
      resource: ETHER_RESOURCE,
      verifiedBy: 'in-process',
    })
    expect(answer.checks.every(({ ok }) => ok)).toBe(true)
    const names = answer.checks.map(({ name }) => name)
    expect(names.indexOf('signature')).toBeLessThan(names.indexOf('single_use'))
    expect(names.indexOf('single_use')).toBeLessThan(names.indexOf('transaction'))
    const body = await readPaymentBody(fixture.context, answer.paymentId ?? '')
    expect(body).toMatchObject({
      mode: 'received',
      status: 'confirmed',
      events: [{ status: 'confirmed', source: 'service' }],
    })
    const history = await readHistory(fixture.context, fixture.actor, {
      params: { walletAddress: sent.payTo },
      query: { type: 'all', limit: 50, offset: 0 },
      body: undefined,
    })
    expect(history.payments).toMatchObject([{ paymentId: answer.paymentId, type: 'received' }])
  },
)

test('a received payment is followed to finality', async () => {
  const sent = await fixture.send()
  const { paymentId } = await fixture.receive(sent, await fixture.prove(sent))
  await fixture.evm.mine(12)
  await eventually(
    async () => {
      await pollOnce(fixture.context, fixture.chain, { expiredToo: false })
      return readPaymentBody(fixture.context, paymentId ?? '')
    },
    ({ status }) => status === 'finalized',
  )
})

test('tells the stream of the verification and of the settlement, once each', async () => {
  const sent = await fixture.send()
  const header = await fixture.prove(sent)
  const { paymentId } = await fixture.receive(sent, header)
  await fixture.receive(sent, header)
  const rows = await fixture.context.db
    .select()
    .from(event)
    .where(eq(event.paymentId, paymentId ?? ''))
    .orderBy(event.id)
  expect(rows.map(({ kind, status }) => [kind, status])).toEqual([
    ['payment', 'confirmed'],
    ['verification', 'confirmed'],
    ['settlement', 'confirmed'],
  ])
  // Beside them, the payment's own history stays what happened to its status.
  expect((await readPaymentBody(fixture.context, paymentId ?? '')).events).toHaveLength(1)
})

describe('single use', () => {
  test('the same proof for the same question gets the same payment again', async () => {
    const sent = await fixture.send()
    const header = await fixture.prove(sent)
    const first = await fixture.receive(sent, header)
    const again = await fixture.receive(sent, header, { timeout: 3 })
    expect(again).toMatchObject({
      paymentId: first.paymentId,
      verified: true,
      alreadyProcessed: true,
      checks: first.checks,
    })
  })

  test('checks that an earlier version recorded as sentences alone are told again as they stand', async () => {
    const sent = await fixture.send()
    const header = await fixture.prove(sent)
    const { paymentId } = await fixture.receive(sent, header)
    const old = [
      {
        name: 'fresh',
        source: 'chain',
        ok: true,
        expected: 'an earlier wording',
        got: 'an earlier wording',
      },
    ]
    await fixture.context.db
      .update(claim)
      .set({ checks: JSON.stringify(old) })
      .where(eq(claim.paymentId, paymentId ?? ''))
    expect(await fixture.receive(sent, header)).toMatchObject({
      paymentId,
      alreadyProcessed: true,
      checks: old,
    })
  })

  test('the same proof for another question is refused as used', async () => {
    const sent = await fixture.send()
    const header = await fixture.prove(sent)
    await fixture.receive(sent, header)
    expect(await refusal(fixture.receive(sent, header, { resource: undefined }))).toEqual(
      refused('already_used', 'single_use'),
    )
  })

  test('for a payee without an owner, the claim of an account binds that account alone', async () => {
    const sent = await fixture.send()
    const header = await fixture.prove(sent)
    const first = await fixture.receive(sent, header)
    const other = await openAccount(fixture.context)
    const second = await fixture.receive(sent, header, {}, other)
    expect(second).toMatchObject({ verified: true, alreadyProcessed: false })
    expect(second.paymentId).not.toBe(first.paymentId)
    expect(await fixture.receive(sent, header, {}, other)).toMatchObject({
      paymentId: second.paymentId,
      alreadyProcessed: true,
    })
    expect(await refusal(fixture.receive(sent, header, { resource: undefined }, other))).toEqual(
      refused('already_used', 'single_use'),
    )
  })

  test('an owned payee has one grant: the proof of another account is refused, before and after its owner used it', async () => {
    const sent = await fixture.send()
    const header = await fixture.prove(sent)
    const other = await openAccount(fixture.context)
    await registerPayee(fixture.context, fixture.actor.accountId, sent.payTo)
    expect(await refusal(fixture.receive(sent, header, {}, other))).toEqual(REFUSED_PAYEE)
    expect(await fixture.receive(sent, header)).toMatchObject({
      verified: true,
      alreadyProcessed: false,
    })
    expect(await refusal(fixture.receive(sent, header, {}, other))).toEqual(REFUSED_PAYEE)
  })

  test('what the owner of a payee used stays used when another account owns it', async () => {
    const sent = await fixture.send()
    const header = await fixture.prove(sent)
    const [next, stranger] = [
      await openAccount(fixture.context),
      await openAccount(fixture.context),
    ]
    await registerPayee(fixture.context, fixture.actor.accountId, sent.payTo)
    await fixture.receive(sent, header)
    await releasePayee(fixture.context, fixture.actor.accountId, sent.payTo)
    expect(await refusal(fixture.receive(sent, header, {}, stranger))).toEqual(
      refused('already_used', 'single_use'),
    )
    await registerPayee(fixture.context, next.accountId, sent.payTo)
    expect(await refusal(fixture.receive(sent, header, {}, next))).toEqual(
      refused('already_used', 'single_use'),
    )
    expect(await refusal(fixture.receive(sent, header))).toEqual(REFUSED_PAYEE)
  })

  test('what an account used before it owned the payee stays used as well', async () => {
    const sent = await fixture.send()
    const header = await fixture.prove(sent)
    const next = await openAccount(fixture.context)
    await fixture.receive(sent, header)
    await registerPayee(fixture.context, fixture.actor.accountId, sent.payTo)
    await releasePayee(fixture.context, fixture.actor.accountId, sent.payTo)
    await registerPayee(fixture.context, next.accountId, sent.payTo)
    expect(await refusal(fixture.receive(sent, header, {}, next))).toEqual(
      refused('already_used', 'single_use'),
    )
  })

  test('one transaction is one grant, whatever the version and the spelling of its proof', async () => {
    const sent = await fixture.send()
    await fixture.receive(sent, await fixture.prove(sent, { version: 2 }))
    const v1 = await fixture.receive(sent, await fixture.prove(sent, { version: 1 }))
    const upper = await fixture.receive(
      sent,
      alter(await fixture.prove(sent), (value) => ({
        ...value,
        payload: { ...value.payload, txRef: `0x${sent.txRef.slice(2).toUpperCase()}` },
      })),
    )
    expect([v1.alreadyProcessed, upper.alreadyProcessed]).toEqual([true, true])
  })

  test('of many calls at once one uses the proof', async () => {
    const sent = await fixture.send()
    const header = await fixture.prove(sent)
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => fixture.receive(sent, header)),
    )
    expect(answers.filter(({ alreadyProcessed }) => !alreadyProcessed)).toHaveLength(1)
    expect(new Set(answers.map(({ paymentId }) => paymentId)).size).toBe(1)
  })

  test('of many accounts at once the owner of the payee gets the payment, and no other', async () => {
    const sent = await fixture.send()
    const header = await fixture.prove(sent)
    const actors = await Promise.all(Array.from({ length: 8 }, () => openAccount(fixture.context)))
    await registerPayee(fixture.context, actors[5]?.accountId ?? '', sent.payTo)
    const answers = await Promise.allSettled(
      actors.map((other) => fixture.receive(sent, header, {}, other)),
    )
    expect(answers.map(({ status }) => status === 'fulfilled')).toEqual(
      actors.map((_, index) => index === 5),
    )
  })

  test('of many accounts at once each gets one grant, where nobody owns the payee', async () => {
    const sent = await fixture.send()
    const header = await fixture.prove(sent)
    const actors = await Promise.all(Array.from({ length: 4 }, () => openAccount(fixture.context)))
    const answers = await Promise.all(
      [...actors, ...actors].map((actor) => fixture.receive(sent, header, {}, actor)),
    )
    expect(answers.filter(({ alreadyProcessed }) => !alreadyProcessed)).toHaveLength(actors.length)
    expect(new Set(answers.map(({ paymentId }) => paymentId)).size).toBe(actors.length)
  })
})

describe('a transaction that has not landed', () => {
  test('is pending, keeps nothing, and is received once it has landed', async () => {
    const sent = await fixture.send({ mined: 0 })
    const header = await fixture.prove(sent)
    const waiting = await fixture.receive(sent, header, { timeout: 1 })
    expect(waiting).toMatchObject({
      verified: false,
      status: 'pending',
      paymentId: null,
      signature: sent.txRef,
    })
    await fixture.evm.mine(1)
    expect(await fixture.receive(sent, header, { timeout: 1 })).toMatchObject({
      verified: false,
      status: 'pending',
    })
    await fixture.evm.mine(1)
    expect(await fixture.receive(sent, header)).toMatchObject({
      verified: true,
      alreadyProcessed: false,
    })
  })

  test('is waited for within the timeout', async () => {
    const sent = await fixture.send({ mined: 0 })
    const answer = fixture.receive(sent, await fixture.prove(sent))
    await fixture.evm.mine(2)
    expect(await answer).toMatchObject({ verified: true })
  })

  test('and that nobody knows is pending when the time is over, not refused', async () => {
    const sent = await fixture.send()
    const unknown = { ...sent, txRef: `0x${'ab'.repeat(32)}` as const }
    expect(
      await fixture.receive(unknown, await fixture.prove(unknown), { timeout: 1 }),
    ).toMatchObject({
      verified: false,
      status: 'pending',
    })
  })
})

type Built = Partial<Parameters<typeof buildTransaction>[2]>

/** An order of this account that its payer has paid. */
async function payOrder(order: Built): Promise<{ sent: SentEther; paymentId: string }> {
  const [payer, payee] = await Promise.all([fixture.evm.wallet(10n ** 18n), fixture.evm.wallet(0n)])
  const built = await buildTransaction(fixture.context, fixture.actor, {
    walletAddress: payer.address,
    recipientAddress: payee.address,
    amount: '0.01',
    ...order,
  })
  const { gas, maxFeePerGas, maxPriorityFeePerGas, nonce } = built.decoded as Record<string, string>
  const fields = {
    chainId: 31337,
    gas: BigInt(gas ?? 0),
    maxFeePerGas: BigInt(maxFeePerGas ?? 0),
    maxPriorityFeePerGas: BigInt(maxPriorityFeePerGas ?? 0),
    nonce: Number(nonce),
    to: payee.address,
    value: ETHER_AMOUNT,
  }
  const txRef = await fixture.evm.client.sendRawTransaction({
    serializedTransaction: await payer.signTransaction({ type: 'eip1559', ...fields }),
  })
  await fixture.evm.mine(2)
  const sent: SentEther = {
    payer,
    payTo: payee.address,
    txRef,
    network: 'eip155:31337',
    amount: ETHER_AMOUNT,
  }
  return { sent, paymentId: built.paymentId }
}

/** The monitor confirms the order of a transfer before anybody presents a proof of it. */
async function confirmOrder({ sent, paymentId }: Awaited<ReturnType<typeof payOrder>>) {
  await reportSubmitted(fixture.context, fixture.actor, { paymentId, signature: sent.txRef })
  await eventually(
    async () => {
      await pollOnce(fixture.context, fixture.chain, { expiredToo: false })
      return readPaymentBody(fixture.context, paymentId)
    },
    ({ status }) => status === 'confirmed',
  )
}

/** What a server of the official packages asks: its core tells the facilitator no resource. */
async function askFacilitator(sent: SentEther) {
  const paymentPayload = JSON.parse(
    Buffer.from(await fixture.prove(sent), 'base64').toString(),
  ) as Record<string, unknown>
  const paymentRequirements = paymentPayload.accepted as Record<string, unknown>
  const input = { x402Version: 2, paymentPayload, paymentRequirements }
  return {
    verified: await verifyPayment(fixture.context, fixture.actor, input),
    settled: await settlePayment(fixture.context, fixture.actor, input),
  }
}

test.each<[string, Built]>([
  ['a payment link', { metadata: { paymentLink: 'lnk_1' } }],
  [
    'a payment link that names the resource',
    { metadata: { paymentLink: 'lnk_1' }, resource: ETHER_RESOURCE },
  ],
  ['an order without a resource', {}],
])('a transfer that paid %s buys no resource', async (_, order) => {
  const paid = await payOrder(order)
  await confirmOrder(paid)
  expect(await askFacilitator(paid.sent)).toMatchObject({
    verified: { isValid: false, invalidReason: 'already_used' },
    settled: { success: false, errorReason: 'already_used', transaction: '' },
  })
  for (const resource of [undefined, ETHER_RESOURCE])
    expect(
      await refusal(fixture.receive(paid.sent, await fixture.prove(paid.sent), { resource })),
    ).toEqual(refused('already_used', 'paid_order'))
})

test('an order for a resource that the chain confirmed is served to the proof of that resource, though the official core names none', async () => {
  const paid = await payOrder({ resource: ETHER_RESOURCE })
  await confirmOrder(paid)
  expect(await askFacilitator(paid.sent)).toMatchObject({
    verified: { isValid: true },
    settled: { success: true, paymentId: paid.paymentId, transaction: paid.sent.txRef },
  })
  expect(await askFacilitator(paid.sent)).toMatchObject({
    verified: { isValid: false, invalidReason: 'already_used' },
    settled: { success: false, errorReason: 'already_used' },
  })
})

test('a payment that this account gave out is the one that is received', async () => {
  const { sent, paymentId } = await payOrder({ resource: ETHER_RESOURCE })
  expect(await fixture.receive(sent, await fixture.prove(sent))).toMatchObject({
    paymentId,
    verified: true,
    status: 'confirmed',
  })
  const body = await readPaymentBody(fixture.context, paymentId)
  expect(body).toMatchObject({ mode: 'local', status: 'confirmed' })
  expect(body.events.map(({ status }) => status)).toEqual(['created', 'pending', 'confirmed'])
})
