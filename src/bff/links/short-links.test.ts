import { encode } from 'uqr'
import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { reasonCodeOf } from '#contract/reasons.ts'
import { deleteUnpaidContacts } from '#bff/db/contacts.ts'
import { linkPayment, paymentContact } from '#bff/db/schema.ts'
import type { RateRule } from '#bff/config/rate-rules.ts'
import type { LinkOption, OpenedShortLink, ShortLinkBody } from '#contract/link-endpoints.ts'
import { amountAtRate, quoteOf } from '#contract/quote.ts'
import { NATIVE_SOL, SOLANA_DEVNET } from '#contract/network.ts'
import { payment } from '#service/db/schema/payment.ts'
import { startEvm, type EvmFixture } from '#testing/local-chains.ts'
import { createPaymentId } from '#contract/payment.ts'
import { executeAsOwner } from '#testing/postgres.ts'
import { insertTestPayment } from '#testing/service-app.ts'
import { OFFLINE_NETWORKS, Fixture } from '#testing/fixture.ts'
import {
  evmWallet,
  solanaWallet,
  type BrowserResponse,
  type TestBrowser,
} from '#testing/test-browser.ts'
import { refreshOldContacts } from './refresh.ts'

const seller = evmWallet()
const sellerOnSolana = solanaWallet()
const MINUTE = 60_000
let evm: EvmFixture
let fixture: Fixture
let shop: TestBrowser
let buyerAddress = ''
let offset = 0

const sourceOf = (rate: string) => ({
  kind: 'fixed' as const,
  rate,
  since: new Date().toISOString(),
  maxAgeSeconds: 86_400,
})
const etherRate = sourceOf('3000')
const rateOf = (asset: string, source: RateRule['sources'][number]): RateRule => ({
  asset,
  currency: 'EUR',
  maxDeviationPercent: '2',
  sources: [source],
})

beforeAll(async () => {
  evm = await startEvm({ slotsInEpoch: 1 })
  fixture = await Fixture.open({
    plan: 'premium',
    networks: [evm.network, ...OFFLINE_NETWORKS.filter(({ network }) => network === SOLANA_DEVNET)],
    bff: {
      sellerWallets: [seller.address, sellerOnSolana.address],
      operatorWallets: [seller.address],
      rates: [rateOf('ETH', etherRate), rateOf('SOL', sourceOf('150'))],
    },
    overrides: { now: () => new Date(Date.now() + offset) },
  })
  shop = fixture.browser()
  await shop.signIn(seller)
  buyerAddress = (await evm.wallet(10n ** 20n)).address
})
beforeEach(() => {
  offset = 0
})
afterAll(async () => {
  await fixture?.[Symbol.asyncDispose]()
  await evm?.[Symbol.asyncDispose]()
})

const EUR = { price: { currency: 'EUR', amount: '12.50' } }

async function create(asked: Record<string, unknown> = EUR): Promise<ShortLinkBody> {
  const answer = await shop.post('/api/links/short', asked)
  if (answer.status !== 200) throw new Error(answer.text)
  return (answer.json as unknown as { link: ShortLinkBody }).link
}
async function open(link: string): Promise<OpenedShortLink> {
  const answer = await fixture.browser().post('/api/link/open', { link })
  if (answer.status !== 200) throw new Error(answer.text)
  return answer.json as unknown as OpenedShortLink
}
const optionOn = ({ options }: OpenedShortLink, network: string): LinkOption => {
  const option = options.find((each) => each.network === network)
  if (!option) throw new Error(`There is no option on ${network}.`)
  return option
}
const pay = (link: string, more: Record<string, unknown>, browser = fixture.browser()) =>
  browser.post(
    '/api/link/pay',
    { link, walletAddress: buyerAddress, ...more },
    { 'Idempotency-Key': crypto.randomUUID() },
  )
