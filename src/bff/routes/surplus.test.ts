import { eq, inArray } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { linkPayment } from '#bff/db/schema.ts'
import { refreshAllSurplus } from '#bff/links/refresh.ts'
import type { InvoiceBody } from '#contract/invoice-endpoints.ts'
import type { ShortLinkBody, SurplusPayment } from '#contract/link-endpoints.ts'
import { createPaymentId } from '#contract/payment.ts'
import { payment } from '#service/db/schema/payment.ts'
import { Fixture } from '#testing/fixture.ts'
import { startEvm, type EvmFixture } from '#testing/local-chains.ts'
import { executeAsOwner } from '#testing/postgres.ts'
import { insertTestPayment } from '#testing/service-app.ts'
import { evmWallet, type BrowserResponse, type TestBrowser } from '#testing/test-browser.ts'

const seller = evmWallet()
let evm: EvmFixture
let fixture: Fixture
let shop: TestBrowser
let buyerAddress = ''

beforeAll(async () => {
  evm = await startEvm({ slotsInEpoch: 1 })
  fixture = await Fixture.open({
    plan: 'premium',
    networks: [evm.network],
    bff: { sellerWallets: [seller.address], operatorWallets: [seller.address] },
  })
  buyerAddress = (await evm.wallet(10n ** 20n)).address
  shop = fixture.browser()
  await shop.signIn(seller)
})
afterAll(async () => {
  await fixture?.[Symbol.asyncDispose]()
  await evm?.[Symbol.asyncDispose]()
})

type Page = { payments: SurplusPayment[]; total: number; next: string | null }
const bodyOf = <Body>(answer: BrowserResponse): Body => {
  if (answer.status !== 200) throw new Error(answer.text)
  return answer.json as unknown as Body
}
const asOwner = (statement: string) => {
  const { config, db } = fixture.bff.context
  return executeAsOwner({ target: config.database, db }, statement)
}
const readPage = async (after?: string) => {
  fixture.bff.context.upstream.forgetReads()
  return bodyOf<Page>(await shop.post('/api/links/surplus', { after }))
}
/** All pages, and no payment twice. */
const readAll = async (): Promise<string[]> => {
  const ids: string[] = []
  for (let page = await readPage(); ; page = await readPage(page.next ?? undefined)) {
    ids.push(...page.payments.map(({ paymentId }) => paymentId))
    if (page.next === null) break
  }
  expect(new Set(ids).size).toBe(ids.length)
  return ids
}
const setStatus = async (paymentId: string, status: 'finalized') => {
  const { db } = fixture.service.context
  await db.update(payment).set({ status, draft: false }).where(eq(payment.id, paymentId))
  fixture.bff.context.upstream.forgetReads()
}
const issue = async (): Promise<InvoiceBody> => {
  const draft = {
    dueOn: '2030-01-01',
    currency: 'ETH',
    lines: [{ name: 'Tea', quantity: '1', unitPrice: '0.01', taxPercent: null }],
  }
  const { invoice } = bodyOf<{ invoice: InvoiceBody }>(await shop.post('/api/invoices', draft))
  const issued = await shop.post('/api/invoices/issue', { id: invoice.id })
  return bodyOf<{ invoice: InvoiceBody }>(issued).invoice
}
const readInvoice = async (id: string) => {
  fixture.bff.context.upstream.forgetReads()
  return bodyOf<{ invoice: InvoiceBody }>(await shop.post('/api/invoices/read', { id })).invoice
}
const createLink = async () =>
  bodyOf<{ link: ShortLinkBody }>(
    await shop.post('/api/links/short', {
      price: { currency: 'ETH', amount: '0.01' },
      description: 'Tea',
      maxPayments: 1,
    }),
  ).link
