import { eq, sql } from 'drizzle-orm'
import * as v from 'valibot'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { encodeFunctionData, erc20Abi, toHex, type Hex } from 'viem'
import { callOf } from '#chains/evm/authorization.ts'
import { formatAmount } from '#contract/amount.ts'
import { FacilitatorInput } from '#contract/facilitator.ts'
import { parseJson, stringifyJson } from '#contract/json.ts'
import { ProblemError } from '#contract/problem.ts'
import {
  ANSWERS,
  approvePermit2Of,
  contractClient,
  deployCode,
  validWhile,
  WHILE,
} from '#testing/contract-payers.ts'
import { executeAsOwner } from '#testing/postgres.ts'
import { refusal, refused } from '#testing/proofs.ts'
import type { Database } from '#postgres/open.ts'
import { createTestKey, startTestApp, type TestApp } from '#testing/service-app.ts'
import { eventually, openContext } from '#testing/service-context.ts'
import {
  openMinedTokenFixture,
  type MinedTokenFixture,
  type TokenMethod,
} from '#testing/token-fixture.ts'
import { payInvoice, queueFrom, sendFrom } from '#testing/token-payers.ts'
import { routes } from '../api/handlers.ts'
import { DAILY_FEES } from '../context/config.ts'
import type { Context } from '../context/context.ts'
import { refusedPayer, settlementFee } from '../db/schema/proof.ts'
import { lockNonceQueue } from '../db/nonce-queue.ts'
import { budgetLock, requireBudget, reserveFee } from '../db/settlement-fees.ts'
import { pollOnce } from '../monitor/poll.ts'
import { readPaymentBody } from '../payments/status.ts'
import { settlePayment } from './facilitator.ts'

/** What a payer can make the wallet of the facilitator spend, and what ends it. */

let fixture: MinedTokenFixture
let app: TestApp
let key: string

beforeAll(async () => {
  fixture = await openMinedTokenFixture()
  const { config, chains, signer } = fixture.context
  app = await startTestApp({ target: config.database, routes, parts: { config, chains, signer } })
  ;({ key } = await createTestKey(app.context.db))
})
afterAll(async () => {
  await app?.[Symbol.asyncDispose]()
  await fixture?.[Symbol.asyncDispose]()
})

type Reply = { status: number; headers: Headers; body: Record<string, unknown> }

async function post(path: string, body: unknown, url = app.url): Promise<Reply> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const response = await fetch(`${url}${path}`, {
    method: 'POST',
    headers,
    body: stringifyJson(body),
  })
  return { status: response.status, headers: response.headers, body: await response.json() }
}

/** What a contract with this code signs for one payee, as a facilitator is asked to settle it. */
async function invoiceOf(payer: Hex, method: TokenMethod = 'eip3009') {
  const all = await fixture.parties({ method })
  const { requirements, asset } = all
  await fixture.tokens.fund(payer)
  const sign = async () => toHex(new Uint8Array(65).fill(0x11))
  const header = await payInvoice(
    contractClient(fixture.evm, { address: payer, sign }),
    requirements,
  )
  if (method === 'permit2') await approvePermit2Of(fixture.evm, payer, asset)
  return {
    all,
    header,
    body: {
      x402Version: 2,
      paymentPayload: parseJson(Buffer.from(header, 'base64').toString()),
      paymentRequirements: requirements,
    },
  }
}

/** What the facilitator's wallet holds, and how many transactions it has sent. */
async function spending() {
  const { address } = fixture.facilitator
  return {
    balance: await fixture.evm.client.getBalance({ address }),
    nonce: await fixture.evm.client.getTransactionCount({ address, blockTag: 'pending' }),
  }
}

test.each<[string, () => Hex]>([
  ['while gas costs nothing', () => WHILE.gasIsFree],
  ['for another caller', () => WHILE.originIsNot(fixture.facilitator.address)],
  ['with more gas than the transaction has', () => WHILE.gasAbove(600_000n)],
])(
  'a payer whose signature is valid only %s is refused before anything is signed',
  async (_, condition) => {
    const payer = await deployCode(fixture.evm, () => validWhile(condition()))
    const { body } = await invoiceOf(payer)
    const before = await spending()
    const failed = 'invalid_exact_evm_transaction_simulation_failed'
    expect((await post('/facilitator/verify', body)).body).toMatchObject({
      isValid: false,
      invalidReason: failed,
    })
    expect((await post('/facilitator/settle', body)).body).toMatchObject({
      success: false,
      errorReason: failed,
    })
    expect(await spending()).toEqual(before)
  },
)

