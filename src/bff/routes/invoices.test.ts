import { eq, inArray } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { insertContact } from '#bff/db/contacts.ts'
import { invoice, linkPayment, paymentLink } from '#bff/db/schema.ts'
import type { CustomerExport } from '#contract/customer-endpoints.ts'
import type { InvoiceBody, InvoiceCustomer } from '#contract/invoice-endpoints.ts'
import type { OpenedShortLink } from '#contract/link-endpoints.ts'
import { createPaymentId } from '#contract/payment.ts'
import { reasonCodeOf } from '#contract/reasons.ts'
import { recordEvent } from '#service/db/record-event.ts'
import { payment } from '#service/db/schema/payment.ts'
import { Fixture } from '#testing/fixture.ts'
import { startEvm, type EvmFixture } from '#testing/local-chains.ts'
import { executeAsOwner } from '#testing/postgres.ts'
import { insertTestPayment } from '#testing/service-app.ts'
import { evmWallet, type BrowserResponse, type TestBrowser } from '#testing/test-browser.ts'

const seller = evmWallet()
const forintRate = { kind: 'fixed', rate: '1000000', since: '2026-01-01T00:00:00Z' } as const
const DAY = 86_400_000
let evm: EvmFixture
let fixture: Fixture
let shop: TestBrowser
let buyerAddress = ''
let offset = 0

beforeAll(async () => {
  evm = await startEvm({ slotsInEpoch: 1 })
  fixture = await Fixture.open({
    plan: 'premium',
    networks: [evm.network],
    bff: {
      sellerWallets: [seller.address],
      operatorWallets: [seller.address],
      rates: [{ asset: 'ETH', currency: 'HUF', maxDeviationPercent: '2', sources: [forintRate] }],
    },
    overrides: { now: () => new Date(Date.now() + offset) },
  })
  buyerAddress = (await evm.wallet(10n ** 20n)).address
  shop = fixture.browser()
  await shop.signIn(seller)
})
afterAll(async () => {
  await fixture?.[Symbol.asyncDispose]()
  await evm?.[Symbol.asyncDispose]()
})

const dayIn = (days: number) => new Date(Date.now() + days * DAY).toISOString().slice(0, 10)
const DRAFT = {
  dueOn: dayIn(14),
  currency: 'ETH',
  lines: [
    { name: 'Tea', quantity: '2', unitPrice: '0.01', taxPercent: '10' },
    { name: 'Delivery', quantity: '1', unitPrice: '0.003', taxPercent: null },
  ],
}
const ANA = { name: 'Ana Q.', email: 'Ana@post.example', address: '1 Quay' }

const bodyOf = <Body>(answer: BrowserResponse): Body => {
  if (answer.status !== 200) throw new Error(answer.text)
  return answer.json as unknown as Body
}
const send = async (name: string, body: object, browser = shop): Promise<InvoiceBody> =>
  bodyOf<{ invoice: InvoiceBody }>(await browser.post(`/api/invoices${name}`, body)).invoice
const save = (fields: object = {}) => send('', { ...DRAFT, ...fields })
const issue = async (fields: object = {}) => send('/issue', { id: (await save(fields)).id })
const read = (id: string) => send('/read', { id })
type List = { invoices: InvoiceBody[]; next: string | null; numbering: { next: string } }
const list = async (filter: object = {}): Promise<List> =>
  bodyOf(await shop.post('/api/invoices/list', filter))
const reasonOf = (answer: BrowserResponse) => reasonCodeOf(answer.json.error?.details)
const refusal = async (name: string, id: string) =>
  reasonOf(await shop.post(`/api/invoices${name}`, { id }))
const pay = (link: string | null, browser = fixture.browser(), walletAddress = buyerAddress) =>
  browser.post('/api/link/pay', {
    link,
    walletAddress,
    option: { network: evm.network.network, asset: 'ETH' },
  })
const setStatus = async (
  paymentId: string,
  status: 'pending' | 'confirmed' | 'finalized' | 'rolled_back',
) => {
  await fixture.service.context.db.update(payment).set({ status }).where(eq(payment.id, paymentId))
  fixture.bff.context.upstream.forgetReads()
}
const asOwner = (statement: string) => {
  const { config, db } = fixture.bff.context
  return executeAsOwner({ target: config.database, db }, statement)
}

/** Another invoice for each of these payments, with a separate link. */
const copyInvoice = (id: string, paymentIds: readonly string[]) => `
  create temp table copied as
    select payment_id, row_number() over () as n
    from unnest(array['${paymentIds.join("','")}']) as payment_id;
  insert into bff.payment_link (id, link, code, short, max_payments, created_by, created_at)
    select l.id || n, l.link || n, l.code || n, short, max_payments, l.created_by, l.created_at
    from bff.payment_link l join bff.invoice i on i.link_id = l.id and i.id = '${id}', copied;
  insert into bff.link_payment (id, link_id, payment_id, status, arrival, created_at)
    select p.id || n, p.link_id || n, copied.payment_id, status, arrival, p.created_at
    from bff.link_payment p join bff.invoice i on i.link_id = p.link_id and i.id = '${id}', copied;
  insert into bff.invoice (id, state, paid, sequence, number, issued_on, due_on, currency, lines,
      total, link_id, created_by, created_at)
    select id || n, state, paid, sequence + n, number || n, issued_on, due_on, currency, lines,
      total, link_id || n, created_by, created_at
    from bff.invoice, copied where id = '${id}'`