const readLink = async (link: string) => {
  fixture.bff.context.upstream.forgetReads()
  const { short } = bodyOf<{ short: ShortLinkBody[] }>(await shop.get('/api/links'))
  return short.find((each) => each.link === link)
}
const isSurplus = async (browser: TestBrowser, link: string | null, paymentId: string) => {
  fixture.bff.context.upstream.forgetReads()
  return (await browser.post('/api/link/surplus', { link, paymentId })).json
}

/** Two payments of one link, each with the browser of its payer: the second payer was let in while the first did not sign. */
async function payTwice(link: string | null): Promise<[string, string, TestBrowser, TestBrowser]> {
  const browsers = [fixture.browser(), fixture.browser()] as const
  const ids: string[] = []
  for (const browser of browsers) {
    const option = { network: evm.network.network, asset: 'ETH' }
    const answer = await browser.post('/api/link/pay', {
      link,
      walletAddress: buyerAddress,
      option,
    })
    ids.push(bodyOf<{ paymentId: string }>(answer).paymentId)
    await asOwner(
      `update bff.link_payment set created_at = now() - interval '121 seconds' where payment_id = '${ids.at(-1)}'`,
    )
  }
  const [first = '', second = ''] = ids
  return [first, second, ...browsers]
}

/** Refunds a payment in full, without an event. @returns the id of the refund */
async function refund(refundOf: string): Promise<string> {
  const { db } = fixture.service.context
  const [row] = await db.select().from(payment).where(eq(payment.id, refundOf))
  const id = createPaymentId()
  const amount = row?.amount ?? 0n
  const { accountId } = fixture
  await insertTestPayment(db, { id, accountId, refundOf, amount, status: 'confirmed' })
  return id
}

test('the payment after one that was refunded in full pays the invoice and its link alike, and nothing is owed', async () => {
  const { id, link } = await issue()
  const [first, second, early, late] = await payTwice(link)
  for (const paymentId of [first, second]) {
    await setStatus(paymentId, 'finalized')
    await readInvoice(id)
  }
  expect(await readInvoice(id)).toMatchObject({
    state: 'paid',
    payment: { paymentId: first, refund: 'none' },
    surplus: [second],
  })
  expect(await isSurplus(late, link, second)).toEqual({ surplus: true })
  expect(await readAll()).toContain(second)

  const refundId = await refund(first)
  // The link is asked first: it hears of the refund no less than the invoice.
  expect(await isSurplus(late, link, second)).toEqual({ surplus: false })
  expect(await isSurplus(early, link, first)).toEqual({ surplus: false })
  expect(await readAll()).not.toContain(second)
  expect(await readInvoice(id)).toMatchObject({
    state: 'paid',
    payment: { paymentId: second, refund: 'none' },
    surplus: [],
  })
  // A reorganization drops the refund: the first payment pays again, and the second one is owed.
  const { db } = fixture.service.context
  await db.update(payment).set({ status: 'rolled_back' }).where(eq(payment.id, refundId))
  expect(await readInvoice(id)).toMatchObject({ payment: { paymentId: first }, surplus: [second] })
  expect(await isSurplus(late, link, second)).toEqual({ surplus: true })
})

test('a link says the same: refunded once in full, it is paid by the other payment', async () => {
  const { link } = await createLink()
  const [first, second] = await payTwice(link)
  for (const paymentId of [first, second]) {
    await setStatus(paymentId, 'finalized')
    await readLink(link)
  }
  expect(await readLink(link)).toMatchObject({ surplus: [second], refunded: { full: 0 } })
  await refund(first)
  expect(await readLink(link)).toMatchObject({ paid: 2, surplus: [], refunded: { full: 0 } })
  await refund(second)
  expect(await readLink(link)).toMatchObject({ paid: 2, surplus: [], refunded: { full: 1 } })
})

test('what arrives on a void invoice is owed back, and in the list says why', async () => {
  const { id, link, number } = await issue()
  const [first] = await payTwice(link)
  await shop.post('/api/invoices/void', { id })
  await setStatus(first, 'finalized')
  expect((await readInvoice(id)).surplus).toEqual([first])
  const { payments } = await readPage()
  expect(payments.find(({ paymentId }) => paymentId === first)).toMatchObject({
    sender: buyerAddress,
    description: `Invoice ${number}`,
    invoice: { id, number, isVoid: true },
  })
})

