import { eq } from 'drizzle-orm'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { NATIVE_ETH } from '#contract/network.ts'
import { createPaymentId } from '#contract/payment.ts'
import { ProblemError } from '#contract/problem.ts'
import { payment } from '#service/db/schema/payment.ts'
import { evmWallet } from '#testing/test-browser.ts'
import { findIntent, takeIntent, type HostedRow } from '../db/hosted.ts'
import { hostedIntent } from '../db/schema.ts'
import { ETH, HostedFixture, hostedJson, reasonOf } from '#testing/hosted-fixture.ts'

const stranger = evmWallet()
let hosted: HostedFixture

beforeAll(async () => {
  hosted = await HostedFixture.open()
})
beforeEach(() => hosted.openTill())
afterAll(() => hosted?.[Symbol.asyncDispose]())

test('a payment from a managed wallet is made once its operator signed exactly it, and the same request again is the same payment', async () => {
  const intent = await hosted.prepared({ description: 'Rent', reference: 'R-1' })
  const signature = await hosted.sign(intent)
  const sent = await hosted.send(intent.nonce, signature)
  expect(sent).toMatchObject({ status: 200, json: { state: 'sent' } })
  const again = await hosted.send(intent.nonce, signature)
  expect(hostedJson(again)).toEqual(hostedJson(sent))
  expect(await hosted.paidOut()).toBe(1)
  const status = await hosted.browser.get(`/api/payment/status/${sent.json.paymentId}`)
  expect(status.json).toMatchObject({
    mode: 'hosted',
    amountAtomic: (ETH / 2n).toString(),
    recipient: hosted.payee,
    metadata: { description: 'Rent', referenceId: 'R-1' },
  })
  expect(await hosted.spent()).toBe((ETH / 2n).toString())
  const log = await hosted.browser.post('/api/audit-log/read', {})
  expect(log.text).toContain(`"subject":"${sent.json.paymentId}"`)
})

test('the priority fee of a payment from a managed wallet is the one that was signed, within its bounds', async () => {
  for (const [priorityFee, problem] of [
    [0.000009, 'Expected at least 0.00001, received 0.000009.'],
    [0.011, 'Expected at most 0.01, received 0.011.'],
    [0, 'Expected at least 0.00001, received 0.'],
  ] as const)
    expect(await hosted.prepare({ priorityFee })).toMatchObject({
      status: 400,
      json: { error: { details: { priorityFee: problem } } },
    })
  const intent = await hosted.prepared({ priorityFee: 0.0005 })
  const without = await hosted.sign({ ...intent, priorityFee: '' })
  expect(reasonOf(await hosted.send(intent.nonce, without))).toBe('hosted_signature')
  const sent = await hosted.send(intent.nonce, await hosted.sign(intent))
  expect(sent.status, sent.text).toBe(200)
  const { db } = hosted.fixture.service.context
  const rows = await db.select().from(payment).where(eq(payment.id, sent.json.paymentId))
  expect(rows[0]?.priorityFee).toBe(ETH / 2000n)
})

test('a payment from a managed wallet is one payment, however often and at once it is asked for', async () => {
  const intent = await hosted.prepared()
  const signature = await hosted.sign(intent)
  const answers = await Promise.all(
    Array.from({ length: 8 }, () => hosted.send(intent.nonce, signature)),
  )
  expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(200))
  expect(await hosted.paidOut()).toBe(1)
})

test('a payment that takes more than half of what is left of the day is told as sent, in every tab that asked for it', async () => {
  hosted.allow({ maxPerDay: ETH })
  const intent = await hosted.prepared({ amount: 0.9 })
  const signature = await hosted.sign(intent)
  const answers = await Promise.all(
    Array.from({ length: 8 }, () => hosted.send(intent.nonce, signature)),
  )
  expect(answers.map(reasonOf)).toEqual(Array(8).fill(undefined))
  expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(200))
  expect(await hosted.paidOut()).toBe(1)
})