describe('an invoice', () => {
  test('has the day of the merchant’s time zone, and is overdue when that day is over', async () => {
    const { config } = fixture.bff.context
    onTestFinished(() => {
      config.timeZone = 'UTC'
    })
    // One of the two has another day than UTC.
    const [hours, zone] =
      new Date().getUTCHours() >= 11 ? [14, 'Pacific/Kiritimati'] : [-12, 'Etc/GMT+12']
    const there = dayIn(hours / 24)
    expect(there).not.toBe(dayIn(0))
    const early = there < dayIn(0) ? there : dayIn(0)
    // By the zone whose day is the earlier one: none is due before its date.
    if (hours < 0) config.timeZone = zone
    const due = await issue({ dueOn: early })
    config.timeZone = 'UTC'
    expect((await read(due.id)).state).toBe(hours < 0 ? 'overdue' : 'open')
    config.timeZone = zone
    const draft = await save()
    expect(draft.draft?.issuesOn).toBe(there)
    expect(await send('/issue', { id: draft.id, draft: draft.draft })).toMatchObject({
      issuedOn: there,
      draft: null,
    })
    expect((await read(due.id)).state).toBe(hours < 0 ? 'open' : 'overdue')
    expect((await list({ state: 'overdue' })).invoices.some(({ id }) => id === due.id)).toBe(
      hours > 0,
    )
  })

  test('is issued as the operator was shown it: a draft or a date that changed since is refused', async () => {
    const shown = await save({ customer: ANA })
    const tryIssue = async (draft: unknown) =>
      reasonOf(await shop.post('/api/invoices/issue', { id: shown.id, draft }))
    const now = await save({ id: shown.id, customer: { ...ANA, address: '2 Quay' } })
    expect(await tryIssue(shown.draft)).toBe('invoice_state')
    const dearer = [{ ...DRAFT.lines[0], unitPrice: '9' }]
    const changed = await save({ id: shown.id, customer: ANA, lines: dearer })
    expect(await tryIssue(now.draft)).toBe('invoice_state')
    expect(await tryIssue({ ...changed.draft, issuesOn: dayIn(-1) })).toBe('invoice_state')
    expect((await read(shown.id)).state).toBe('draft')
    expect(await send('/issue', { id: shown.id, draft: changed.draft })).toMatchObject({
      state: 'open',
      total: changed.total,
    })
  })

  test('that is due before its date of issue is refused by the name of the field, and takes no number', async () => {
    const { next } = (await list()).numbering
    const { id, draft } = await save({ dueOn: dayIn(-1) })
    const answer = await shop.post('/api/invoices/issue', { id, draft })
    expect(reasonOf(answer)).toBe('invoice_draft')
    expect(answer.json.error.details).toHaveProperty('dueOn')
    expect(await read(id)).toMatchObject({ state: 'draft', number: null, link: null })
    await save({ id, dueOn: dayIn(0) })
    expect(await send('/issue', { id })).toMatchObject({ number: next, dueOn: dayIn(0) })
  })

  test('whose draft was rounded to whole units of HUF is issued once the draft is saved with its decimals', async () => {
    const lines = [{ name: 'Tea', quantity: '1', unitPrice: '99.50', taxPercent: null }]
    const { id, currency } = await save({ currency: 'HUF', lines })
    // As an earlier version stored it.
    const rounded = { currency: { ...currency, decimals: 0 }, total: '100' }
    await fixture.bff.context.db.update(invoice).set(rounded).where(eq(invoice.id, id))
    const { draft } = await read(id)
    const answer = await shop.post('/api/invoices/issue', { id, draft })
    expect(reasonOf(answer)).toBe('invoice_draft')
    expect(answer.json.error.details).toHaveProperty('currency')
    await save({ id, currency: 'HUF', lines })
    expect(await send('/issue', { id })).toMatchObject({
      total: '99.5',
      currency: { code: 'HUF', decimals: 2 },
    })
  })

  test('is a draft without a number until it is issued, and never changes from then on', async () => {
    const draft = await save({ customer: ANA, note: 'Thank you.' })
    expect(draft).toMatchObject({ state: 'draft', number: null, link: null, total: '0.025' })
    expect(await save({ id: draft.id, note: 'Thanks.' })).toMatchObject({ note: 'Thanks.' })
    const issued = await send('/issue', { id: draft.id })
    expect(issued).toMatchObject({ state: 'open', issuedOn: dayIn(0), dueOn: DRAFT.dueOn })
    expect(issued.number).toMatch(/^INV-[0-9]{4}$/)
    for (const name of ['', '/issue', '/delete'])
      expect(
        reasonOf(
          await shop.post(`/api/invoices${name}`, {
            ...(name === '' && DRAFT),
            id: draft.id,
          }),
        ),
        name,
      ).toBe('invoice_state')
    // Nor do those who reach the table.
    for (const statement of [
      `update bff.invoice set total = '0.001' where id = '${draft.id}'`,
      `update bff.invoice set number = 'INV-9999' where id = '${draft.id}'`,
      `update bff.invoice set lines = '[]' where id = '${draft.id}'`,
      `update bff.invoice set note = 'Please.' where id = '${draft.id}'`,
      `update bff.invoice set note = null where id = '${draft.id}'`,
      `update bff.invoice set seller = '{"name":"Another"}' where id = '${draft.id}'`,
      `update bff.invoice set state = 'draft' where id = '${draft.id}'`,
      `delete from bff.invoice where id = '${draft.id}'`,
      `update bff.invoice_numbering set last = 0`,
      `delete from bff.invoice_numbering`,
    ])
      await expect(asOwner(statement), statement).rejects.toThrow(/is a record of a payment/)
  })

  test('keeps the seller that it was issued with, and shows them to its payer; a draft has the present one', async () => {
    const TEA = { name: 'Tea Ltd', address: '1 Quay\nPort', taxNumber: 'ES B1' }
    const put = async (seller: object) => bodyOf(await shop.post('/api/invoices/seller', seller))
    const before = await issue()
    expect(before.seller).toBeNull()
    const shown = await save()
    await put(TEA)
    expect((await read(before.id)).seller).toBeNull()
    // The operator was shown a draft without a seller.
    const stale = await shop.post('/api/invoices/issue', { id: shown.id, draft: shown.draft })
    expect(reasonOf(stale)).toBe('invoice_state')
    const next = await read(shown.id)
    expect(next.seller).toEqual(TEA)
    const issued = await send('/issue', { id: next.id, draft: next.draft })
    expect(issued.seller).toEqual(TEA)

    const left = await save()
    await put({ name: 'Tea and more' })
    const present = { name: 'Tea and more', address: null, taxNumber: null }
    expect((await read(left.id)).seller).toEqual(present)
    expect(await list()).toMatchObject({ seller: present })
    expect((await read(issued.id)).seller).toEqual(TEA)
    expect((await list()).invoices.find(({ id }) => id === issued.id)?.seller).toEqual(TEA)
    const answer = await fixture.browser().post('/api/link/open', { link: issued.link })
    expect(bodyOf<OpenedShortLink>(answer).terms.invoice?.seller).toEqual(TEA)
  })

  test.each([
    ['name', { name: ' ' }],
    ['address', { name: 'Tea Ltd', address: 'Q'.repeat(501) }],
    ['taxNumber', { name: 'Tea Ltd', taxNumber: '1'.repeat(51) }],
  ])('takes no seller with a wrong %s, and names the field', async (field, seller) => {
    const answer = await shop.post('/api/invoices/seller', seller)
    expect(answer.status).toBe(400)
    expect(answer.json.error.details).toHaveProperty([field])
  })

  test('shows a payer its number, its due date and its lines, and nothing of the customer', async () => {
    const { link, number } = await issue({ customer: ANA })
    const answer = await fixture.browser().post('/api/link/open', { link })
    const { terms, state, options } = bodyOf<OpenedShortLink>(answer)
    expect(state).toBe('open')
    expect(terms).toMatchObject({
      reference: number,
      price: { kind: 'asset', currency: 'ETH', amount: '0.025' },
      maxPayments: 1,
      invoice: { number, dueOn: DRAFT.dueOn, lines: DRAFT.lines },
    })
    expect(options[0]?.amountAtomic).toBe('25000000000000000')
    expect(answer.text).not.toMatch(/Ana|post\.example|Quay/)
  })

  test.each([
    ['currency', { currency: 'CHF' }],
    ['lines', { lines: [{ ...DRAFT.lines[0], unitPrice: '0' }] }],
    ['lines', { lines: [] }],
    ['dueOn', { dueOn: '2026-02-30' }],
    ['customer.email', { customer: { name: 'Ana', email: 'ana' } }],
  ])('with a wrong %s is refused by the name of the field', async (field, fields) => {
    const answer = await shop.post('/api/invoices', { ...DRAFT, ...fields })
    expect(answer.status).toBe(400)
    expect(answer.json.error.details).toHaveProperty([field])
  })
})

