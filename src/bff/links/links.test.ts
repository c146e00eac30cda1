import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { reasonCodeOf } from '#contract/reasons.ts'
import type { LinkBody } from '#contract/link-endpoints.ts'
import { readLink } from '#contract/payment-link.ts'
import { payment } from '#service/db/schema/payment.ts'
import { startEvm, type EvmFixture } from '#testing/local-chains.ts'
import { Fixture } from '#testing/fixture.ts'
import { executeAsOwner } from '#testing/postgres.ts'
import { evmWallet, type BrowserResponse, type TestBrowser } from '#testing/test-browser.ts'
import { linkPayment } from '../db/schema.ts'
import { rebuildLinkPayments, refreshAbandoned } from './refresh.ts'

const seller = evmWallet()
let evm: EvmFixture
let fixture: Fixture
let shop: TestBrowser
let buyerAddress = ''
let offset = 0
/** Where set, the proxy's clock stands still. */
let stopped: number | undefined

beforeAll(async () => {
  evm = await startEvm({ slotsInEpoch: 1 })
  fixture = await Fixture.open({
    networks: [evm.network],
    bff: {
      sellerWallets: [seller.address],
      operatorWallets: [seller.address],
      trustedProxyHops: 1,
    },
    overrides: { now: () => new Date((stopped ?? Date.now()) + offset) },
  })
  shop = fixture.browser()
  await shop.signIn(seller)
  buyerAddress = (await evm.wallet(10n ** 20n)).address
})
beforeEach(() => {
  offset = 0
  stopped = undefined
})
afterAll(async () => {
  await fixture?.[Symbol.asyncDispose]()
  await evm?.[Symbol.asyncDispose]()
})

const linkOf = (answer: BrowserResponse) => (answer.json as unknown as { link: LinkBody }).link
const linksOf = (answer: BrowserResponse) => (answer.json as unknown as { links: LinkBody[] }).links

async function create(wish: Record<string, unknown> = {}): Promise<LinkBody> {
  const answer = await shop.post('/api/links', {
    network: evm.network.network,
    recipient: seller.address,
    amount: 0.01,
    ...wish,
  })
  if (answer.status !== 200) throw new Error(answer.text)
  return linkOf(answer)
}

/** What the proxy never does to its tables. */
const asOwner = (statement: string) => {
  const { config, db } = fixture.bff.context
  return executeAsOwner({ target: config.database, db }, statement)
}

const from = (address: string) => ({ 'X-Forwarded-For': address })
const read = (link: string, headers = {}, browser = fixture.browser()) =>
  browser.post('/api/link/read', { link }, headers)
const pay = (
  link: string,
  more: Record<string, unknown> = {},
  browser = fixture.browser(),
  headers = {},
) =>
  browser.post(
    '/api/link/pay',
    { link, walletAddress: buyerAddress, ...more },
    { 'Idempotency-Key': crypto.randomUUID(), ...headers },
  )