const choiceOf = ({ network, asset, quote }: LinkOption) => ({
  option: { network, asset },
  ...(quote && { quote: quote.token }),
})
const reasonOf = (answer: BrowserResponse) => reasonCodeOf(answer.json.error?.details)
const setStatus = async (paymentId: string, status: 'confirmed' | 'expired' | 'failed') => {
  // What the chain has shown is no draft.
  const draft = status !== 'confirmed'
  await fixture.service.context.db
    .update(payment)
    .set({ status, draft })
    .where(eq(payment.id, paymentId))
  fixture.bff.context.upstream.forgetReads()
}

describe('the e-mail address of a payer', () => {
  const email = 'Ana.Q+shop@post.example'
  const paid = async (asked: Record<string, unknown>, more: Record<string, unknown>) => {
    const { link } = await create({ price: { currency: 'ETH', amount: '0.01' }, ...asked })
    return pay(link, { option: { network: evm.network.network, asset: 'ETH' }, ...more })
  }
  const noted = async (paymentId: unknown, browser = shop) => {
    const { json } = await browser.post('/api/notes/read', { paymentIds: [paymentId] })
    return (json as { notes?: unknown }).notes
  }

  test('is kept where the link asks for it, beside the payment and for operators alone', async () => {
    const { json } = await paid({ askEmail: true }, { email })
    expect(await noted(json.paymentId)).toMatchObject([{ paymentId: json.paymentId, email }])
    const stranger = fixture.browser()
    await stranger.signIn(evmWallet())
    expect(await noted(json.paymentId, stranger)).toEqual([])
    const rows = await fixture.service.context.db.select().from(payment)
    expect(JSON.stringify(rows.map(({ metadata }) => metadata))).not.toContain('post.example')
    await shop.post('/api/notes', { paymentIds: [json.paymentId], note: 'x' })
    expect(await noted(json.paymentId)).toMatchObject([{ note: 'x', email }])
  })

  test('may be left out, and is refused where nobody asks or it is none', async () => {
    const without = await paid({ askEmail: true }, {})
    expect(without.status).toBe(200)
    expect(await noted(without.json.paymentId)).toEqual([])
    for (const [asked, typed] of [
      [{}, email],
      [{ askEmail: true }, 'ana'],
      [{ askEmail: true }, 'a b@post.example'],
      [{ askEmail: true }, `${'a'.repeat(65)}@post.example`],
    ] as const)
      expect(await paid(asked, { email: typed })).toMatchObject({
        status: 400,
        json: { error: { details: { email: expect.any(String) } } },
      })
  })

  test('of a payment that never came is erased after a day, any other stays', async () => {
    const [lost, arrived] = [
      (await paid({ askEmail: true }, { email })).json.paymentId,
      (await paid({ askEmail: true }, { email })).json.paymentId,
    ]
    const { db } = fixture.bff.context
    await db.update(linkPayment).set({ status: 'expired' }).where(eq(linkPayment.paymentId, lost))
    await deleteUnpaidContacts(db, new Date(Date.now() + 23 * 60 * MINUTE))
    expect(await noted(lost)).toHaveLength(1)
    await deleteUnpaidContacts(db, new Date(Date.now() + 25 * 60 * MINUTE))
    expect(await noted(lost)).toEqual([])
    expect(await noted(arrived)).toHaveLength(1)
  })

  test('is erased although nobody looked at the link since', async () => {
    const [lost, late] = [
      (await paid({ askEmail: true }, { email })).json.paymentId,
      (await paid({ askEmail: true }, { email })).json.paymentId,
    ]
    const { context } = fixture.bff
    const { db } = fixture.service.context
    await db.update(payment).set({ status: 'expired' }).where(eq(payment.id, lost))
    await db.update(payment).set({ status: 'pending' }).where(eq(payment.id, late))
    const tomorrow = new Date(Date.now() + 25 * 60 * MINUTE)
    await refreshOldContacts({ ...context, now: () => tomorrow })
    await deleteUnpaidContacts(context.db, tomorrow)
    expect(await noted(lost)).toEqual([])
    expect(await noted(late)).toHaveLength(1)
  })
})