test('an intent that another request took meanwhile is told as taken, not as too late; one that is refused is refused for all', async () => {
  const { db } = hosted.fixture.bff.context
  const read = async (nonce: string): Promise<HostedRow> => {
    const row = await findIntent(db, nonce)
    if (!row) throw new Error('no intent')
    return row
  }
  const intent = await hosted.prepared()
  const before = await read(intent.nonce)
  const signature = await hosted.sign(intent)
  await hosted.send(intent.nonce, signature)
  const by = { signatureHash: 'x', rule: { asset: NATIVE_ETH, maxPerDay: 3n * ETH } }
  const late = () => before.expiresAt
  expect(await takeIntent(db, before, { ...by, now: late })).toEqual({ kind: 'gone' })

  const other = await hosted.prepared()
  const open = await read(other.nonce)
  // It waited for the wallet's lock while its time ran out.
  const over = () => open.expiresAt
  expect(await takeIntent(db, open, { ...by, now: over })).toEqual({ kind: 'expired' })
  const now = () => open.createdAt
  expect(await takeIntent(db, open, { ...by, now })).toEqual({ kind: 'gone' })
  expect(reasonOf(await hosted.send(other.nonce, await hosted.sign(other)))).toBe('hosted_not_sent')

  const large = await hosted.prepared({ amount: 1 })
  const row = await read(large.nonce)
  expect(
    await takeIntent(db, row, {
      ...by,
      now,
      rule: { ...by.rule, maxPerDay: ETH },
    }),
  ).toMatchObject({
    kind: 'over_day',
  })
  expect(await takeIntent(db, row, { ...by, now })).toEqual({ kind: 'gone' })
  expect(await hosted.paidOut()).toBe(1)
})

test('a payment that waits for the limit of requests is not taken: the same request pays it later', async () => {
  const intent = await hosted.prepared()
  const signature = await hosted.sign(intent)
  const { context } = hosted.fixture.bff
  const sessionId = (await findIntent(context.db, intent.nonce))?.sessionId
  const exhaust = () => {
    for (;;)
      context.budgets.spend({ sessionId, address: 'elsewhere', standing: 'member' }, 'action')
  }
  expect(exhaust).toThrow(ProblemError)
  const waiting = await hosted.send(intent.nonce, signature)
  expect([waiting.status, await hosted.spent()]).toEqual([429, '0'])
  expect((await findIntent(context.db, intent.nonce))?.state).toBe('open')
  hosted.pass(61_000)
  expect(hostedJson(await hosted.send(intent.nonce, signature)).state).toBe('sent')
})

test.each(['\0', 'x', 'a'.repeat(10_000)])(
  'a payment from a managed wallet is named by its nonce: %j is refused with a sentence',
  async (nonce) => {
    expect(await hosted.send(nonce, '0x')).toMatchObject({
      status: 400,
      json: { error: { code: 'INVALID_PARAMETERS', details: { nonce: expect.any(String) } } },
    })
  },
)

test('a payment from a managed wallet is off unless it is configured', async () => {
  const intent = await hosted.prepared()
  hosted.fixture.bff.context.config.hosted = []
  expect(hostedJson(await hosted.browser.get('/api/hosted')).wallets).toEqual([])
  expect(reasonOf(await hosted.prepare())).toBe('hosted_off')
  expect(reasonOf(await hosted.send(intent.nonce, await hosted.sign(intent)))).toBe('hosted_off')
})

test.each([
  ['nobody', undefined, 401],
  ['a stranger', stranger, 403],
] as const)('a payment from a managed wallet is not for %s', async (_, wallet, status) => {
  const intent = await hosted.prepared()
  const browser = hosted.fixture.browser()
  if (wallet) await browser.signIn(wallet)
  expect((await browser.get('/api/hosted')).status).toBe(status)
  expect((await hosted.prepare({}, browser)).status).toBe(status)
  expect((await hosted.send(intent.nonce, await hosted.sign(intent), browser)).status).toBe(status)
  expect(await hosted.paidOut()).toBe(0)
})

test('a payment from a managed wallet is not made with the session alone: without a signature, or with one of another kind or of another wallet', async () => {
  const intent = await hosted.prepared()
  const other = privateKeyToAccount(generatePrivateKey())
  const signatures = [
    '',
    '0x',
    await hosted.account.signMessage({ message: 'Sign in' }),
    await hosted.sign(intent, other),
    (await hosted.sign(intent)).replace(/.$/, 'x'),
  ]
  for (const signature of signatures)
    expect(reasonOf(await hosted.send(intent.nonce, signature)), signature).toBe('hosted_signature')
  expect(await hosted.paidOut()).toBe(0)
})