test('a payer whose signature ends with the newest block is not settled, and nothing is decided', async () => {
  using _ = fixture.withoutMining()
  const height = await fixture.evm.client.getBlockNumber()
  const payer = await deployCode(fixture.evm, () => validWhile(WHILE.blockUpTo(height + 1n)))
  const { body } = await invoiceOf(payer)
  const newest = await fixture.evm.client.getBlockNumber()
  await fixture.evm.setCode(payer, validWhile(WHILE.blockUpTo(newest)))
  const before = await spending()
  expect((await post('/facilitator/settle', body)).body).toMatchObject({
    success: false,
    errorReason: 'settlement_pending',
    transaction: '',
  })
  expect(await spending()).toEqual(before)
})

type Invoice = Awaited<ReturnType<typeof invoiceOf>>

/** The settlement is broadcast, `meanwhile` changes what it finds, and then it is mined. */
async function settleDuring({ all, header }: Invoice, meanwhile: () => Promise<unknown>) {
  using _ = fixture.withoutMining()
  const { nonce } = await spending()
  const answer = fixture.receive(all, header, { timeout: 3 })
  await eventually(spending, (now) => now.nonce > nonce)
  await meanwhile()
  await fixture.evm.mine()
  const told = await answer
  await fixture.evm.mine(3)
  return { ...told, nonce }
}

/** Everything that was signed for a payment has been judged. */
const judged = (paymentId: string) =>
  eventually(
    async () => {
      const { context, chain } = fixture
      await pollOnce(context, chain, { expiredToo: false })
      const [row] = await context.db
        .select()
        .from(settlementFee)
        .where(eq(settlementFee.paymentId, paymentId))
      return row?.paid ?? null
    },
    (paid) => paid !== null,
  )

const confirmed = (paymentId: string | null | undefined) =>
  eventually(
    async () => {
      await pollOnce(fixture.context, fixture.chain, { expiredToo: false })
      return readPaymentBody(fixture.context, paymentId ?? '')
    },
    ({ status }) => status === 'confirmed' || status === 'finalized',
  )

const refusedPayers = async () =>
  (await fixture.context.db.select({ payer: refusedPayer.payer }).from(refusedPayer)).map(
    ({ payer }) => payer,
  )