test('a refund, and a reorganization that drops it, are known by their events before anybody looks', async () => {
  await expect.poll(() => fixture.bff.context.hub.state).toBe('live')
  const { link } = await createLink()
  const [first, second] = await payTwice(link)
  for (const paymentId of [first, second]) await setStatus(paymentId, 'finalized')
  const owed = (await readLink(link))?.surplus[0] ?? ''
  expect([first, second]).toContain(owed)
  const { db } = fixture.service.context
  const [original] = await db.select().from(payment).where(eq(payment.id, owed))
  const id = createPaymentId()
  const { accountId } = fixture
  await insertTestPayment(db, { id, accountId, refundOf: owed, amount: original?.amount ?? 0n })
  const ofOwed = async () => {
    const [row] = await fixture.bff.context.db
      .select()
      .from(linkPayment)
      .where(eq(linkPayment.paymentId, owed))
    return [row?.surplus, row?.refunded]
  }
  for (const [status, expected] of [
    ['pending', [true, null]],
    ['confirmed', [false, 'full']],
    ['rolled_back', [true, null]],
    ['finalized', [false, 'final']],
  ] as const) {
    await fixture.move(id, status)
    await expect.poll(ofOwed, { message: status }).toEqual(expected)
  }
})

test('a payment that is owed back, and its refund, are noticed though no event told of them and nobody looks at the link', async () => {
  const { link } = await createLink()
  const [first, second] = await payTwice(link)
  for (const paymentId of [first, second]) await setStatus(paymentId, 'finalized')
  const known = async () =>
    fixture.bff.context.db
      .select()
      .from(linkPayment)
      .where(inArray(linkPayment.paymentId, [first, second]))
      .orderBy(linkPayment.arrival)
  await refreshAllSurplus(fixture.bff.context)
  const [, owed] = await known()
  expect(owed).toMatchObject({ status: 'finalized', arrival: 2, surplus: true })
  await refund(owed?.paymentId ?? '')
  await refreshAllSurplus(fixture.bff.context)
  expect((await known())[1]).toMatchObject({ surplus: false, refunded: 'full' })
})

// Last: it makes many.
test('every payment that is owed back is in the list, of links that are too old for the page of links too', async () => {
  const { link } = await createLink()
  const [first, second] = await payTwice(link)
  for (const paymentId of [first, second]) await setStatus(paymentId, 'finalized')
  const owed = (await readLink(link))?.surplus[0] ?? ''
  const others = Array.from({ length: 120 }, () => createPaymentId())
  await asOwner(
    `insert into bff.payment_link (id, link, code, short, max_payments, created_by, created_at)
     select l.id || n, l.link || n, l.code || n, short, 1, l.created_by, l.created_at + interval '1 minute'
     from bff.payment_link l, generate_series(1, 500) as n where l.link = '${link}'`,
  )
  await asOwner(
    `insert into bff.link_payment (id, link_id, payment_id, status, arrival, surplus, created_at)
     select 'old' || n, l.id || n, other, 'finalized', 2, true, now() - interval '1 day'
     from bff.payment_link l, unnest(array['${others.join("','")}']) with ordinality as made (other, n) where l.link = '${link}'`,
  )
  expect(await readLink(link)).toBeUndefined()
  const { total, payments } = await readPage()
  expect(payments).toHaveLength(50)
  const all = await readAll()
  expect(all).toHaveLength(total)
  expect(all).toEqual(expect.arrayContaining([...others, owed]))
  // Those that were made longest ago come first, and one that is refunded is in no page.
  expect(others).toContain(all[0])
  await refund(owed)
  expect(await readAll()).not.toContain(owed)
})