test('a payment whose id cannot be read keeps no other payment from being asked about', async () => {
  const { link } = await create({ price: { currency: 'ETH', amount: '0.01' } })
  const choice = { option: { network: evm.network.network, asset: 'ETH' } }
  const [broken, read] = [
    (await pay(link, choice)).json.paymentId,
    (await pay(link, choice)).json.paymentId,
  ]
  const { context } = fixture.bff
  await context.db
    .update(linkPayment)
    .set({ paymentId: `${broken},` })
    .where(eq(linkPayment.paymentId, broken))
  await setStatus(read, 'confirmed')
  const statusOf = async (paymentId: string) =>
    (await context.db.select().from(linkPayment).where(eq(linkPayment.paymentId, paymentId)))[0]
      ?.status
  await shop.get('/api/links')
  expect([await statusOf(read), await statusOf(`${broken},`)]).toEqual(['confirmed', 'created'])
  expect(fixture.log.join('\n')).toContain('the database has payment ids that are none')
  // The same where nobody looks at the link.
  await context.db.update(linkPayment).set({ status: 'created' })
  const contacts = [read, `${broken},`].map((paymentId) => ({
    paymentId,
    email: 'ana@post.example',
    createdAt: new Date(0),
  }))
  await context.db.insert(paymentContact).values(contacts)
  await refreshOldContacts(context)
  expect(await statusOf(read)).toBe('confirmed')
})

describe('a short link', () => {
  test('has 12 random characters, and its code has at most 33 × 33 modules', async () => {
    const links = await Promise.all(Array.from({ length: 20 }, () => create()))
    expect(new Set(links.map(({ link }) => link)).size).toBe(20)
    for (const { link } of links) expect(link).toMatch(/^[1-9A-HJ-NP-Za-km-z]{12}$/)
    const page = `https://checkout.payments.example.com/pay/${links[0]?.link}`
    expect(encode(page, { ecc: 'M', border: 0 }).size).toBeLessThanOrEqual(33)
  })

  test('priced in fiat can be paid on every network and in every currency that has a rate', async () => {
    const { link } = await create({ ...EUR, description: 'Tea', reference: 'INV-1' })
    const opened = await open(link)
    expect(opened).toMatchObject({
      state: 'open',
      terms: { price: { kind: 'fiat', currency: 'EUR', amount: '12.50' }, reference: 'INV-1' },
    })
    expect(opened.options).toMatchObject([
      {
        network: evm.network.network,
        recipient: seller.address,
        amountAtomic: '4166670000000000',
        quote: { rate: '3000', source: 'fixed', round: null },
      },
      { network: SOLANA_DEVNET, recipient: sellerOnSolana.address, amountAtomic: '83333400' },
    ])
    expect((opened.expiresAt ?? 0) - (opened.quotedAt ?? 0)).toBe(15 * MINUTE)
  })

  test('priced in one currency is paid in that currency, without a quote', async () => {
    const { link } = await create({ price: { currency: 'SOL', amount: '0.5' } })
    expect((await open(link)).options).toEqual([
      {
        network: SOLANA_DEVNET,
        recipient: sellerOnSolana.address,
        asset: NATIVE_SOL.address,
        amountAtomic: '500000000',
        quote: null,
      },
    ])
  })

  test('for one network is paid there alone', async () => {
    const only = { network: evm.network.network, recipient: seller.address, asset: 'ETH' }
    const { link } = await create({ price: { currency: 'ETH', amount: '0.01' }, only })
    const { options } = await open(link)
    expect(options.map(({ network }) => network)).toEqual([evm.network.network])
  })

  test.each([
    ['a currency without a rate', { price: { currency: 'CHF', amount: '1' } }, 'price.currency'],
    ['a price of nothing', { price: { currency: 'EUR', amount: '0.00' } }, 'price.amount'],
    [
      'more decimals than the currency has',
      { price: { currency: 'SOL', amount: '0.0000000001' } },
      'price.amount',
    ],
    ['several pieces without a price', { maxPieces: 3 }, 'maxPieces'],
    ['a time that has passed', { ...EUR, expiresAt: 1 }, 'expiresAt'],
    [
      'a wallet that is not the seller’s',
      { ...EUR, only: { network: 'eip155:31337', recipient: evmWallet().address } },
      'only.recipient',
    ],
    ['a number as its price', { price: { currency: 'EUR', amount: 12.5 } }, 'price.amount'],
  ])('is not made with %s', async (_, asked, field) => {
    const answer = await shop.post('/api/links/short', asked)
    expect(answer.status).toBe(400)
    expect(answer.json.error.details).toHaveProperty([field])
  })

  test('is made by operators alone; a code that does not exist is not known', async () => {
    expect((await fixture.browser().post('/api/links/short', EUR)).status).toBe(401)
    const answer = await fixture.browser().post('/api/link/open', { link: '1'.repeat(12) })
    expect(reasonOf(answer)).toBe('link_unknown')
  })

  test('is listed beside signed links, and can be deactivated', async () => {
    const made = await create()
    const listed = (await shop.get('/api/links')).json as unknown as { short: ShortLinkBody[] }
    expect(listed.short.find(({ link }) => link === made.link)).toEqual(made)
    await shop.post('/api/links/withdraw', { id: made.short.id })
    const opened = await open(made.link)
    expect(opened.state).toBe('withdrawn')
    const option = optionOn(opened, evm.network.network)
    expect(reasonOf(await pay(made.link, choiceOf(option)))).toBe('link_withdrawn')
  })
})