describe.each(['eip3009', 'permit2'] as const)('a settlement by %s that is reverted', (method) => {
  test('by the code of its payer, after a good simulation, has that payer refused for a day, and told so', async () => {
    const payer = await deployCode(fixture.evm, () => ANSWERS.valid)
    const before = await spending()
    const { paymentId } = await settleDuring(await invoiceOf(payer, method), () =>
      fixture.evm.setCode(payer, ANSWERS.invalid),
    )
    const paid = await judged(paymentId ?? '')
    expect(before.balance - (await spending()).balance).toBe(paid)
    expect(await refusedPayers()).toContain(payer)
    await fixture.evm.setCode(payer, ANSWERS.valid)
    const { all, header, body } = await invoiceOf(payer, method)
    const { nonce } = await spending()
    expect((await post('/facilitator/verify', body)).body).toMatchObject({
      isValid: false,
      invalidReason: 'payer_refused',
      invalidMessage: expect.stringMatching(
        /received refused until 20[0-9TZ:.-]+: its code reverted a settlement\.$/,
      ),
    })
    expect((await post('/facilitator/settle', body)).body).toMatchObject({
      success: false,
      errorReason: 'payer_refused',
    })
    expect(await refusal(fixture.receive(all, header))).toEqual(refused('payer_refused', 'payer'))
    expect((await spending()).nonce).toBe(nonce)
    // A day later.
    await fixture.context.db
      .update(refusedPayer)
      .set({ refusedUntil: sql`clock_timestamp()` })
      .where(eq(refusedPayer.payer, payer))
    expect((await post('/facilitator/settle', body)).body).toMatchObject({ success: true })
  })

  test('because a stranger executed the authorization first is paid, and refuses nobody', async () => {
    const payer = await deployCode(fixture.evm, () => ANSWERS.valid)
    const invoice = await invoiceOf(payer, method)
    const stranger = await fixture.evm.wallet(10n ** 18n)
    const authorization = await fixture.authorizationOf(invoice.all, invoice.header)
    const { paymentId } = await settleDuring(invoice, () =>
      queueFrom(fixture.evm, stranger, {
        ...callOf({ ...authorization, signedBy: 'contract' }),
        tip: 5n * 10n ** 9n,
      }),
    )
    expect(await judged(paymentId ?? '')).toBeGreaterThan(0n)
    expect(await refusedPayers()).not.toContain(payer)
    await confirmed(paymentId)
  })

  test('because its payer spent the funds elsewhere refuses nobody', async () => {
    const payer = await deployCode(fixture.evm, () => ANSWERS.valid)
    const invoice = await invoiceOf(payer, method)
    const { asset } = invoice.all
    const { paymentId } = await settleDuring(invoice, async () => {
      const held = await fixture.balance(asset, payer)
      await fixture.evm.client.setBalance({ address: payer, value: 10n ** 18n })
      await fixture.evm.client.impersonateAccount({ address: payer })
      await fixture.evm.client.sendUnsignedTransaction({
        from: payer,
        to: asset.address as Hex,
        maxFeePerGas: 10n ** 10n,
        maxPriorityFeePerGas: 5n * 10n ** 9n,
        data: encodeFunctionData({
          abi: erc20Abi,
          functionName: 'transfer',
          args: ['0x00000000000000000000000000000000DeaDBeef', held],
        }),
      })
    })
    // It holds enough again when it is looked at.
    await fixture.tokens.fund(payer)
    expect(await judged(paymentId ?? '')).toBeGreaterThan(0n)
    expect(await refusedPayers()).not.toContain(payer)
  })

  test('because the token moves nothing any more refuses nobody', async () => {
    const payer = await deployCode(fixture.evm, () => ANSWERS.valid)
    const invoice = await invoiceOf(payer, method)
    const token = invoice.all.asset.address as Hex
    const code = await fixture.evm.client.getCode({ address: token })
    const { paymentId } = await settleDuring(invoice, () =>
      fixture.evm.setCode(token, ANSWERS.reverts),
    )
    await fixture.evm.setCode(token, code ?? '0x')
    await fixture.evm.mine()
    expect(await judged(paymentId ?? '')).toBeGreaterThan(0n)
    expect(await refusedPayers()).not.toContain(payer)
  })
})

test('a payer is accepted again when its payment lands after all', async () => {
  const payer = await deployCode(fixture.evm, () => ANSWERS.valid)
  const invoice = await invoiceOf(payer)
  const authorization = await fixture.authorizationOf(invoice.all, invoice.header)
  const { paymentId } = await settleDuring(invoice, () =>
    fixture.evm.setCode(payer, ANSWERS.invalid),
  )
  await judged(paymentId ?? '')
  await fixture.evm.setCode(payer, ANSWERS.valid)
  await sendFrom(
    fixture.evm,
    await fixture.evm.wallet(10n ** 18n),
    callOf({ ...authorization, signedBy: 'contract' }),
  )
  await confirmed(paymentId)
  const { body } = await invoiceOf(payer)
  expect((await post('/facilitator/settle', body)).body).toMatchObject({ success: true })
})