describe('a link', () => {
  test('shows its seller’s terms to anyone who has it, and is listed with its state', async () => {
    const wish = {
      description: 'Tea for two',
      reference: 'INV-7',
      resource: 'https://shop.example/tea',
      returnUrl: 'https://shop.example/thanks?p={PAYMENT_ID}',
    }
    const made = await create(wish)
    const answer = await read(made.link)
    expect(answer).toMatchObject({
      status: 200,
      json: {
        state: 'open',
        terms: { ...wish, recipient: seller.address, amountAtomic: '10000000000000000' },
      },
    })
    expect(readLink(made.link)?.terms).toEqual(made.terms)
    expect(linksOf(await shop.get('/api/links'))[0]).toEqual(made)
  })

  test.each([
    ['someone without a session', 401],
    ['someone who is not the operator', 403],
  ])('is not made, listed or withdrawn by %s', async (who, status) => {
    const browser = fixture.browser()
    if (status === 403) await browser.signIn(evmWallet())
    const made = await create()
    const wish = { network: evm.network.network, recipient: seller.address }
    expect((await browser.post('/api/links', wish)).status, who).toBe(status)
    expect((await browser.get('/api/links')).status).toBe(status)
    expect((await browser.post('/api/links/withdraw', { id: made.terms.id })).status).toBe(status)
  })

  test.each([
    ['a recipient that is not the seller', { recipient: evmWallet().address }, 'recipient'],
    ['a network that is not configured', { network: 'eip155:1' }, 'network'],
    ['an asset that is not configured', { asset: 'DOGE' }, 'asset'],
    ['a time that has passed', { expiresAt: Date.now() - 1000 }, 'expiresAt'],
    ['a return address that runs a script', { returnUrl: 'javascript:alert(1)' }, 'returnUrl'],
    [
      'a return address that hides its host',
      { returnUrl: 'https://shop.example@evil.example/' },
      'returnUrl',
    ],
    [
      'a return address whose host is filled in',
      { returnUrl: 'https://{PAYMENT_ID}.example/' },
      'returnUrl',
    ],
    ['an amount of nothing', { amount: 0 }, 'amount'],
  ])('is not made with %s', async (_, wish, field) => {
    const answer = await shop.post('/api/links', {
      network: evm.network.network,
      recipient: seller.address,
      amount: 0.01,
      ...wish,
    })
    expect(answer.status).toBe(400)
    expect(answer.json.error.details).toHaveProperty(field)
  })

  test('with any one character changed, added or left out is refused, by reading and by paying', async () => {
    const { link } = await create({ description: 'Tea' })
    const changed = Array.from(
      link,
      (char, at) => link.slice(0, at) + (char === 'A' ? 'B' : 'A') + link.slice(at + 1),
    )
    // The last character of the signature has bits that base64 ignores.
    const twins = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'].map(
      (char) => link.slice(0, 42) + char + link.slice(43),
    )
    const texts = [...changed, ...twins.filter((twin) => twin !== link)]
    for (const [index, text] of [
      ...texts,
      `${link}A`,
      link.slice(0, -1),
      link.slice(1),
    ].entries()) {
      const answer = await read(text, from(`10.1.${index >> 8}.${index & 255}`))
      expect(answer.status, text).toBe(400)
      expect(answer.json.error.details).toMatchObject({ reason: { code: 'link_changed' } })
    }
    expect((await pay(changed.at(-3) ?? '')).json.error.details).toMatchObject({
      reason: { code: 'link_changed' },
    })
  })

  test('that is genuine but has no row is not known', async () => {
    const { link, terms } = await create()
    await asOwner(`delete from bff.payment_link where id = '${terms.id}'`)
    expect((await read(link)).json.error.details).toMatchObject({
      reason: { code: 'link_unknown' },
    })
  })

  test('outlives the key that signed it, and its successors have another', async () => {
    const before = await create()
    await asOwner(`update bff.link_key set created_at = now() - interval '91 days'`)
    const after = await create()
    expect(readLink(after.link)?.keyId).not.toBe(readLink(before.link)?.keyId)
    expect((await read(before.link)).status).toBe(200)
    expect((await read(after.link)).status).toBe(200)
  })

  test('that pays a wallet its seller gave up is refused', async () => {
    const { link } = await create()
    const { sellerWallets } = fixture.bff.context.config
    const kept = sellerWallets.splice(0, 1, evmWallet().address)
    const answer = await read(link)
    sellerWallets.splice(0, 1, ...kept)
    expect(answer.json.error.details).toMatchObject({ reason: { code: 'link_wallet' } })
  })
})

const setStatus = async (id: string, status: 'pending' | 'expired' | 'finalized') => {
  await fixture.service.context.db.update(payment).set({ status }).where(eq(payment.id, id))
  fixture.bff.context.upstream.forgetReads()
}