test('a payment from a managed wallet is not made by a signature over another payment', async () => {
  const [one, other] = [
    await hosted.prepared({ amount: 0.1 }),
    await hosted.prepared({ amount: 0.9 }),
  ]
  expect(reasonOf(await hosted.send(other.nonce, await hosted.sign(one)))).toBe('hosted_signature')
  expect(
    reasonOf(
      await hosted.send(one.nonce, await hosted.sign({ ...one, to: hosted.operator.address })),
    ),
  ).toBe('hosted_signature')
  expect(await hosted.paidOut()).toBe(0)
})

test('a payment from a managed wallet is not made again by another signature over it', async () => {
  const intent = await hosted.prepared()
  const signature = await hosted.sign(intent)
  await hosted.send(intent.nonce, signature)
  // The same two numbers with the other spelling of the last byte.
  const twin = signature.slice(0, -2) + (signature.endsWith('1b') ? '00' : '01')
  expect(reasonOf(await hosted.send(intent.nonce, twin))).toBe('hosted_used')
  expect(await hosted.paidOut()).toBe(1)
})

test('a payment from a managed wallet is not made when its signer is no longer an operator, even if another wallet of the session is', async () => {
  const intent = await hosted.prepared()
  const { config } = hosted.fixture.bff.context
  const before = config.operatorWallets
  await hosted.browser.signIn(stranger)
  config.operatorWallets = [stranger.address]
  const answer = await hosted.send(intent.nonce, await hosted.sign(intent))
  config.operatorWallets = before
  expect(reasonOf(answer)).toBe('hosted_signer')
  expect(await hosted.paidOut()).toBe(0)
})

test('a payment from a managed wallet is of one session: another one of the same operator cannot use what was prepared there', async () => {
  const intent = await hosted.prepared()
  const thief = hosted.fixture.browser()
  await thief.signIn(hosted.operator)
  expect(reasonOf(await hosted.send(intent.nonce, await hosted.sign(intent), thief))).toBe(
    'hosted_intent',
  )
})

test('a payment from a managed wallet whose answer got lost is told to a later session of its signer that sends the same signature, and to no other', async () => {
  const { config } = hosted.fixture.bff.context
  const before = config.operatorWallets
  const intent = await hosted.prepared()
  const signature = await hosted.sign(intent)
  const lost = await hosted.send(intent.nonce, signature)
  const [later, other] = [hosted.fixture.browser(), hosted.fixture.browser()]
  await later.signIn(hosted.operator)
  config.operatorWallets = [...before, stranger.address]
  await other.signIn(stranger)
  const elsewhere = await hosted.send(intent.nonce, signature, other)
  config.operatorWallets = before
  expect(reasonOf(elsewhere)).toBe('hosted_intent')
  const twin = await hosted.sign({ ...intent, amountAtomic: '1' })
  expect(reasonOf(await hosted.send(intent.nonce, twin, later))).toBe('hosted_intent')

  expect(hostedJson(await hosted.send(intent.nonce, signature, later))).toEqual(hostedJson(lost))
  expect(await hosted.paidOut()).toBe(1)
})

test('a payment from a managed wallet is not made after its five minutes', async () => {
  const intent = await hosted.prepared()
  const signature = await hosted.sign(intent)
  const expiresAt = hosted.fixture.bff.context.now
  Object.assign(hosted.fixture.bff.context, { now: () => new Date(intent.expiresAt * 1000) })
  const answer = await hosted.send(intent.nonce, signature)
  Object.assign(hosted.fixture.bff.context, { now: expiresAt })
  expect(reasonOf(answer)).toBe('hosted_expired')
  expect(await hosted.paidOut()).toBe(0)
})

test('a payment from a managed wallet is not above the cap of one payment, when it is prepared and when it is signed', async () => {
  expect((await hosted.prepare({ amount: 1 })).status).toBe(200)
  expect(reasonOf(await hosted.prepare({ amount: 1.1 }))).toBe('hosted_over_payment')
  const intent = await hosted.prepared({ amount: 0.5 })
  hosted.allow({ maxPerPayment: ETH / 4n })
  expect(reasonOf(await hosted.send(intent.nonce, await hosted.sign(intent)))).toBe(
    'hosted_over_payment',
  )
})