describe('a quote', () => {
  test('fixes the amount, and the payment keeps price, rate, source and age', async () => {
    const { link } = await create({ ...EUR, maxPieces: 5 })
    const opened = await open(link)
    const option = optionOn(opened, evm.network.network)
    const buyer = fixture.browser()
    const built = await pay(link, { ...choiceOf(option), pieces: 2 }, buyer)
    const amount = amountAtRate('12.50', '3000', { pieces: 2, decimals: 18 })
    expect(built).toMatchObject({ status: 200, json: { amountAtomic: amount.toString() } })
    const status = await buyer.get(`/api/payment/status/${built.json.paymentId}`)
    const { metadata } = status.json as unknown as { metadata: Record<string, unknown> }
    expect(metadata).toMatchObject({ pieces: 2 })
    expect(quoteOf(metadata)).toMatchObject({
      currency: 'EUR',
      amount: '25',
      rate: '3000',
      source: 'fixed',
      round: null,
      quotedAt: opened.quotedAt,
      expiresAt: opened.expiresAt,
    })
  })

  test('with any character changed, of another link, another currency, or none, is refused', async () => {
    const [one, other] = [await create(), await create()]
    const opened = await open(one.link)
    const eth = optionOn(opened, evm.network.network)
    const sol = optionOn(opened, SOLANA_DEVNET)
    const token = eth.quote?.token ?? ''
    const { option } = choiceOf(eth)
    for (const quote of [
      ...[0, 42, 43, 60, token.length - 3].map(
        (at) => token.slice(0, at) + (token[at] === 'A' ? 'B' : 'A') + token.slice(at + 1),
      ),
      `${token}AAAA`,
      token.slice(0, -4),
      sol.quote?.token,
      '',
    ])
      expect(reasonOf(await pay(one.link, { option, quote })), quote).toBe('link_quote')
    expect(reasonOf(await pay(other.link, { option, quote: token }))).toBe('link_quote')
    expect(reasonOf(await pay(one.link, { option }))).toBe('link_quote')
    expect(reasonOf(await pay(one.link, { quote: token }))).toBe('link_option')
  })

  test('does not let the payer set the amount, or buy more than the link sells', async () => {
    const { link } = await create({ ...EUR, maxPieces: 2 })
    const choice = choiceOf(optionOn(await open(link), evm.network.network))
    expect((await pay(link, { ...choice, amount: 0.001 })).json.error.details).toHaveProperty(
      'amount',
    )
    expect((await pay(link, { ...choice, pieces: 3 })).json.error.details).toHaveProperty('pieces')
    expect((await pay(link, { ...choice, pieces: 0 })).status).toBe(400)
  })

  test('cannot be written into a payment by its payer', async () => {
    const browser = fixture.browser()
    for (const name of ['quote', 'pieces', 'paymentLink']) {
      const answer = await browser.post(
        '/api/transaction/send',
        {
          walletAddress: buyerAddress,
          recipientAddress: seller.address,
          amount: 0.001,
          metadata: { [name]: 'EUR 1000' },
        },
        { 'Idempotency-Key': crypto.randomUUID() },
      )
      expect(answer.json.error.details, name).toHaveProperty([`metadata.${name}`])
    }
  })
})

