import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parseJson } from '#contract/json.ts'
import { proveTxid, refusal, refused } from '#testing/proofs.ts'
import { openMinedTokenFixture, type MinedTokenFixture } from '#testing/token-fixture.ts'
import { payInvoice, sendFrom } from '#testing/token-payers.ts'
import type { Context } from '../context/context.ts'
import { createReadiness } from '../health.ts'
import { settlePayment, verifyPayment } from '../settlement/facilitator.ts'
import { receivePayment } from '../settlement/receive.ts'

/** A wrong clock calls no good proof bad: the chain and the database say what time it is, and a proof is over only by a final block. */

const HOUR_MS = 3_600_000
const AMOUNT = 10n ** 16n

let fixture: MinedTokenFixture

beforeAll(async () => {
  fixture = await openMinedTokenFixture()
})
afterAll(() => fixture?.[Symbol.asyncDispose]())

const clockOff = (ms: number): Context => ({
  ...fixture.context,
  now: () => new Date(Date.now() + ms),
})
const chainOff = (ms: { head: number; finalized: number }): Context =>
  fixture.withChain({
    clock: async () => ({
      head: new Date(Date.now() + ms.head),
      finalized: new Date(Date.now() + ms.finalized),
    }),
  })

async function authorized() {
  const all = await fixture.parties()
  const header = await payInvoice(all.client, all.requirements)
  const paymentPayload = parseJson(Buffer.from(header, 'base64').toString()) as Record<
    string,
    unknown
  >
  return {
    all,
    header,
    input: { x402Version: 2, paymentPayload, paymentRequirements: all.requirements },
  }
}

async function transferred() {
  const [payer, payee] = await Promise.all([fixture.evm.wallet(10n ** 18n), fixture.evm.wallet(0n)])
  const txRef = await sendFrom(fixture.evm, payer, {
    to: payee.address,
    value: AMOUNT,
    gas: 21_000n,
  })
  await fixture.evm.mine(3)
  const paymentProof = await proveTxid({
    payer,
    payTo: payee.address,
    network: 'eip155:31337',
    amount: AMOUNT,
    txRef,
  })
  return {
    walletAddress: payee.address,
    paymentProof,
    expectedAmount: '0.01',
    resource: 'https://shop.example/a',
    timeout: 10,
  }
}

describe.each([
  ['an hour fast', HOUR_MS],
  ['an hour slow', -HOUR_MS],
  ['26 hours fast', 26 * HOUR_MS],
])('with the clock of this process %s', (_, ms) => {
  test('an authorization that the chain takes is verified, settled and received', async () => {
    const { input } = await authorized()
    expect(await verifyPayment(clockOff(ms), fixture.actor, input)).toMatchObject({ isValid: true })
    expect(await settlePayment(clockOff(ms), fixture.actor, input)).toMatchObject({ success: true })
    const { all, header } = await authorized()
    expect(await fixture.receive(all, header, {}, clockOff(ms))).toMatchObject({ verified: true })
  })

  test('a payment that was made a moment ago is received', async () => {
    expect(await receivePayment(clockOff(ms), fixture.actor, await transferred())).toMatchObject({
      verified: true,
    })
  })

  test('the service is not ready', async () => {
    const { checks } = await createReadiness(clockOff(ms))()
    expect(checks).toContainEqual({ name: 'clock', ok: false })
  })
})

describe('with a chain whose time differs', () => {
  test('an authorization is accepted by the later of its head and the database, and over only by its final block', async () => {
    const { all, header, input } = await authorized()
    const ahead = chainOff({ head: HOUR_MS, finalized: 0 })
    expect(await verifyPayment(ahead, fixture.actor, input)).toMatchObject({
      isValid: false,
      invalidReason: 'invalid_exact_evm_payload_authorization_valid_before',
    })
    expect(await refusal(fixture.receive(all, header, {}, ahead))).toEqual({
      code: 'PAYMENT_VERIFICATION_FAILED',
    })
    const over = chainOff({ head: HOUR_MS, finalized: HOUR_MS })
    expect(await refusal(fixture.receive(all, header, {}, over))).toEqual(
      refused('outside_window', 'valid_before'),
    )
    expect(
      await verifyPayment(chainOff({ head: -HOUR_MS, finalized: -HOUR_MS }), fixture.actor, input),
    ).toMatchObject({ isValid: true })
  })

  test('a payment is too old only by a final block', async () => {
    const body = await transferred()
    const day = 25 * HOUR_MS
    expect(
      await refusal(receivePayment(chainOff({ head: day, finalized: 0 }), fixture.actor, body)),
    ).toEqual({ code: 'PAYMENT_VERIFICATION_FAILED' })
    expect(
      await refusal(receivePayment(chainOff({ head: day, finalized: day }), fixture.actor, body)),
    ).toEqual(refused('outside_window', 'window'))
    expect(await receivePayment(fixture.context, fixture.actor, body)).toMatchObject({
      verified: true,
    })
  })

  test.each<[string, number, object]>([
    ['a head that is 6 s ahead of us', 6_000, { ok: false }],
    ['a head that is 3 s ahead of us', 3_000, { ok: true }],
    ['a head that is 14 s old', -14_000, { ok: true }],
    ['a head that is 17 s old', -17_000, { ok: true, note: 'chain behind' }],
  ])('readiness with %s', async (_, head, wanted) => {
    const { checks } = await createReadiness(chainOff({ head, finalized: head }))()
    expect(checks.filter(({ name }) => name.startsWith('eip155'))).toEqual([
      { name: 'eip155:31337', ...wanted },
    ])
  })
})