describe('the numbers of invoices', () => {
  test('of twenty issued at once are twenty in a row', async () => {
    const drafts = await Promise.all(Array.from({ length: 20 }, () => save()))
    const before = Number((await list()).numbering.next.slice(4))
    const issued = await Promise.all(drafts.map(({ id }) => send('/issue', { id })))
    const numbers = issued.map(({ number }) => Number(number?.slice(4))).sort((a, b) => a - b)
    expect(numbers).toEqual(Array.from({ length: 20 }, (_, index) => before + index))
    expect((await list()).numbering.next).toBe(`INV-${String(before + 20).padStart(4, '0')}`)
  })

  test('has no gap where twenty issue one draft at once', async () => {
    const { id } = await save()
    const before = Number((await list()).numbering.next.slice(4))
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => shop.post('/api/invoices/issue', { id })),
    )
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(Number((await list()).numbering.next.slice(4))).toBe(before + 1)
  })

  test('are not given again after a void, and go on under another prefix', async () => {
    const first = await issue()
    await send('/void', { id: first.id })
    const prefixed = await shop.post('/api/invoices/prefix', { prefix: 'A-2026/' })
    expect(prefixed.status).toBe(200)
    const second = await issue()
    expect(second.number).toBe(
      `A-2026/${String(Number(first.number?.slice(4)) + 1).padStart(4, '0')}`,
    )
    // One that ends in a digit could make a number that another prefix made.
    expect((await shop.post('/api/invoices/prefix', { prefix: 'A-2026' })).status).toBe(400)
    await shop.post('/api/invoices/prefix', { prefix: 'INV-' })
  })
})