describe('a link whose payment went back', () => {
  const listed = async (link: string) => {
    fixture.bff.context.upstream.forgetReads()
    const { short } = (await shop.get('/api/links')).json as unknown as { short: ShortLinkBody[] }
    return short.find((each) => each.link === link)
  }
  const paidThrough = async (link: string) => {
    const { json } = await pay(link, choiceOf(optionOn(await open(link), evm.network.network)))
    await setStatus(json.paymentId ?? '', 'confirmed')
    return json.paymentId ?? ''
  }
  /** A refund of a share of a payment, as percent. */
  const refund = async (refundOf: string, percent: bigint, accountId = fixture.accountId) => {
    const { db } = fixture.service.context
    const [row] = await db.select().from(payment).where(eq(payment.id, refundOf))
    const amount = ((row?.amount ?? 0n) * percent) / 100n
    const status = 'confirmed' as const
    await insertTestPayment(db, { id: createPaymentId(), accountId, refundOf, amount, status })
  }

  test('says how much of it, and is not open again', async () => {
    const one = await create({ ...EUR, maxPayments: 1 })
    const other = await create({ ...EUR, maxPayments: 1 })
    const [mine] = [await paidThrough(one.link), await paidThrough(other.link)]
    expect(await listed(one.link)).toMatchObject({ refunded: { full: 0, partial: 0 } })
    await refund(mine, 40n)
    expect(await listed(one.link)).toMatchObject({ refunded: { full: 0, partial: 1 } })
    await refund(mine, 60n)
    expect(await listed(one.link)).toMatchObject({
      state: 'used',
      paid: 1,
      refunded: { full: 1, partial: 0 },
    })
    expect(await listed(other.link)).toMatchObject({ refunded: { full: 0, partial: 0 } })
  })

  test('that came second owes nothing more, and leaves the first one paid', async () => {
    const made = await create({ ...EUR, maxPayments: 1 })
    const choice = choiceOf(optionOn(await open(made.link), evm.network.network))
    const first = await pay(made.link, choice)
    // Another payer is let in when the first one does not sign for two minutes, but both may.
    const { config, db } = fixture.bff.context
    await executeAsOwner(
      { target: config.database, db },
      `update bff.link_payment set created_at = now() - interval '121 seconds' where payment_id = '${first.json.paymentId}'`,
    )
    const second = await pay(made.link, choice)
    for (const { json } of [first, second]) {
      await setStatus(json.paymentId ?? '', 'confirmed')
      await listed(made.link)
    }
    const late = second.json.paymentId ?? ''
    await refund(late, 50n)
    expect(await listed(made.link)).toMatchObject({ surplus: [late] })
    await refund(late, 50n)
    expect(await listed(made.link)).toMatchObject({
      paid: 2,
      surplus: [],
      refunded: { full: 0, partial: 0 },
    })
    await refund(first.json.paymentId ?? '', 100n)
    expect(await listed(made.link)).toMatchObject({ refunded: { full: 1, partial: 0 } })
  })

  test('is said of several payments by their number', async () => {
    const made = await create(EUR)
    const paid = [await paidThrough(made.link), await paidThrough(made.link)]
    await paidThrough(made.link)
    await refund(paid[0] ?? '', 100n)
    await refund(paid[1] ?? '', 10n)
    expect(await listed(made.link)).toMatchObject({ paid: 3, refunded: { full: 1, partial: 1 } })
  })

  test('is not called paid or refunded by a guess while the service is away', async () => {
    const made = await create({ ...EUR, maxPayments: 1 })
    await refund(await paidThrough(made.link), 100n)
    await listed(made.link)
    await fixture.service[Symbol.asyncDispose]()
    expect(await listed(made.link)).toMatchObject({ paid: 1, refunded: null })
    await fixture.startService()
  })

  test('is not called paid by a guess where older refunds than can be read may be of it', async () => {
    const { db } = fixture.service.context
    const { accountId } = fixture
    const [old, newer] = [await create(EUR), await create(EUR)]
    await paidThrough(old.link)
    const first = createPaymentId()
    await insertTestPayment(db, { id: first, accountId, amount: 1n, status: 'confirmed' })
    const [copied] = await db.select().from(payment).where(eq(payment.id, first))
    if (!copied) throw new Error('The payment was not inserted.')
    // Two days after the links, by the clock of the service.
    const createdAt = new Date(Date.now() + 2 * 86_400_000)
    const returnNewer = async (count: number) => {
      const ids = Array.from({ length: count }, () => createPaymentId())
      await db.insert(payment).values(ids.map((id) => ({ ...copied, id, createdAt })))
      const refunds = ids.map((refundOf) => ({ ...copied, id: createPaymentId(), refundOf }))
      await db.insert(payment).values(refunds)
      const target = fixture.service.context.config.database
      await executeAsOwner({ target, db }, 'analyze service.payment')
      return ids[0] ?? ''
    }
    await returnNewer(975)
    const { config, db: own } = fixture.bff.context
    const known = await returnNewer(975)
    await executeAsOwner(
      { target: config.database, db: own },
      `update bff.link_payment set payment_id = '${known}' where payment_id = '${await paidThrough(newer.link)}'`,
    )
    expect(await listed(old.link)).toMatchObject({ paid: 1, refunded: { full: 0, partial: 0 } })
    await returnNewer(50)
    expect(await listed(old.link)).toMatchObject({ paid: 1, refunded: null })
    // All that was paid through this one is known.
    expect(await listed(newer.link)).toMatchObject({ refunded: { full: 1, partial: 0 } })
  })
})

