import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { parseJson } from '#contract/json.ts'
import { openAccount, registerPayee } from '#testing/service-context.ts'
import {
  openMinedTokenFixture,
  type MinedTokenFixture,
  type Parties,
  type TokenMethod,
} from '#testing/token-fixture.ts'
import { payInvoice } from '#testing/token-payers.ts'
import type { Context } from '../context/context.ts'
import { contractsOf } from '../verification/check-authorization.ts'
import { settlePayment, verifyPayment } from './facilitator.ts'

let fixture: MinedTokenFixture
/** Where only the one request may be sent; where it shows nothing. */
let atOnce: Context
let inSteps: Context

type Input = Parameters<typeof verifyPayment>[2]

beforeAll(async () => {
  fixture = await openMinedTokenFixture()
  const contracts = contractsOf(fixture.chain)
  const never = () => Promise.reject(new Error('This was asked for apart.'))
  atOnce = fixture.withChain({
    contracts: { ...contracts, quote: never, findUse: never, read: never, holding: never },
  })
  inSteps = fixture.withChain({ contracts: { ...contracts, executes: async () => null } })
})
afterAll(() => fixture?.[Symbol.asyncDispose]())

async function paid(all: Parties): Promise<Input> {
  const header = await payInvoice(all.client, all.requirements)
  const paymentPayload = parseJson(Buffer.from(header, 'base64').toString()) as Record<
    string,
    unknown
  >
  return { x402Version: 2, paymentPayload, paymentRequirements: all.requirements }
}

const verify = (context: Context, input: Input, actor = fixture.actor) =>
  verifyPayment(context, actor, input)

/** What another payment needed is known then. */
async function warm(method: TokenMethod): Promise<void> {
  const input = await paid(await fixture.parties({ method }))
  expect(await verify(fixture.context, input)).toMatchObject({ isValid: true })
}

/** A payment that is verified at once: its funds came in a block that this process learns of within a second. */
async function paidAtOnce(all: Parties): Promise<Input> {
  const input = await paid(all)
  await expect.poll(() => verify(atOnce, input)).toMatchObject({ isValid: true })
  return input
}

/** A report names times that count from the moment it is made, and heights of the newest block. */
async function atOneMoment(
  compare: (at: (context: Context) => Context) => Promise<void>,
): Promise<void> {
  const now = new Date()
  using _ = fixture.withoutMining()
  // Until this process has learned of the last block.
  await vi.waitFor(() => compare((context) => ({ ...context, now: () => now })), {
    timeout: 90_000,
    interval: 200,
  })
}

describe.each(['eip3009', 'permit2'] as const)('a payment by %s', (method) => {
  test('after another one is verified with one request, and reports what the steps report', async () => {
    await warm(method)
    const input = await paidAtOnce(await fixture.parties({ method }))
    await atOneMoment(async (at) =>
      expect(await verify(at(atOnce), input)).toEqual(await verify(at(inSteps), input)),
    )
    const settled = await settlePayment(fixture.context, fixture.actor, input)
    expect(settled).toMatchObject({ success: true })
    expect(await verify(fixture.context, input)).toMatchObject({ isValid: false })
  })

  test.each<[string, (all: Parties, input: Input) => Promise<unknown>, string]>([
    [
      'whose payee belongs to another account',
      async ({ payee }) => {
        const other = await openAccount(fixture.context)
        await registerPayee(fixture.context, other.accountId, payee.address)
      },
      'payee_not_owned',
    ],
    [
      'whose payer is refused',
      async ({ payer }) => {
        const { db } = fixture.context
        await db.execute(sql`
          insert into service.refused_payer (network, payer, payment_id, transaction, refused_until)
          select ${fixture.chain.network.network}, ${payer.address}, id, '0x', now() + interval '1 hour'
          from service.payment limit 1`)
      },
      'payer_refused',
    ],
    [
      'that was settled for another account',
      async (_, input) => {
        const other = await openAccount(fixture.context)
        await settlePayment(fixture.context, other, input)
      },
      'already_used',
    ],
  ])('%s is refused as by the steps', async (_, spoil, reason) => {
    await warm(method)
    const all = await fixture.parties({ method })
    const input = await paidAtOnce(all)
    await spoil(all, input)
    await atOneMoment(async (at) => {
      const refused = await verify(at(fixture.context), input)
      expect(refused.isValid).toBe(false)
      expect(JSON.stringify(refused)).toContain(reason)
      expect(refused).toEqual(await verify(at(inSteps), input))
    })
  })

  test('whose fee no budget covers is refused', async () => {
    await warm(method)
    const input = await paidAtOnce(await fixture.parties({ method }))
    const { facilitators } = fixture.context.config
    const spent = { wallet: '1', account: '0.000000000000000001', keyless: '1' }
    const poor: Context = {
      ...fixture.context,
      config: {
        ...fixture.context.config,
        ...(facilitators && { facilitators: { ...facilitators, dailyFees: spent } }),
      },
    }
    await expect(verify(poor, input)).rejects.toMatchObject({ code: 'RATE_LIMIT' })
  })

  test('that ends in less than 6 seconds is refused', async () => {
    await warm(method)
    const input = await paid(await fixture.parties({ method, validSeconds: 4 }))
    expect(await verify(fixture.context, input)).toMatchObject({ isValid: false })
  })
})