test('a payment from a managed wallet is not below what the service takes: it is refused before it is signed, with the limit', async () => {
  const refused = await hosted.prepare({ amount: 0.0009 })
  expect([refused.status, refused.json.error]).toMatchObject([
    400,
    {
      code: 'INVALID_PARAMETERS',
      details: {
        amount: expect.any(String),
        reason: {
          code: 'amount_below_minimum',
          params: { minimum: { amountAtomic: (ETH / 1000n).toString(), symbol: 'ETH' } },
        },
      },
    },
  ])
})

test('the priority fee that an operator names counts for the cap of a day', async () => {
  hosted.allow({ maxPerDay: (3n * ETH) / 100n })
  const spend = { amount: 0.005, priorityFee: 0.009 }
  const [first, second] = [await hosted.prepared(spend), await hosted.prepared(spend)]
  const third = await hosted.prepared(spend)
  for (const intent of [first, second])
    expect((await hosted.send(intent.nonce, await hosted.sign(intent))).status).toBe(200)
  expect(await hosted.spent()).toBe(((28n * ETH) / 1000n).toString())
  expect(reasonOf(await hosted.send(third.nonce, await hosted.sign(third)))).toBe('hosted_over_day')
  expect(reasonOf(await hosted.prepare({ amount: 0.0015, priorityFee: 0.001 }))).toBe(
    'hosted_over_day',
  )
  expect((await hosted.prepare({ amount: 0.0015 })).status).toBe(200)
})

test('a payment from a managed wallet is not above the cap of a day: of five that were prepared for what three may take, three are made', async () => {
  const intents = []
  for (let index = 0; index < 5; index++) intents.push(await hosted.prepared({ amount: 1 }))
  const answers = await Promise.all(
    intents.map(async (intent) => hosted.send(intent.nonce, await hosted.sign(intent))),
  )
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(3)
  expect(answers.map(reasonOf).filter((reason) => reason === 'hosted_over_day')).toHaveLength(2)
  expect(reasonOf(await hosted.prepare({ amount: 0.001 }))).toBe('hosted_over_day')
  expect(await hosted.paidOut()).toBe(3)
})

test.each([
  ['from a wallet that is not allowed', { from: stranger.address }, 'hosted_wallet'],
  ['in an asset that is not allowed', { asset: stranger.address }, 'hosted_wallet'],
  ['signed by a wallet that is not the session’s', { signer: stranger.address }, 'hosted_signer'],
])('a payment from a managed wallet is not prepared %s', async (_, more, reason) => {
  expect(reasonOf(await hosted.prepare(more))).toBe(reason)
})

test('a payment from a managed wallet that the service refuses leaves the cap as it was, and cannot be asked for again', async () => {
  await hosted.evm.client.setBalance({ address: hosted.managed as `0x${string}`, value: 0n })
  const intent = await hosted.prepared()
  const signature = await hosted.sign(intent)
  expect((await hosted.send(intent.nonce, signature)).json.error).toMatchObject({
    code: 'INSUFFICIENT_BALANCE',
    details: { reason: { code: 'amount_and_fee', params: { available: { amountAtomic: '0' } } } },
  })
  expect(reasonOf(await hosted.send(intent.nonce, signature))).toBe('hosted_not_sent')
  expect(await hosted.spent()).toBe('0')
})

test('a payment that the signer refuses is told with its limit, stays unpaid on the chain and in the ledger, and leaves the cap as it was', async () => {
  hosted.fixture.signer.setPolicy({ rules: [{ wallet: '*', maxPerPayment: '0.4' }] })
  try {
    const intent = await hosted.prepared()
    const refused = await hosted.send(intent.nonce, await hosted.sign(intent))
    expect([refused.status, refused.json.error]).toMatchObject([
      400,
      {
        code: 'SIGNING_REFUSED',
        details: { reason: { code: 'over_payment', params: {} }, limit: '0.4', asked: '0.5' },
      },
    ])
    expect([await hosted.spent(), await hosted.paidOut()]).toEqual(['0', 0])
  } finally {
    hosted.fixture.signer.setPolicy({ rules: [{ wallet: '*' }] })
  }
})

/** A customer's payment to the managed wallet, as the ledger has it. */
async function received(facts: Partial<typeof payment.$inferInsert> = {}): Promise<string> {
  const { db } = hosted.fixture.service.context
  const [asset] = hosted.evm.network.assets
  if (!asset) throw new Error('no asset')
  const id = createPaymentId()
  await db.insert(payment).values({
    id,
    accountId: hosted.fixture.accountId,
    mode: 'local',
    status: 'finalized',
    direction: 'received',
    network: hosted.evm.network.network,
    asset: asset.address,
    symbol: asset.symbol,
    decimals: asset.decimals,
    amount: ETH / 2n,
    sender: hosted.payee,
    recipient: hosted.managed,
    metadata: JSON.stringify({ referenceId: 'INV-7' }),
    ...facts,
  })
  return id
}