describe('a short link for one payment', () => {
  test('gives one of ten buyers at once a transaction', async () => {
    const { link } = await create({ ...EUR, maxPayments: 1 })
    const choice = choiceOf(optionOn(await open(link), evm.network.network))
    const answers = await Promise.all(Array.from({ length: 10 }, () => pay(link, choice)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(answers.filter((answer) => reasonOf(answer) === 'link_busy')).toHaveLength(9)
  })

  test('paid by two buyers tells the second one, and lists their payment as surplus', async () => {
    const made = await create({ ...EUR, maxPayments: 1 })
    const choice = choiceOf(optionOn(await open(made.link), evm.network.network))
    const [slow, quick] = [fixture.browser(), fixture.browser()]
    const first = await pay(made.link, choice, slow)
    // The first one signs late: its place is free again, and its transaction can still land.
    offset = 121_000
    const second = await pay(made.link, choice, quick)
    expect([first.status, second.status]).toEqual([200, 200])
    const surplus = async (browser: TestBrowser, paymentId: string | undefined) =>
      (await browser.post('/api/link/surplus', { link: made.link, paymentId })).json

    await setStatus(second.json.paymentId ?? '', 'confirmed')
    expect(await surplus(quick, second.json.paymentId)).toEqual({ surplus: false })
    await setStatus(first.json.paymentId ?? '', 'confirmed')
    expect(await surplus(slow, first.json.paymentId)).toEqual({ surplus: true })
    expect(await surplus(quick, second.json.paymentId)).toEqual({ surplus: false })
    const listed = (await shop.get('/api/links')).json as unknown as { short: ShortLinkBody[] }
    expect(listed.short.find(({ link }) => link === made.link)).toMatchObject({
      state: 'used',
      paid: 2,
      surplus: [first.json.paymentId],
    })
  })

  test('is not given to a second buyer while the page of a wallet code keeps its place, for 15 minutes', async () => {
    // After the test before, by the clock of the address's budget.
    const start = 122_000
    offset = start
    const { link } = await create({ ...EUR, maxPayments: 1 })
    const choice = choiceOf(optionOn(await open(link), evm.network.network))
    const [holder, stranger] = [fixture.browser(), fixture.browser()]
    const { paymentId } = (await pay(link, choice, holder)).json
    const lease = async (browser: TestBrowser, id = paymentId) =>
      (await browser.post('/api/link/lease', { link, paymentId: id })).json
    // What was built has expired meanwhile: a wallet that reads the code makes its own.
    offset = start + 30_000
    await setStatus(paymentId ?? '', 'expired')
    expect(await lease(holder)).toEqual({ leased: true })
    offset = start + 125_000
    expect(reasonOf(await pay(link, choice, stranger))).toBe('link_busy')
    // A page that slept for two minutes has lost it to the next buyer.
    offset = start + 151_000
    const second = await pay(link, choice, stranger)
    expect(second.status).toBe(200)
    expect(await lease(holder)).toEqual({ leased: false })
    expect(await lease(stranger, second.json.paymentId)).toEqual({ leased: true })
    expect(await lease(holder, second.json.paymentId)).toEqual({ leased: false })
    const { config, db } = fixture.bff.context
    await executeAsOwner(
      { target: config.database, db },
      `update bff.link_payment set created_at = created_at - interval '15 minutes' where payment_id = '${second.json.paymentId}'`,
    )
    expect(await lease(stranger, second.json.paymentId)).toEqual({ leased: false })
  })
})

// Last: the budget of an address is kept by the clock that these set forward.
test('a quote is refused after 15 minutes, and not a moment before', async () => {
  offset = 5 * MINUTE
  const { link } = await create()
  const opened = await open(link)
  const choice = choiceOf(optionOn(opened, evm.network.network))
  offset = 20 * MINUTE - 5000
  expect((await pay(link, choice)).status).toBe(200)
  offset = 20 * MINUTE + 1000
  expect(reasonOf(await pay(link, choice))).toBe('quote_expired')
})

test('whatever quotes a payer holds, the rate has fallen by at most two percent since each', async () => {
  offset = 21 * MINUTE
  const { link } = await create()
  const choice = choiceOf(optionOn(await open(link), evm.network.network))
  for (const [rate, reason] of [
    ['2940', undefined],
    ['2939.99', 'quote_outrun'],
    ['4000', undefined],
  ] as const) {
    etherRate.rate = rate
    // The rate that was read is known for 15 seconds.
    offset += 16_000
    expect(reasonOf(await pay(link, choice)), rate).toBe(reason)
  }
  // Where no rate is current, the quote stands.
  etherRate.since = new Date(0).toISOString()
  offset += 16_000
  expect((await pay(link, choice)).status).toBe(200)
})

test('a quote is not given while its rate is stale', async () => {
  const { link } = await create()
  offset = 25 * 60 * MINUTE
  const answer = await fixture.browser().post('/api/link/open', { link })
  expect(reasonOf(answer)).toBe('rate_stale')
})

test('a short link may be opened 120 times a minute from one address', async () => {
  const browser = fixture.browser()
  const answers = await Promise.all(
    Array.from({ length: 140 }, () => browser.post('/api/link/open', { link: '2'.repeat(12) })),
  )
  expect(answers.some(({ status }) => status === 429)).toBe(true)
})