describe('the budget of network fees', () => {
  type Budgets = { wallet?: string; account?: string; keyless?: string }

  /** Less than any settlement costs. */
  const ONE_WEI = '0.000000000000000001'

  /** How many signatures the processes of `budgeted` asked for. */
  let asked = 0

  /** A process of the same service, with these budgets. */
  const budgeted = (context: Context, dailyFees: Budgets): Context => ({
    ...context,
    signer: {
      ...context.signer,
      sign(request) {
        asked += 1
        return context.signer.sign(request)
      },
    },
    config: {
      ...context.config,
      facilitators: {
        ...(fixture.context.config.facilitators ?? { allowed: [], loopback: true }),
        dailyFees: { ...DAILY_FEES, ...dailyFees },
      },
    },
  })

  /** What one settlement reserves now, and what has been spent, in wei. */
  async function readFees() {
    const rows = await fixture.context.db.select().from(settlementFee)
    const spent = rows.reduce((sum, { paid, reserved }) => sum + (paid ?? reserved), 0n)
    return { spent, rows }
  }

  /** The budget of everybody is empty again: what was spent was spent more than a day ago. */
  const aDayLater = () =>
    executeAsOwner(
      { target: fixture.context.config.database, db: fixture.context.db },
      `update service.settlement_fee set created_at = created_at - interval '25 hours'`,
    )

  async function signedByKey() {
    const all = await fixture.parties()
    return { all, header: await payInvoice(all.client, all.requirements) }
  }

  const settled = (context: Context, { all, header }: Awaited<ReturnType<typeof signedByKey>>) =>
    fixture.receive(all, header, { timeout: 20 }, context)

  beforeEach(aDayLater)

  test('counts what the receipts show, to the wei', async () => {
    const before = await spending()
    for (const paid of [await signedByKey(), await signedByKey()])
      expect(await settled(fixture.context, paid)).toMatchObject({ verified: true })
    const { rows } = await readFees()
    const today = rows.filter(({ createdAt }) => Date.now() - createdAt.getTime() < 86_400_000)
    expect(today.map(({ paid }) => paid !== null)).toEqual([true, true])
    expect(today.reduce((sum, { paid }) => sum + (paid ?? 0n), 0n)).toBe(
      before.balance - (await spending()).balance,
    )
    expect(today.every(({ paid, reserved }) => (paid ?? 0n) <= reserved)).toBe(true)
  })

  test.each(['wallet', 'account'] as const)(
    'of one %s is exact over two processes: what is under way counts in full, the refusal says when to come back, and nothing is signed',
    async (budget) => {
      await using second = await openContext([fixture.tokens.network], {
        beside: fixture.opened.context,
      })
      const payments = await Promise.all(Array.from({ length: 6 }, signedByKey))
      using _ = fixture.withoutMining()
      const one = await reservation()
      // Room for two that are under way, and not for a third.
      const limits = { [budget]: formatAmount((one * 5n) / 2n, 18) }
      const { nonce } = await spending()
      asked = 0
      const processes = [
        budgeted(fixture.context, limits),
        budgeted(second.context, limits),
      ] as const
      const answers = payments.map((each, index) =>
        fixture
          .receive(each.all, each.header, { timeout: 5 }, processes[index % 2] ?? processes[0])
          .catch((error: unknown) => error),
      )
      const told = await Promise.all(answers)
      const refusals = told.filter((each) => each instanceof ProblemError)
      expect(refusals.map(({ code, facts }) => [code, facts.details])).toEqual(
        Array.from({ length: 4 }, () => [
          'RATE_LIMIT',
          {
            reason: { code: 'settlement_fee_budget', params: {} },
            budget,
            network: 'eip155:31337',
          },
        ]),
      )
      for (const { facts } of refusals) {
        expect(facts.retryAfter).toBeGreaterThan(86_000)
        expect(facts.retryAfter).toBeLessThanOrEqual(86_400)
      }
      expect((await spending()).nonce).toBe(nonce + 2)
      // A signature counts against the signer's cap of the day: none was asked for in vain.
      expect(asked).toBe(2)
      // Receipts show less than was reserved: there is room again.
      await fixture.evm.mine(3)
      await eventually(
        async () => {
          await pollOnce(fixture.context, fixture.chain, { expiredToo: false })
          return (await readFees()).rows.filter(({ paid }) => paid === null)
        },
        (open) => open.length === 0,
      )
    },
  )

  /** What a settlement reserves at the fees of this moment, and a little more. */
  async function reservation(): Promise<bigint> {
    const { all, header } = await signedByKey()
    const quote = await fixture.chain.contracts?.quote({
      from: fixture.facilitator.address,
      ...callOf(await fixture.authorizationOf(all, header)),
    })
    if (!quote?.ok) throw new Error('no quote')
    return quote.feeAtomic
  }

  test('of an account is one over all wallets that pay for it', async () => {
    const { db } = fixture.context
    for (const paid of [await signedByKey(), await signedByKey()])
      await settled(fixture.context, paid)
    const ids = (await db.select().from(settlementFee)).map(({ paymentId }) => paymentId)
    await executeAsOwner(
      { target: fixture.context.config.database, db },
      'delete from service.settlement_fee',
    )
    await using second = await openContext([fixture.tokens.network], {
      beside: fixture.opened.context,
    })
    const limits = { wallet: 100n, account: 10n, keyless: 0n }
    const { accountId } = fixture.actor
    const spend = { network: 'eip155:31337', accountId, feeAtomic: 6n, limits } as const
    const reserve = async (tx: Database, one: { wallet: string; paymentId: string }) => {
      await lockNonceQueue(tx, { ...spend, sender: one.wallet }, budgetLock(spend))
      await requireBudget(tx, { ...spend, ...one })
      await reserveFee(tx, { ...spend, ...one })
    }
    let other: Promise<unknown> | undefined
    await db.transaction(async (tx) => {
      await reserve(tx, { wallet: 'one', paymentId: ids[0] ?? '' })
      other = second.context.db
        .transaction((beside) => reserve(beside, { wallet: 'two', paymentId: ids[1] ?? '' }))
        .then(
          () => 'reserved',
          (error: unknown) => error,
        )
      // It waits for this transaction, or has ended without waiting.
      await Promise.race([
        other,
        eventually(
          () => db.execute(sql`select from pg_locks where locktype = 'advisory' and not granted`),
          ({ rows }) => rows.length > 0,
        ),
      ])
    })
    expect(await other).toMatchObject({ code: 'RATE_LIMIT' })
  })

  test('of an account is locked while a wallet signs what it pays for', async () => {
    const { context, actor, chain } = fixture
    const name = budgetLock({ network: chain.network.network, accountId: actor.accountId })
    const held: boolean[] = []
    const watched: Context = {
      ...context,
      signer: {
        ...context.signer,
        async sign(request) {
          const { rows } = await context.db.execute(sql`
            select from pg_locks where locktype = 'advisory' and granted
              and (classid::bigint << 32) + objid::bigint = hashtextextended(${name}, 0)`)
          held.push(rows.length > 0)
          return context.signer.sign(request)
        },
      },
    }
    expect(await settled(watched, await signedByKey())).toMatchObject({ verified: true })
    expect(held).toEqual([true])
  })

  test('that is spent is a 429 with Retry-After at the facilitator, for verify and settle', async () => {
    const { config, chains, signer } = budgeted(fixture.context, { account: ONE_WEI })
    await using poor = await startTestApp({
      target: config.database,
      routes,
      parts: { config, chains, signer },
    })
    const { all, header } = await signedByKey()
    for (const path of ['/facilitator/verify', '/facilitator/settle']) {
      const { status, headers, body } = await post(
        path,
        {
          x402Version: 2,
          paymentPayload: parseJson(Buffer.from(header, 'base64').toString()),
          paymentRequirements: all.requirements,
        },
        poor.url,
      )
      expect({ status, body, after: headers.get('retry-after') }).toMatchObject({
        status: 429,
        after: '60',
        body: {
          error: {
            code: 'RATE_LIMIT',
            details: { reason: { code: 'settlement_fee_budget', params: {} }, budget: 'account' },
          },
        },
      })
    }
  })

  test('of callers without a key is another one than that of any account', async () => {
    const context = budgeted(fixture.context, { keyless: ONE_WEI })
    const keyless = { ...fixture.actor, keyless: true, address: '192.0.2.1' }
    const { all, header } = await signedByKey()
    const body = {
      x402Version: 2,
      paymentPayload: parseJson(Buffer.from(header, 'base64').toString()),
      paymentRequirements: { ...all.requirements },
    }
    const input = v.parse(FacilitatorInput, body)
    await expect(settlePayment(context, keyless, input)).rejects.toMatchObject({
      code: 'RATE_LIMIT',
      facts: { details: { budget: 'keyless' } },
    })
    expect(await settlePayment(context, fixture.actor, input)).toMatchObject({ success: true })
    // And the other way round.
    const other = await signedByKey()
    const another = v.parse(FacilitatorInput, {
      x402Version: 2,
      paymentPayload: parseJson(Buffer.from(other.header, 'base64').toString()),
      paymentRequirements: { ...other.all.requirements },
    })
    const spent = budgeted(fixture.context, { account: ONE_WEI })
    expect(await settlePayment(spent, keyless, another)).toMatchObject({ success: true })
  })
})