test('a refund from a managed wallet is the payment that its operator signed: linked to the original, with its reference and the reason', async () => {
  const refundOf = await received()
  const intent = await hosted.prepared({ refundOf, amount: 0.2, description: 'One cup broke.' })
  // A signature that leaves the original out is a payment to anybody.
  const without = await hosted.sign({ ...intent, refundOf: '' })
  expect(reasonOf(await hosted.send(intent.nonce, without))).toBe('hosted_signature')
  const sent = await hosted.send(intent.nonce, await hosted.sign(intent))
  expect(sent.status, sent.text).toBe(200)
  const refund = await hosted.browser.get(`/api/payment/status/${sent.json.paymentId}`)
  expect(refund.json).toMatchObject({
    refundOf,
    refundReason: 'One cup broke.',
    sender: hosted.managed,
    recipient: hosted.payee,
    amountAtomic: (ETH / 5n).toString(),
    metadata: { referenceId: 'INV-7' },
  })
  const original = await hosted.browser.get(`/api/payment/status/${refundOf}`)
  expect(original.json).toMatchObject({ refund: { pendingAtomic: (ETH / 5n).toString() } })
})

test('refunds of one payment from a managed wallet never exceed it, however many are signed at once', async () => {
  hosted.allow({ maxPerDay: 100n * ETH })
  const refundOf = await received()
  const intents = []
  for (let index = 0; index < 10; index++)
    intents.push(await hosted.prepared({ refundOf, amount: 0.5 }))
  const answers = await Promise.all(
    intents.map(async (intent) => hosted.send(intent.nonce, await hosted.sign(intent))),
  )
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
  expect(await hosted.paidOut()).toBe(1)
  expect((await hosted.prepare({ refundOf, amount: 0.5 })).json.error.details).toEqual({
    amount: 'Expected at most 0 ETH, what is left of the payment to refund, received 0.5.',
  })
  // What was refused took nothing of the wallet's day.
  expect(await hosted.spent()).toBe((ETH / 2n).toString())
})

test.each([
  ['to another wallet than the payer’s', {}, { to: stranger.address }, 'to'],
  ['of a payment that has not arrived', { status: 'pending' }, {}, 'refundOf'],
  ['of a payment to another wallet', { recipient: stranger.address }, {}, 'refundOf'],
  ['of another asset', { asset: stranger.address }, {}, 'asset'],
  ['of another network', { network: 'eip155:1' }, {}, 'network'],
  ['with a reference', {}, { reference: 'x' }, 'reference'],
  ['for a resource', {}, { resource: 'https://a.example' }, 'resource'],
] as const)('a refund from a managed wallet is not prepared %s', async (_, facts, more, field) => {
  const refundOf = await received(facts)
  const answer = await hosted.prepare({ refundOf, ...more })
  expect([answer.status, Object.keys(answer.json.error.details ?? {})]).toEqual([400, [field]])
})

test('a refund from a managed wallet may be less than a payment may be: all that is left goes back', async () => {
  const refundOf = await received({ amount: ETH / 2000n })
  const intent = await hosted.prepared({ refundOf, amount: 0.0005 })
  const sent = await hosted.send(intent.nonce, await hosted.sign(intent))
  expect(sent.status, sent.text).toBe(200)
  expect((await hosted.prepare({ amount: 0.0005 })).status).toBe(400)
})

test('a refund from a managed wallet whose answer got lost is found again after its time', async () => {
  const refundOf = await received()
  const intent = await hosted.prepared({ refundOf })
  const signature = await hosted.sign(intent)
  const sent = await hosted.send(intent.nonce, signature)
  await hosted.fixture.bff.context.db
    .update(hostedIntent)
    .set({ state: 'sending', paymentId: null })
    .where(eq(hostedIntent.id, intent.nonce))
  hosted.pass(6 * 60_000)
  expect(hostedJson(await hosted.send(intent.nonce, signature))).toEqual(hostedJson(sent))
  expect(await hosted.paidOut()).toBe(1)
})