describe('paying a link', () => {
  test('builds exactly what the link says, and the payment names it', async () => {
    const { link, terms } = await create({
      description: 'Tea',
      reference: 'INV-8',
      resource: 'https://shop.example/tea',
    })
    const buyer = fixture.browser()
    const built = await pay(link, {}, buyer)
    expect(built).toMatchObject({
      status: 200,
      json: { recipient: seller.address, amountAtomic: '10000000000000000', sender: buyerAddress },
    })
    const { paymentId } = built.json
    const status = await buyer.get(`/api/payment/status/${paymentId}`)
    expect(status.json).toMatchObject({
      resource: 'https://shop.example/tea',
      metadata: { description: 'Tea', referenceId: 'INV-8', paymentLink: terms.id },
    })
  })

  test.each([
    ['amount', { amount: 0.001 }],
    ['description', { description: 'Cheaper' }],
    ['reference', { reference: 'other' }],
  ])('does not let the buyer set the %s that the link sets', async (field, more) => {
    const { link } = await create({ description: 'Tea', reference: 'INV-9' })
    const answer = await pay(link, more)
    expect(answer.status).toBe(400)
    expect(answer.json.error.details).toHaveProperty(field)
  })

  test('lets the buyer choose what the link leaves open', async () => {
    const { link } = await create({ amount: undefined })
    expect((await pay(link)).json.error.details).toHaveProperty('amount')
    expect((await pay(link, { amount: 0.25, reference: 'mine' })).json).toMatchObject({
      amountAtomic: '250000000000000000',
    })
  })

  test('is refused once it has expired', async () => {
    const { link } = await create({ expiresAt: Date.now() + 60_000 })
    offset = 61_000
    // The clock goes back after this: limits of the usual address are not filled ahead of time.
    const ahead = from('10.0.0.3')
    expect((await read(link, ahead)).json).toMatchObject({ state: 'expired' })
    expect((await pay(link, {}, undefined, ahead)).json.error.details).toMatchObject({
      reason: { code: 'link_expired' },
    })
  })

  test('is refused while the link is withdrawn, and possible again once it is restored', async () => {
    const { link, terms } = await create()
    await shop.post('/api/links/withdraw', { id: terms.id })
    expect((await pay(link)).json.error.details).toMatchObject({
      reason: { code: 'link_withdrawn' },
    })
    expect(linkOf(await shop.post('/api/links/restore', { id: terms.id })).state).toBe('open')
    expect((await pay(link)).status).toBe(200)
  })

  test('of a link for one payment: of ten buyers at once one gets a transaction; after it landed, nobody does', async () => {
    const { link, terms } = await create({ maxPayments: 1 })
    const answers = await Promise.all(Array.from({ length: 10 }, () => pay(link)))
    const [built, ...others] = answers.filter(({ status }) => status === 200)
    expect(others).toEqual([])
    expect(
      answers.filter(({ json }) => reasonCodeOf(json.error?.details) === 'link_busy'),
    ).toHaveLength(9)
    await fixture.service.context.db
      .update(payment)
      .set({ status: 'confirmed' })
      .where(eq(payment.id, built?.json.paymentId ?? ''))
    fixture.bff.context.upstream.forgetReads()
    expect((await read(link)).json).toMatchObject({ state: 'used' })
    expect((await pay(link)).json.error.details).toMatchObject({ reason: { code: 'link_used' } })
    expect(
      linksOf(await shop.get('/api/links')).find((each) => each.terms.id === terms.id),
    ).toMatchObject({ state: 'used', paid: 1, pending: 0 })
  })

  test('of a link for several payments: one network address holds few places, and no place is given twice', async () => {
    const { link } = await create({ maxPayments: 5 })
    const ask = async (address: string) =>
      reasonCodeOf((await pay(link, {}, undefined, from(address))).json.error?.details)
    const stranger = [1, 2, 3, 4].map(() => ask('10.1.0.1'))
    expect((await Promise.all(stranger)).filter((reason) => reason === 'link_busy')).toHaveLength(1)
    expect([await ask('10.1.0.2'), await ask('10.1.0.3')]).toEqual([undefined, undefined])
    expect([await ask('10.1.0.4'), await ask('10.1.0.1')]).toEqual(['link_busy', 'link_busy'])
  })

  test('of a link for several payments: the addresses of one IPv6 line hold few places together', async () => {
    const { link } = await create({ maxPayments: 5 })
    const ask = async (address: string) =>
      reasonCodeOf((await pay(link, {}, undefined, from(address))).json.error?.details)
    const line = ['ab00', 'ab01', 'ab02', 'abff'].map((group) => ask(`2001:db8:1:${group}::1`))
    expect((await Promise.all(line)).filter((reason) => reason === 'link_busy')).toHaveLength(1)
    expect(await ask('2001:db8:1:ac00::1')).toBeUndefined()
  })

  test('of a link for several payments: one network address does not hold the last place beside another', async () => {
    const { link } = await create({ maxPayments: 2 })
    const ask = async (address: string, browser?: TestBrowser) =>
      reasonCodeOf((await pay(link, {}, browser, from(address))).json.error?.details)
    const session = fixture.browser()
    for (let index = 0; index < 4; index++)
      expect(await ask('10.1.1.1', session), 'a session that asks again').toBeUndefined()
    expect(await ask('10.1.1.1'), 'another session of this address').toBe('link_busy')
    expect(await ask('10.1.1.2'), 'a buyer').toBeUndefined()
    expect(await ask('10.1.1.3'), 'a third one').toBe('link_busy')
  })

  test('leaves no network address in the database, and nothing of it once the payment is signed', async () => {
    const presenters = async (linkId: string) => {
      const { db } = fixture.bff.context
      const rows = await db.select().from(linkPayment).where(eq(linkPayment.linkId, linkId))
      return rows.map(({ presenter }) => presenter)
    }
    const [limited, other, open] = [
      await create({ maxPayments: 1 }),
      await create({ maxPayments: 1 }),
      await create(),
    ]
    const { paymentId } = (await pay(limited.link, {}, undefined, from('10.1.3.1'))).json
    for (const { link } of [other, open]) await pay(link, {}, undefined, from('10.1.3.1'))
    const [[here], [elsewhere], [unlimited]] = [
      await presenters(limited.terms.id),
      await presenters(other.terms.id),
      await presenters(open.terms.id),
    ]
    expect(here).toMatch(/^[\w-]{22}$/)
    expect(elsewhere).toMatch(/^[\w-]{22}$/)
    expect(elsewhere).not.toBe(here)
    expect(unlimited).toBeNull()
    await setStatus(paymentId, 'pending')
    expect((await read(limited.link)).json.state).toBe('used')
    expect(await presenters(limited.terms.id)).toEqual([null])
  })

  test('of a link for one payment again by the same buyer, whose first transaction was never signed', async () => {
    const { link } = await create({ maxPayments: 1 })
    const buyer = fixture.browser()
    expect((await pay(link, {}, buyer)).status).toBe(200)
    expect((await pay(link, {}, buyer)).status).toBe(200)
    expect((await pay(link)).json.error.details).toMatchObject({ reason: { code: 'link_busy' } })
    // A payer who only has transactions built blocks others no longer than one of them is valid.
    await asOwner(`update bff.link_payment set created_at = now() - interval '121 seconds'`)
    expect((await pay(link)).status).toBe(200)
  })

  test('repeated under the same key is the same payment, even for a link that is used up by then', async () => {
    const { link } = await create({ maxPayments: 1 })
    const headers = { 'Idempotency-Key': crypto.randomUUID() }
    const body = { link, walletAddress: buyerAddress }
    const buyer = fixture.browser()
    const lost = await buyer.post('/api/link/pay', body, headers)
    const again = await buyer.post('/api/link/pay', body, headers)
    expect(again.json.paymentId).toBe(lost.json.paymentId)
  })

  test('repeated under its key when the proxy ended before it was built needs an open link, and takes one place', async () => {
    const headers = { 'Idempotency-Key': crypto.randomUUID() }
    const buyer = fixture.browser()
    const begun = await pay((await create()).link, {}, buyer)
    expect(begun.status).toBe(200)
    const abandon = (linkId: string) =>
      asOwner(`insert into bff.link_payment (id, link_id, session_id, request_key, status, created_at)
        select 'lpm_' || gen_random_uuid(), '${linkId}', session_id, 'open ${headers['Idempotency-Key']}',
          'building', now() - interval '31 seconds'
        from bff.link_payment where payment_id = '${begun.json.paymentId}'`)
    const withdrawn = await create()
    const paid = await create({ maxPayments: 1 })
    const open = await create({ maxPayments: 1 })
    for (const { terms } of [withdrawn, paid, open]) await abandon(terms.id)
    expect((await shop.post('/api/links/withdraw', { id: withdrawn.terms.id })).status).toBe(200)
    await asOwner(`update bff.link_payment set created_at = now() - interval '121 seconds'
      where link_id = '${paid.terms.id}'`)
    const other = await pay(paid.link)
    expect(other.status).toBe(200)
    await setStatus(other.json.paymentId, 'finalized')

    const again = async ({ link }: LinkBody) => {
      const answer = await pay(link, {}, buyer, headers)
      return reasonCodeOf(answer.json.error?.details) ?? answer.status
    }
    expect(await again(withdrawn)).toBe('link_withdrawn')
    expect(await again(paid)).toBe('link_used')
    expect(await again(open)).toBe(200)
    const places = eq(linkPayment.linkId, open.terms.id)
    expect(await fixture.bff.context.db.$count(linkPayment, places)).toBe(1)
  })

  test('repeated under a key that its place does not have is the same payment, and takes no second place', async () => {
    const { link, terms } = await create({ maxPayments: 2 })
    const headers = { 'Idempotency-Key': crypto.randomUUID() }
    const body = { link, walletAddress: buyerAddress }
    const buyer = fixture.browser()
    const lost = await buyer.post('/api/link/pay', body, headers)
    // As a version before wrote it.
    await asOwner(`update bff.link_payment set request_key = substring(request_key from 6)
      where payment_id = '${lost.json.paymentId}'`)
    const again = await buyer.post('/api/link/pay', body, headers)
    expect([again.status, again.json.paymentId]).toEqual([200, lost.json.paymentId])
    expect(await fixture.bff.context.db.$count(linkPayment, eq(linkPayment.linkId, terms.id))).toBe(
      1,
    )
  })

  test('repeated under the same key by a payer whose first answer and session were lost waits until the place is free again', async () => {
    const { link } = await create({ maxPayments: 1 })
    const headers = { 'Idempotency-Key': crypto.randomUUID() }
    const body = { link, walletAddress: buyerAddress }
    const lost = await fixture.browser().post('/api/link/pay', body, headers)
    expect(lost.status).toBe(200)
    // The key alone proves nothing: otherwise anyone could reopen a used-up link with it.
    const again = await fixture.browser().post('/api/link/pay', body, headers)
    expect(again.json.error.details).toMatchObject({ reason: { code: 'link_busy' } })
  })

  test('of a link for one payment is open again when the payment before it was never mined within an hour', async () => {
    const { link } = await create({ maxPayments: 1 })
    const { paymentId } = (await pay(link)).json
    await setStatus(paymentId, 'pending')
    expect((await pay(link)).json.error.details).toMatchObject({ reason: { code: 'link_used' } })
    const built = (minutes: number) =>
      asOwner(`update bff.link_payment set created_at = now() - interval '${minutes} minutes'
        where payment_id = '${paymentId}'`)
    await built(59)
    expect((await pay(link)).json.error.details).toMatchObject({ reason: { code: 'link_used' } })
    await built(61)
    expect((await pay(link)).status).toBe(200)
    // It lands all the same: then it is the one, and the other one is a surplus.
    await setStatus(paymentId, 'finalized')
    expect((await pay(link)).json.error.details).toMatchObject({ reason: { code: 'link_used' } })
  })

  test('of a link without a limit, left unsigned, ends as expired though nobody looks at the link', async () => {
    const { link } = await create()
    const { paymentId } = (await pay(link)).json
    const { db } = fixture.bff.context
    const status = async () =>
      (await db.select().from(linkPayment).where(eq(linkPayment.paymentId, paymentId)))[0]?.status
    await setStatus(paymentId, 'expired')
    offset = 3_590_000
    await refreshAbandoned(fixture.bff.context)
    expect(await status()).toBe('created')
    offset = 3_610_000
    await refreshAbandoned(fixture.bff.context)
    expect(await status()).toBe('expired')
  })

  test('that expired and landed on the next day is found, though nobody looked in between', async () => {
    const { link } = await create({ maxPayments: 1 })
    const { paymentId } = (await pay(link)).json
    await setStatus(paymentId, 'expired')
    expect((await pay(link)).status).toBe(200)
    const days = (row: string) => asOwner(`update bff.link_payment set ${row}`)
    await days(`created_at = now() - interval '50 hours', checked_at = now() - interval '49 hours'`)
    await setStatus(paymentId, 'finalized')
    expect((await pay(link)).json.error.details).toMatchObject({ reason: { code: 'link_used' } })
  })

  test('that a restored database of the proxy does not have gets its row again: its link takes no other payment', async () => {
    const [paid, unsigned] = [await create({ maxPayments: 1 }), await create({ maxPayments: 1 })]
    const ids: string[] = []
    for (const { link } of [paid, unsigned]) ids.push((await pay(link)).json.paymentId)
    const [paidId = '', unsignedId = ''] = ids
    await setStatus(paidId, 'finalized')
    // As a restore does it: no program deletes records of payments.
    await asOwner(
      `set session_replication_role = replica; delete from bff.link_payment where payment_id in ('${ids.join("', '")}')`,
    )
    expect((await read(paid.link)).json.state).toBe('open')
    expect(await rebuildLinkPayments(fixture.bff.context)).toBe(2)
    expect(await rebuildLinkPayments(fixture.bff.context)).toBe(0)
    expect((await pay(paid.link)).json.error.details).toMatchObject({
      reason: { code: 'link_used' },
    })
    const listed = linksOf(await shop.get('/api/links'))
    expect(listed.find(({ terms }) => terms.id === paid.terms.id)).toMatchObject({ paid: 1 })
    // One that was not signed at the restore, and is paid later.
    expect((await read(unsigned.link)).json.state).toBe('open')
    await setStatus(unsignedId, 'finalized')
    expect((await read(unsigned.link)).json.state).toBe('used')
  })

  test('repeated under its key by a payer who has signed in since is another payment, and needs an open link', async () => {
    const { link, terms } = await create()
    const account = await evm.wallet(10n ** 20n)
    const buyer = fixture.browser()
    const headers = { 'Idempotency-Key': crypto.randomUUID() }
    const body = { link, walletAddress: account.address }
    expect((await buyer.post('/api/link/pay', body, headers)).status).toBe(200)
    await buyer.signIn({
      address: account.address,
      network: evm.network.network,
      sign: (message) => account.signMessage({ message }),
    })
    expect((await shop.post('/api/links/withdraw', { id: terms.id })).status).toBe(200)
    const again = await buyer.post('/api/link/pay', body, headers)
    expect(again.json.error.details).toMatchObject({ reason: { code: 'link_withdrawn' } })
  })

  test('repeated under a key that is spelled like that of another sender needs an open link too', async () => {
    const account = await evm.wallet(10n ** 20n)
    const key = crypto.randomUUID()
    for (const [first, second] of [
      [`${key}:verified`, key],
      [`verified:${key}`, key],
      [`open:${key}`, `open:${key}`],
    ] as const) {
      const { link, terms } = await create()
      const buyer = fixture.browser()
      const ask = (idempotencyKey: string) =>
        buyer.post(
          '/api/link/pay',
          { link, walletAddress: account.address },
          { 'Idempotency-Key': idempotencyKey },
        )
      expect((await ask(first)).status, first).toBe(200)
      await buyer.signIn({
        address: account.address,
        network: evm.network.network,
        sign: (message) => account.signMessage({ message }),
      })
      expect((await shop.post('/api/links/withdraw', { id: terms.id })).status).toBe(200)
      const again = await ask(second)
      expect(reasonCodeOf(again.json.error?.details), first).toBe('link_withdrawn')
    }
  })

  test('or reading it more often than buyers do waits, whatever the link, while others go on', async () => {
    const { link } = await create()
    const stranger = from('10.0.0.1')
    stopped = Date.now()
    // A buyer who reads a link each second is never refused.
    for (let index = 0; index < 60; index++)
      expect((await read(link, stranger)).status, String(index)).toBe(200)
    // A text that is no link counts too.
    for (let index = 60; index < 120; index++) await read(`${link}A`, stranger)
    const refused = { status: 429, json: { error: { details: { budget: 'link' } } } }
    expect(await read(link, stranger)).toMatchObject(refused)
    expect(await pay(link, {}, undefined, stranger)).toMatchObject(refused)
    expect((await read(link, from('10.0.0.2'))).status).toBe(200)
  })

  test('that cannot be built leaves the place to the next', async () => {
    const { link } = await create({ maxPayments: 1 })
    expect((await pay(link, { walletAddress: evmWallet().address })).json.error.code).toBe(
      'INSUFFICIENT_BALANCE',
    )
    expect((await pay(link)).status).toBe(200)
  })
})
