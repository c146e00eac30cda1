import { eq, sql } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { encodeFunctionData, erc20Abi, type Hex } from 'viem'
import { PERMIT2 } from '#chains/evm/signed-types.ts'
import { parseJson } from '#contract/json.ts'
import { ENGINES } from '#testing/postgres.ts'
import { eventually, openContext, type OpenedContext } from '#testing/service-context.ts'
import {
  openMinedTokenFixture,
  type MinedTokenFixture,
  type Parties,
} from '#testing/token-fixture.ts'
import { payInvoice, sendFrom } from '#testing/token-payers.ts'
import { removeEndedReservations, reserve } from '../db/reservations.ts'
import { reservation } from '../db/schema/proof.ts'
import { settlePayment, verifyPayment } from './facilitator.ts'

/** Verifications never promise more of a payer's funds than the payer can move. */

const HELD = 10n ** 9n

let fixture: MinedTokenFixture

beforeAll(async () => {
  fixture = await openMinedTokenFixture()
})
afterAll(() => fixture?.[Symbol.asyncDispose]())

type Input = Parameters<typeof settlePayment>[2]

async function paid(all: Parties): Promise<Input> {
  const header = await payInvoice(all.client, all.requirements)
  const paymentPayload = parseJson(Buffer.from(header, 'base64').toString()) as Record<
    string,
    unknown
  >
  return { x402Version: 2, paymentPayload, paymentRequirements: all.requirements }
}

const verify = (input: Input) => verifyPayment(fixture.context, fixture.actor, input)
const settle = (input: Input) => settlePayment(fixture.context, fixture.actor, input)

test('of 100 verifications at once on a balance for one payment exactly one is valid', async () => {
  const all = await fixture.parties({ amount: HELD })
  const inputs = await Promise.all(Array.from({ length: 100 }, () => paid(all)))
  const answers = await Promise.all(inputs.map(verify))
  const refused = answers.filter(({ isValid }) => !isValid)
  expect(answers.length - refused.length).toBe(1)
  expect(new Set(refused.map(({ invalidReason }) => invalidReason))).toEqual(
    new Set(['insufficient_funds']),
  )
})

test('a payment keeps its own reservation, and settling needs none', async () => {
  const all = await fixture.parties({ amount: HELD })
  const [first, second] = [await paid(all), await paid(all)]
  expect(await verify(first)).toMatchObject({ isValid: true })
  const [row] = await fixture.context.db
    .select()
    .from(reservation)
    .where(eq(reservation.payer, all.payer.address))
  expect(await verify(first)).toMatchObject({ isValid: true })
  expect(await verify(second)).toMatchObject({
    isValid: false,
    invalidReason: 'insufficient_funds',
    payer: all.payer.address,
  })
  // Neither of them has renewed it.
  expect(
    await fixture.context.db
      .select()
      .from(reservation)
      .where(eq(reservation.payer, all.payer.address)),
  ).toEqual([row])
  expect(await settle(second)).toMatchObject({ success: true })
})

test('what was settled by the block of the balance is reserved no longer', async () => {
  const all = await fixture.parties({ amount: HELD })
  const input = await paid(all)
  expect(await verify(input)).toMatchObject({ isValid: true })
  expect(await settle(input)).toMatchObject({ success: true })
  await fixture.tokens.fund(all.payer.address)
  expect(await verify(await paid(all))).toMatchObject({ isValid: true })
})

test('a settlement that is still pending counts, also after its reservation has ended', async () => {
  const all = await fixture.parties({ amount: HELD })
  const input = await paid(all)
  expect(await verify(input)).toMatchObject({ isValid: true })
  const blocks = fixture.withoutMining()
  const settling = settle(input)
  await eventually(
    async () => (await verify(input)).extra?.checks.map(({ gotFact }) => gotFact?.code),
    (codes) => codes?.includes('in_settlement') ?? false,
  )
  await fixture.context.db
    .update(reservation)
    .set({ expiresAt: sql`now() - interval '1 minute'` })
    .where(eq(reservation.payer, all.payer.address))
  // The node simulates on the state of its pool, so the verification itself would be refused for that.
  const height = Number(await fixture.evm.client.getBlockNumber())
  const pool = {
    network: fixture.chain.network.network,
    payer: all.payer.address,
    asset: all.asset.address,
  }
  const validBefore = BigInt(Math.floor(Date.now() / 1000)) + 60n
  const other = {
    ...pool,
    key: 'other',
    amountAtomic: 1n,
    availableAtomic: HELD,
    height,
    validBefore,
  }
  expect(await reserve(fixture.context.db, other)).toBe(HELD)
  blocks[Symbol.dispose]()
  expect(await settling).toMatchObject({ success: true })
})

test('a permit reserves no more than Permit2 may move', async () => {
  const all = await fixture.parties({ method: 'permit2', amount: 1_000n })
  const data = encodeFunctionData({
    abi: erc20Abi,
    functionName: 'approve',
    args: [PERMIT2, 1_500n],
  })
  await sendFrom(fixture.evm, all.payer, { to: all.asset.address as Hex, data })
  const answers = [await verify(await paid(all)), await verify(await paid(all))]
  expect(answers.map(({ isValid, invalidReason }) => [isValid, invalidReason])).toEqual([
    [true, undefined],
    [false, 'insufficient_funds'],
  ])
})

describe.each(ENGINES)('on %s', (engine) => {
  let opened: OpenedContext

  beforeAll(async () => {
    opened = await openContext([], { engine })
  })
  afterAll(() => opened?.[Symbol.asyncDispose]())

  const inAMinute = () => BigInt(Math.floor(Date.now() / 1000)) + 60n
  const want = (key: string, validBefore: bigint) =>
    reserve(opened.context.db, {
      network: 'eip155:1',
      payer: '0xa',
      asset: '0xt',
      key,
      amountAtomic: 10n,
      availableAtomic: 25n,
      height: 1,
      validBefore,
    })
  const read = () => opened.context.db.select().from(reservation).orderBy(reservation.key)

  test('reservations end with the signature, at the latest after two minutes, and are removed a day later', async () => {
    const end = inAMinute()
    expect([await want('a', end), await want('b', end + 100_000n), await want('c', end)]).toEqual([
      null,
      null,
      20n,
    ])
    const [a, b] = await read()
    expect(a?.expiresAt).toEqual(new Date(Number(end) * 1000))
    expect((b?.expiresAt.getTime() ?? 0) - Date.now()).toBeLessThanOrEqual(120_000)
    await opened.context.db
      .update(reservation)
      .set({ expiresAt: sql`now() - interval '1 second'` })
      .where(eq(reservation.key, 'a'))
    expect(await want('c', end)).toBeNull()
    await opened.context.db
      .update(reservation)
      .set({ expiresAt: sql`now() - interval '25 hours'` })
      .where(eq(reservation.key, 'a'))
    await removeEndedReservations(opened.context.db)
    expect((await read()).map(({ key }) => key)).toEqual(['b', 'c'])
  })
})
