import { afterAll, beforeAll, expect, test } from 'vitest'
import { parseJson } from '#contract/json.ts'
import { refusal } from '#testing/proofs.ts'
import { eventually, openContext } from '#testing/service-context.ts'
import {
  openMinedTokenFixture,
  type MinedTokenFixture,
  type Parties,
} from '#testing/token-fixture.ts'
import { payInvoice } from '#testing/token-payers.ts'
import type { Context } from '../context/context.ts'
import { describeSupported, settlePayment, verifyPayment } from './facilitator.ts'

/** The extension `payment-identifier` of x402: what a payer named once is not paid by two signatures. */

let fixture: MinedTokenFixture

beforeAll(async () => {
  fixture = await openMinedTokenFixture()
})
afterAll(() => fixture?.[Symbol.asyncDispose]())

type Input = Parameters<typeof settlePayment>[2]

async function paid(all: Parties, id: unknown, validSeconds = 60): Promise<Input> {
  const requirements = { ...all.requirements, maxTimeoutSeconds: validSeconds }
  const payload = parseJson(
    Buffer.from(await payInvoice(all.client, requirements), 'base64').toString(),
  ) as Record<string, unknown>
  const extensions = { 'payment-identifier': { info: { required: false, id } } }
  return {
    x402Version: 2,
    paymentPayload: { ...payload, extensions },
    paymentRequirements: requirements,
  }
}

const verify = (input: Input, context: Context = fixture.context) =>
  verifyPayment(context, fixture.actor, input)
const settle = (input: Input) => settlePayment(fixture.context, fixture.actor, input)
const newId = () => `pay_${crypto.randomUUID()}`

/** The state that a second payment is told of the first one under its id. */
async function conflict(call: Promise<unknown>): Promise<unknown> {
  const error: unknown = await call.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  expect(await refusal(Promise.reject(error))).toMatchObject({
    code: 'IDEMPOTENCY_CONFLICT',
    reason: 'payment-identifier',
  })
  return (error as { facts: { details: { state: unknown } } }).facts.details.state
}

test('is named among the extensions', () => {
  expect(describeSupported(fixture.context).extensions).toEqual(['payment-identifier'])
})

test('the same payment under one id is verified again and again, and told as success once', async () => {
  const input = await paid(await fixture.parties(), newId())
  expect([(await verify(input)).isValid, (await verify(input)).isValid]).toEqual([true, true])
  expect(await settle(input)).toMatchObject({ success: true })
  expect(await settle(input)).toMatchObject({ success: false, errorReason: 'already_used' })
})

test('a second signature under an id is a conflict with the state of the first, at every process', async () => {
  const [all, id] = [await fixture.parties(), newId()]
  const [first, second] = [await paid(all, id), await paid(all, id)]
  await using other = await openContext([fixture.tokens.network], {
    beside: fixture.opened.context,
  })
  expect(await verify(first)).toMatchObject({ isValid: true })
  expect(await conflict(verify(second, { ...other.context, config: fixture.context.config }))).toBe(
    'presented',
  )
  const blocks = fixture.withoutMining()
  const settling = settle(first)
  expect(
    await eventually(
      () => conflict(settle(second)),
      (state) => state !== 'presented',
    ),
  ).toBe('pending')
  blocks[Symbol.dispose]()
  expect(await settling).toMatchObject({ success: true })
  expect(['confirmed', 'finalized']).toContain(await conflict(settle(second)))
  expect(await fixture.balance(all.asset, all.payee.address)).toBe(all.amount)
})

test('once the first can never land, its id is free for another signature', async () => {
  const [all, id] = [await fixture.parties(), newId()]
  const first = await paid(all, id, 8)
  expect(await verify(first)).toMatchObject({ isValid: true })
  const second = await paid(all, id, 120)
  expect(await conflict(verify(second))).toBe('presented')
  await eventually(
    () =>
      verify(second).then(
        ({ isValid }) => isValid,
        () => false,
      ),
    (isValid) => isValid,
  )
  expect(await settle(second)).toMatchObject({ success: true })
})

test('ids are those of a payer and a payee, and bind only what was signed', async () => {
  const id = newId()
  const [one, other] = [await fixture.parties(), await fixture.parties()]
  expect(await verify(await paid(one, id))).toMatchObject({ isValid: true })
  expect(await verify(await paid(other, id))).toMatchObject({ isValid: true })
  const [third, forgedId] = [await fixture.parties(), newId()]
  const input = await paid(third, forgedId)
  const forged = {
    ...input,
    paymentPayload: {
      ...input.paymentPayload,
      payload: { ...(input.paymentPayload.payload as object), signature: `0x${'11'.repeat(64)}1b` },
    },
  }
  expect(await settle(forged)).toMatchObject({
    success: false,
    errorReason: 'invalid_exact_evm_payload_signature',
  })
  expect(await verify(await paid(third, forgedId))).toMatchObject({ isValid: true })
})

test.each([['short'], ['x'.repeat(129)], ['sixteen letters!'], [7]])(
  'the id %j is not one',
  async (id) => {
    expect(await verify(await paid(await fixture.parties(), id))).toMatchObject({
      isValid: false,
      invalidReason: 'invalid_payload',
    })
  },
)