describe('the payment of an invoice', () => {
  test('is confirming until it is finalized, and then paid', async () => {
    const { id, link } = await issue()
    const { paymentId } = (await pay(link)).json
    expect((await read(id)).state).toBe('open')
    for (const [status, state] of [
      ['pending', 'confirming'],
      ['confirmed', 'confirming'],
      ['finalized', 'paid'],
    ] as const) {
      await setStatus(paymentId, status)
      expect(await read(id), status).toMatchObject({ state, payment: { paymentId, status } })
    }
    expect((await list({ state: 'paid' })).invoices.map((each) => each.id)).toContain(id)
    expect((await list({ state: 'open' })).invoices.map((each) => each.id)).not.toContain(id)
    expect(await read(id)).toMatchObject({ payment: { refund: 'none' }, surplus: [] })
  })

  test('is built for one of ten payers at once, and for nobody once it is on its way', async () => {
    const { link } = await issue()
    const answers = await Promise.all(Array.from({ length: 10 }, () => pay(link)))
    const built = answers.filter(({ status }) => status === 200)
    expect(built).toHaveLength(1)
    expect(answers.filter((answer) => reasonOf(answer) === 'link_busy')).toHaveLength(9)
    await setStatus(built[0]?.json.paymentId ?? '', 'pending')
    expect(reasonOf(await pay(link))).toBe('link_used')
  })

  test('that arrives second leaves one invoice paid, and is shown as owed back', async () => {
    const { id, link } = await issue()
    const first = (await pay(link)).json.paymentId
    // Another payer is let in when the first one does not sign for two minutes, but both may.
    await asOwner(
      `update bff.link_payment set created_at = now() - interval '121 seconds' where payment_id = '${first}'`,
    )
    const second = (await pay(link)).json.paymentId
    await setStatus(first, 'finalized')
    expect((await read(id)).state).toBe('paid')
    await setStatus(second, 'finalized')
    expect(await read(id)).toMatchObject({
      state: 'paid',
      payment: { paymentId: first },
      surplus: [second],
    })
  })

  test('that arrives second is the one owed back, to the merchant and to its payer, even where it is final first', async () => {
    const { id, link } = await issue()
    const [early, late] = [fixture.browser(), fixture.browser()]
    const first = (await pay(link, early)).json.paymentId
    await asOwner(
      `update bff.link_payment set created_at = now() - interval '121 seconds' where payment_id = '${first}'`,
    )
    const second = (await pay(link, late)).json.paymentId
    await setStatus(first, 'confirmed')
    await read(id)
    await setStatus(second, 'finalized')
    expect(await read(id)).toMatchObject({
      payment: { paymentId: first },
      surplus: [second],
    })
    const toPayer = async (browser: TestBrowser, paymentId: string) =>
      (await browser.post('/api/link/surplus', { link, paymentId })).json
    expect(await toPayer(early, first)).toEqual({ surplus: false })
    expect(await toPayer(late, second)).toEqual({ surplus: true })
  })

  test('that a reorganization dropped gives way to the one that is final', async () => {
    const { id, link } = await issue()
    const first = (await pay(link)).json.paymentId
    await asOwner(
      `update bff.link_payment set created_at = now() - interval '121 seconds' where payment_id = '${first}'`,
    )
    const second = (await pay(link)).json.paymentId
    await setStatus(first, 'confirmed')
    await read(id)
    await setStatus(first, 'rolled_back')
    expect((await read(id)).state).toBe('confirming')
    await setStatus(second, 'finalized')
    expect(await read(id)).toMatchObject({
      state: 'paid',
      payment: { paymentId: second },
      // Nothing is owed back of a payment that is gone.
      surplus: [],
    })
  })

  test('is known, however many unsigned ones of strangers are older', async () => {
    const { id, link } = await issue()
    const { paymentId } = (await pay(link)).json
    await asOwner(
      `insert into bff.link_payment (id, link_id, payment_id, status, created_at)
       select 'old_' || n, link_id, 'pay_' || repeat('1', 19) || translate((100 + n)::text, '0', 'z'), 'created',
         now() - interval '1 hour'
       from bff.link_payment, generate_series(1, 160) as n where payment_id = '${paymentId}'`,
    )
    await setStatus(paymentId, 'finalized')
    await read(id)
    expect((await read(id)).state).toBe('paid')
  })

  test('is known by its events, before anybody reads the invoice', async () => {
    await expect.poll(() => fixture.bff.context.hub.state).toBe('live')
    const { id, link } = await issue()
    const { paymentId } = (await pay(link)).json
    const { db } = fixture.service.context
    await db.update(payment).set({ draft: false }).where(eq(payment.id, paymentId))
    const { context } = fixture.bff
    const known = async () => {
      const ofPayment = eq(linkPayment.paymentId, paymentId)
      const [row] = await context.db.select().from(linkPayment).where(ofPayment)
      return [row?.status, row?.arrival]
    }
    for (const [status, arrival] of [
      ['pending', null],
      ['confirmed', 1],
      // The service is asked: an event that it was dropped may be an old one.
      ['rolled_back', 1],
      ['finalized', 1],
    ] as const) {
      await fixture.move(paymentId, status)
      await expect.poll(known).toEqual([status, arrival])
    }
    const [row] = await context.db.select().from(invoice).where(eq(invoice.id, id))
    expect(row?.paid).toBe(true)
  })

  test('is what the service says now, where old events of its confirmation and of a reorganization come again', async () => {
    await expect.poll(() => fixture.bff.context.hub.state).toBe('live')
    const { paymentId } = (await pay((await issue()).link)).json
    const { db } = fixture.service.context
    const now = { draft: false, status: 'finalized' } as const
    await db.update(payment).set(now).where(eq(payment.id, paymentId))
    const facts = { accountId: fixture.accountId, paymentId, source: 'watcher' as const }
    for (const status of ['confirmed', 'rolled_back'] as const)
      await db.transaction((tx) =>
        recordEvent(tx, { ...facts, status, blockHeight: null, at: new Date() }),
      )
    const known = async () => {
      const ofPayment = eq(linkPayment.paymentId, paymentId)
      const [row] = await fixture.bff.context.db.select().from(linkPayment).where(ofPayment)
      return row?.status
    }
    await expect.poll(known).toBe('finalized')
  })

  test('and those of thirty others, once all have changed, leave connections to everybody else', async () => {
    const { id, link } = await issue()
    const { paymentId } = (await pay(link)).json
    const { db } = fixture.service.context
    const [made] = await db.select().from(payment).where(eq(payment.id, paymentId))
    if (!made) throw new Error('The payment is not there.')
    const others = Array.from({ length: 30 }, () => createPaymentId())
    await db
      .insert(payment)
      .values(others.map((each) => ({ ...made, id: each, fingerprint: each })))
    await db
      .update(payment)
      .set({ status: 'confirmed' })
      .where(inArray(payment.id, [paymentId, ...others]))
    await asOwner(
      `insert into bff.link_payment (id, link_id, payment_id, status, created_at)
       select other, link_id, other, 'created', created_at
       from bff.link_payment, unnest(array['${others.join("','")}']) as other where payment_id = '${paymentId}'`,
    )
    const { context } = fixture.bff
    context.upstream.forgetReads()
    const asked = await context.db.transaction(async (tx) => {
      // Each that confirms has to wait for the link now.
      const ofPayment = tx
        .select({ id: linkPayment.linkId })
        .from(linkPayment)
        .where(eq(linkPayment.paymentId, paymentId))
      await tx.select().from(paymentLink).where(inArray(paymentLink.id, ofPayment)).for('update')
      const asked = read(id)
      const waiting = async () => {
        // A transaction sees what it saw first otherwise.
        await tx.execute('select pg_stat_clear_snapshot()')
        const { rows } = await tx.execute<{ count: string }>(
          `select count(*) as count from pg_stat_activity
           where datname = current_database() and wait_event_type = 'Lock'`,
        )
        return Number(rows[0]?.count)
      }
      await expect.poll(waiting).toBeGreaterThan(0)
      await context.db.$count(invoice)
      expect(await waiting()).toBe(1)
      return { asked }
    })
    expect(await asked.asked).toMatchObject({ state: 'confirming' })
    expect(await context.db.$count(linkPayment, inArray(linkPayment.paymentId, others))).toBe(30)
  })

  test('is known with its refunds for each of 30 invoices in a list, on the smallest plan', async () => {
    await using small = await Fixture.open({
      plan: 'standard',
      networks: [evm.network],
      bff: { sellerWallets: [seller.address], operatorWallets: [seller.address] },
    })
    const own = small.browser()
    await own.signIn(seller)
    const { invoice } = bodyOf<{ invoice: InvoiceBody }>(
      await own.post('/api/invoices/issue', {
        id: bodyOf<{ invoice: InvoiceBody }>(await own.post('/api/invoices', DRAFT)).invoice.id,
      }),
    )
    const { paymentId } = (await pay(invoice.link, small.browser())).json
    const { config, db } = small.bff.context
    const { db: service } = small.service.context
    await service.update(payment).set({ status: 'finalized' }).where(eq(payment.id, paymentId))
    await own.post('/api/invoices/read', { id: invoice.id })
    const [row] = await service.select().from(payment).where(eq(payment.id, paymentId))
    if (!row) throw new Error('The payment is not there.')
    const copies = Array.from({ length: 29 }, () => createPaymentId())
    await service.insert(payment).values(copies.map((id) => ({ ...row, id, fingerprint: id })))
    await executeAsOwner({ target: config.database, db }, copyInvoice(invoice.id, copies))
    const { invoices } = bodyOf<List>(await own.post('/api/invoices/list', { state: 'paid' }))
    expect(invoices).toHaveLength(30)
    expect(new Set(invoices.map((each) => each.payment?.refund))).toEqual(new Set(['none']))
  })

  test('of another amount is no payment of the invoice', async () => {
    const { id, link } = await issue()
    const answer = await fixture.browser().post('/api/link/pay', {
      link,
      walletAddress: buyerAddress,
      option: { network: evm.network.network, asset: 'ETH' },
      amount: 0.001,
    })
    expect(answer.json.error.details).toHaveProperty('amount')
    // The same recipient and reference, without the link.
    const own = await fixture.browser().post('/api/transaction/send', {
      walletAddress: buyerAddress,
      recipientAddress: seller.address,
      amount: 0.025,
      metadata: { referenceId: (await read(id)).number, paymentLink: 'lnk_of_the_invoice' },
    })
    await setStatus(own.json.paymentId, 'finalized')
    expect(await read(id)).toMatchObject({ state: 'open', payment: null })
  })
})

const RATE = { rate: '3000', source: 'a bank', observedAt: Date.now(), round: null }

test('an invoice that is paid after the quoted price has ended is marked late', async () => {
  const { id, link } = await issue()
  const { paymentId } = (await pay(link)).json
  await setStatus(paymentId, 'finalized')
  const { db } = fixture.service.context
  const expiresAt = Date.now()
  const quote = { ...RATE, currency: 'EUR', amount: '30', quotedAt: expiresAt - 1, expiresAt }
  const lands = async (at: number) => {
    const row = { metadata: JSON.stringify({ quote }), blockTime: new Date(at) }
    await db.update(payment).set(row).where(eq(payment.id, paymentId))
    fixture.bff.context.upstream.forgetReads()
    return read(id)
  }
  expect((await lands(expiresAt)).payment).toMatchObject({ paymentId, late: false })
  expect((await lands(expiresAt + 1)).payment).toMatchObject({ paymentId, late: true })
})

describe('a void invoice', () => {
  test('takes no payment, by its link either, until that is undone', async () => {
    const { id, link } = await issue()
    expect((await send('/void', { id })).state).toBe('void')
    expect(reasonOf(await pay(link))).toBe('link_withdrawn')
    // The page of links does not have it, so that nobody opens it again there.
    const links = bodyOf<{ short: { link: string; short: { id: string } }[] }>(
      await shop.get('/api/links'),
    ).short
    expect(links.map((each) => each.link)).not.toContain(link)
    const opened = bodyOf<OpenedShortLink>(await fixture.browser().post('/api/link/open', { link }))
    const restore = await shop.post('/api/links/restore', { id: opened.terms.id })
    expect(restore.status).toBe(404)
    expect((await send('/unvoid', { id })).state).toBe('open')
    expect((await pay(link)).status).toBe(200)
  })

  test('is none once a payment is on its way, and stays one once a payment came', async () => {
    const paid = await issue()
    await setStatus((await pay(paid.link)).json.paymentId, 'pending')
    expect(await refusal('/void', paid.id)).toBe('invoice_paid')
    const late = await issue()
    const { paymentId } = (await pay(late.link)).json
    await send('/void', { id: late.id })
    await setStatus(paymentId, 'finalized')
    expect(await read(late.id)).toMatchObject({
      state: 'void',
      payment: null,
      surplus: [paymentId],
    })
    expect(await refusal('/unvoid', late.id)).toBe('invoice_paid')
  })

  test('and its payers: whichever of a void and ten payers is first, no payment is built after it', async () => {
    const { id, link } = await issue()
    const [voided, ...answers] = await Promise.all([
      shop.post('/api/invoices/void', { id }),
      ...Array.from({ length: 10 }, () => pay(link)),
    ])
    expect(voided?.status).toBe(200)
    expect(answers.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(1)
    expect(reasonOf(await pay(link))).toBe('link_withdrawn')
  })
})

describe('the customers of invoices', () => {
  test('are found by name and e-mail address, and numbers by a part', async () => {
    const { id, number } = await issue({ customer: { name: 'Bo 100%', email: 'bo@post.example' } })
    for (const q of ['bo 100%', 'BO@post', number ?? ''])
      expect(
        (await list({ q })).invoices.map((each) => each.id),
        q,
      ).toContain(id)
    for (const q of ['100_', 'nobody', String.raw`\%`])
      expect(
        (await list({ q })).invoices.map((each) => each.id),
        q,
      ).not.toContain(id)
  })

  test('are names alone to a viewer, who finds nobody by an e-mail address either', async () => {
    const { id } = await issue({ customer: { ...ANA, email: 'viewed@post.example' } })
    const reader = evmWallet()
    const viewer = fixture.browser()
    await viewer.signIn(reader)
    await asOwner(
      `insert into bff.wallet_role values ('${reader.address}', 'viewer', '${seller.address}', now())`,
    )
    expect((await send('/read', { id }, viewer)).customer).toEqual({
      id: expect.any(String),
      name: ANA.name,
      email: null,
      address: null,
    })
    const found = await viewer.post('/api/invoices/list', { q: 'viewed@post' })
    expect(found.json).toMatchObject({ invoices: [] })
    expect((await viewer.get('/api/invoices/customers')).status).toBe(403)
    expect((await list({ q: 'viewed@post' })).invoices).toHaveLength(1)
  })

  test('are erased with everything personal, while number, amount and payment stay', async () => {
    const first = await issue({ customer: ANA, note: 'Reverse charge.' })
    const draft = await save({ customer: ANA, note: 'For Ana.' })
    const second = await issue({ customer: { ...ANA, email: 'ana@post.example', name: 'Ana' } })
    await setStatus((await pay(first.link)).json.paymentId, 'finalized')
    const { deleted } = bodyOf<{ deleted: number }>(
      await shop.post('/api/invoices/forget-customer', { id: first.customer?.id }),
    )
    expect(deleted).toBeGreaterThanOrEqual(2)
    expect(await read(first.id)).toMatchObject({
      customer: null,
      number: first.number,
      total: '0.025',
      note: 'Reverse charge.',
      state: 'paid',
    })
    expect((await read(second.id)).customer).toBeNull()
    expect(await read(draft.id)).toMatchObject({ customer: null, note: null })
    const { customers } = bodyOf<{ customers: InvoiceCustomer[] }>(
      await shop.get('/api/invoices/customers'),
    )
    expect(JSON.stringify(customers)).not.toMatch(/ana@/i)
  })

  test('are exported and removed with the wallet that paid and with its e-mail address, and of nobody else', async () => {
    const ZOE = { name: 'Zoe Q.', email: 'zoe@post.example', address: '2 Quay' }
    const zoe = (await evm.wallet(10n ** 20n)).address
    const paidBy = async (wallet: string, fields: object) => {
      const made = await issue(fields)
      await setStatus((await pay(made.link, undefined, wallet)).json.paymentId, 'finalized')
      return read(made.id)
    }
    const paid = await paidBy(zoe, { customer: ZOE, note: 'Reverse charge.' })
    await shop.post('/api/customers/profiles', { walletAddress: zoe, email: 'Zoe@post.example' })
    const sameMail = await issue({ customer: { name: 'Z.', email: 'ZOE@post.example' } })
    const draft = await save({ customer: { ...ZOE, address: '3 Quay' }, note: 'For Zoe.' })
    const nameless = await paidBy(zoe, { customer: { name: 'Zoe' } })
    const namesake = await issue({ customer: { name: 'Zoe' }, note: 'Another Zoe.' })
    const ben = { name: 'Ben', email: 'ben@post.example' }
    const other = await paidBy(buyerAddress, { customer: ben, note: 'Dear Ben.' })
    // Only the merchant's own word ties an e-mail address to a wallet: anybody may type one at checkout.
    await insertContact(fixture.bff.context.db, {
      paymentId: paid.payment?.paymentId ?? '',
      email: ben.email,
      sender: zoe,
      createdAt: new Date(),
    })
    await using neighbour = await Fixture.open({
      networks: [evm.network],
      bff: { sellerWallets: [seller.address], operatorWallets: [seller.address] },
    })
    const theirs = neighbour.browser()
    await theirs.signIn(seller)
    const { id: elsewhere } = await send('', { ...DRAFT, customer: ZOE }, theirs)

    const personal = (name: string) =>
      shop.post(`/api/customers/profiles/${name}`, { walletAddress: zoe })
    const exported = bodyOf<CustomerExport>(await personal('export'))
    expect(exported.invoices.map(({ id }) => id)).toEqual([
      paid.id,
      sameMail.id,
      draft.id,
      nameless.id,
    ])
    expect(exported.invoices[0]).toEqual({
      id: paid.id,
      number: paid.number,
      issuedOn: paid.issuedOn,
      currency: 'ETH',
      total: '0.025',
      ...ZOE,
      note: 'Reverse charge.',
    })

    for (let repeated = 0; repeated < 2; repeated++)
      expect((await personal('delete')).status).toBe(200)
    for (const before of [paid, sameMail, nameless]) {
      const gone = { customer: null, customerRemovedAt: expect.any(Number) }
      expect(await read(before.id)).toEqual({ ...before, ...gone })
    }
    const without = { customer: null, note: null }
    const changed = { ...draft.draft, version: expect.any(String) }
    expect(await read(draft.id)).toEqual({ ...draft, ...without, draft: changed })
    for (const before of [namesake, other]) expect(await read(before.id)).toEqual(before)
    expect((await send('/read', { id: elsewhere }, theirs)).customer).toMatchObject(ZOE)
    const left = await shop.get('/api/invoices/customers')
    expect(left.text).not.toMatch(/zoe@|[23] Quay/i)
    expect(left.text).toMatch(/"Zoe"/)
    expect(bodyOf<CustomerExport>(await personal('export'))).toMatchObject({
      profile: null,
      checkouts: [],
    })
    expect((await personal('export')).text).not.toMatch(/post\.example|Quay|Zoe/)
    // A removal cannot be undone.
    for (const change of ['customer_removed_at = null', `note = 'Dear Zoe.'`, 'note = null'])
      await expect(
        asOwner(`update bff.invoice set ${change} where id = '${paid.id}'`),
      ).rejects.toThrow(/is a record of a payment/)
  })

  test('that a profile of the merchant names are removed with the profile', async () => {
    const { address: walletAddress } = evmWallet()
    const customer = { name: 'Dora', email: 'dora@post.example' }
    await shop.post('/api/customers/profiles', { walletAddress, email: 'Dora@post.example' })
    const made = await issue({ customer })
    await shop.post('/api/customers/profiles/delete', { walletAddress })
    expect(await read(made.id)).toMatchObject({ number: made.number, customer: null })
  })

  test('are not of a wallet that paid too late, or got it back, nor by the e-mail address of what it paid', async () => {
    const ALICE = { name: 'Alice', email: 'alice@post.example' }
    const stranger = (await evm.wallet(10n ** 20n)).address
    const alice = (await evm.wallet(10n ** 20n)).address
    const { db } = fixture.service.context
    const land = async ({ json }: BrowserResponse, id: string) => {
      await setStatus(json.paymentId, 'finalized')
      await read(id)
      return json.paymentId
    }
    const giveBack = async (refundOf: string) => {
      const [row] = await db.select().from(payment).where(eq(payment.id, refundOf))
      const { accountId } = fixture
      const facts = { amount: row?.amount ?? 0n, status: 'confirmed' as const }
      await insertTestPayment(db, { id: createPaymentId(), accountId, refundOf, ...facts })
      fixture.bff.context.upstream.forgetReads()
    }
    // Both pay one invoice: the stranger's payment is surplus, and is refunded afterwards.
    const shared = await issue({ customer: ALICE })
    const first = await pay(shared.link, undefined, alice)
    await asOwner(
      `update bff.link_payment set created_at = now() - interval '121 seconds' where payment_id = '${first.json.paymentId}'`,
    )
    const second = await pay(shared.link, undefined, stranger)
    await land(first, shared.id)
    const late = await land(second, shared.id)
    const other = await issue({ customer: ALICE })
    const returned = await issue({ customer: ALICE })
    await giveBack(await land(await pay(returned.link, undefined, stranger), returned.id))
    const exported = async (walletAddress: string) =>
      bodyOf<CustomerExport>(
        await shop.post('/api/customers/profiles/export', { walletAddress }),
      ).invoices.map(({ id }) => id)
    expect(await exported(stranger)).toEqual([])
    await giveBack(late)
    expect(await exported(stranger)).toEqual([])
    expect(await exported(alice)).toEqual([shared.id])
    await shop.post('/api/customers/profiles/delete', { walletAddress: stranger })
    for (const { id } of [shared, other, returned])
      expect((await read(id)).customer).toMatchObject(ALICE)
    // Only people of the account tie an e-mail address to a wallet.
    await shop.post('/api/customers/profiles', { walletAddress: alice, email: ALICE.email })
    expect(await exported(alice)).toEqual([shared.id, other.id, returned.id])
  })

  test('go with the last draft of theirs', async () => {
    const names = async () => {
      const { customers } = bodyOf<{ customers: InvoiceCustomer[] }>(
        await shop.get('/api/invoices/customers'),
      )
      return customers.map(({ name }) => name).filter((name) => name.startsWith('Eva'))
    }
    const customer = { name: 'Eva', address: '4 Quay' }
    const [one, other] = [await save({ customer }), await save({ customer })]
    await save({ id: one.id, customer: { name: 'Eva R.', address: '5 Quay' } })
    expect((await names()).toSorted()).toEqual(['Eva', 'Eva R.'])
    await save({ id: one.id })
    expect(await names()).toEqual(['Eva'])
    expect((await shop.post('/api/invoices/delete', { id: other.id })).status).toBe(200)
    expect(await names()).toEqual([])
    // One that is issued keeps its customer, whatever becomes of a draft.
    const draft = await save({ customer })
    const issued = await issue({ customer })
    await Promise.all([
      shop.post('/api/invoices/delete', { id: draft.id }),
      ...Array.from({ length: 5 }, () => save({ customer })),
    ])
    expect((await read(issued.id)).customer).toMatchObject(customer)
    expect(await names()).toEqual(['Eva'])
  })

  test('with the same particulars are one', async () => {
    const customer = { name: 'Cy' }
    const [one, other] = [await save({ customer }), await save({ customer })]
    expect(one.customer?.id).toBe(other.customer?.id)
  })
})

test('the list has pages of fifty, and no invoice twice', async () => {
  for (let index = 0; index < 4; index++)
    await Promise.all(Array.from({ length: 14 }, () => save()))
  const first = await list()
  const second = await list({ before: first.next })
  expect(first.invoices).toHaveLength(50)
  const ids = [...first.invoices, ...second.invoices].map(({ id }) => id)
  expect(new Set(ids).size).toBe(ids.length)
})

// Last: the clock does not go back.
test('an invoice is overdue on the day after it was due, and can still be paid', async () => {
  const { id, link } = await issue({ dueOn: dayIn(0) })
  expect((await read(id)).state).toBe('open')
  offset = DAY
  shop = fixture.browser()
  await shop.signIn(seller)
  expect((await read(id)).state).toBe('overdue')
  expect((await list({ state: 'overdue' })).invoices.map((each) => each.id)).toContain(id)
  expect((await pay(link)).status).toBe(200)
})
