import { and, eq, inArray, isNotNull, isNull } from 'drizzle-orm'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { MAIL_KINDS, type MailKind, type MailSettings } from '#contract/mail-endpoints.ts'
import type { Role } from '#contract/role.ts'
import { createPaymentId, createId } from '#contract/payment.ts'
import { GRANTED } from '#service/db/claims.ts'
import { event, unmatchedTransfer } from '#service/db/schema/payment.ts'
import { claim } from '#service/db/schema/proof.ts'
import { webhookDelivery, webhookEndpoint } from '#service/db/schema/webhook.ts'
import { lastEventId } from '#service/events/read.ts'
import { examples } from '#service/openapi/examples.ts'
import { ApiClient, succeed } from '#testing/api-client.ts'
import { Fixture } from '#testing/fixture.ts'
import { MailServer, type ReceivedMail } from '#testing/mail-server.ts'
import { executeAsOwner } from '#testing/postgres.ts'
import { insertTestPayment } from '#testing/service-app.ts'
import { signRefundRequest } from '#testing/tenant-orders.ts'
import { evmWallet, type TestBrowser, type TestWallet } from '#testing/test-browser.ts'
import { createBff, type RunningBff } from '../bff.ts'
import { insertContact } from '../db/contacts.ts'
import { deleteOldMail, findMailAddress, startPosition } from '../db/mail.ts'
import { mailAddress, mailCursor, mailItem, mailMessage } from '../db/mail-schema.ts'
import { removeRole } from '../db/people.ts'
import { walletRole } from '../db/schema.ts'
import { renderMail } from './render.ts'
import { MailTransport } from './transport.ts'

const DAY_MS = 86_400_000
const PUBLIC_URL = 'https://pay-api.example.com'
const { sender, recipient } = examples.paymentStatus.reply

let fixture: Fixture
let server: MailServer
/** Another process on the same database. */
let replica: RunningBff
let owner: { wallet: TestWallet; browser: TestBrowser }
let ahead = 0
const now = () => new Date(Date.now() + ahead)
const overrides = { now, mailEveryMs: 40 }

/** A Paydesk whose e-mails go to the server. */
function open(operatorWallets: string[], mailEveryMs = overrides.mailEveryMs) {
  return Fixture.open({
    // Events are looked for far more often than in a real process.
    plan: 'premium',
    bff: {
      operatorWallets,
      mail: {
        server: { host: '127.0.0.1', port: server.port, secure: false, requireTLS: false },
        from: { name: 'Test shop', address: 'shop@example.com' },
        dashboardUrl: 'https://pay.example.com',
        publicUrl: PUBLIC_URL,
      },
    },
    overrides: { now, mailEveryMs },
  })
}

beforeAll(async () => {
  server = await MailServer.open()
  const wallet = evmWallet()
  fixture = await open([wallet.address])
  await fixture.registerPayee(recipient)
  replica = await createBff(
    { ...fixture.bff.context.config, port: 0 },
    { ...overrides, logTo: { write: (line: string) => void fixture.log.push(line) } },
  )
  owner = { wallet, browser: fixture.browser() }
})
afterAll(async () => {
  await replica?.[Symbol.asyncDispose]()
  await fixture?.[Symbol.asyncDispose]()
  await server?.[Symbol.asyncDispose]()
})
beforeEach(async () => {
  // What one address may ask in a minute is not what is tried.
  ahead += 61_000
  server.answer = () => 250
  await asOwner('truncate bff.mail_address, bff.mail_message, bff.mail_item, bff.mail_cursor')
})

const asOwner = (statement: string) => {
  const { config, db } = fixture.bff.context
  return executeAsOwner({ target: config.database, db }, statement)
}
const settingsIn = ({ json }: { json: unknown }) => json as MailSettings
const save = (browser: TestBrowser, body: object) =>
  browser.post('/api/mail', { language: 'en', kinds: MAIL_KINDS, ...body })
const codeIn = ({ mail }: ReceivedMail) => /\b\d{8}\b/.exec(mail.text ?? '')?.[0] ?? ''
const headerOf = ({ mail }: ReceivedMail, name: string) =>
  mail.headerLines.find(({ key }) => key === name)?.line.replace(/^[^:]*:\s*/, '')
const isNews = (received: ReceivedMail) => headerOf(received, 'list-unsubscribe') !== undefined
const newsTo = (address: string) => server.to(address).filter(isNews)
const subjectsTo = (address: string) => newsTo(address).map(({ mail }) => mail.subject)

let count = 0
const newAddress = () => `person${(count += 1)}@example.com`

async function memberOf(role: Role): Promise<{ wallet: TestWallet; browser: TestBrowser }> {
  const wallet = evmWallet()
  await fixture.bff.context.db
    .insert(walletRole)
    .values({ wallet: wallet.address, role, givenBy: owner.wallet.address, givenAt: now() })
  const browser = fixture.browser()
  await browser.signIn(wallet)
  return { wallet, browser }
}

async function newestCode(address: string, codes = 1): Promise<string> {
  await expect.poll(() => server.to(address).filter((each) => !isNews(each))).toHaveLength(codes)
  const [newest] = server
    .to(address)
    .filter((each) => !isNews(each))
    .slice(-1)
  return newest ? codeIn(newest) : ''
}

/** A person whose address is confirmed, and who is sent what happens from now on. */
async function subscriber(
  kinds: readonly MailKind[],
  { role = 'viewer', language = 'en' }: { role?: Role; language?: string } = {},
) {
  const member = await memberOf(role)
  const address = newAddress()
  const saved = await save(member.browser, { address, language, kinds })
  expect(saved.status, saved.text).toBe(200)
  const code = await newestCode(address)
  const confirmed = await member.browser.post('/api/mail/confirm', { code })
  expect(confirmed.status, confirmed.text).toBe(200)
  await untilRead()
  return { ...member, address }
}

/** The events are read up to the newest one. */
async function untilRead(): Promise<void> {
  const { db } = fixture.service.context
  const isRead = async () => {
    const [cursor] = await fixture.bff.context.db.select().from(mailCursor)
    const left = await db.$count(event, isNull(event.number))
    return left === 0 && cursor?.position === (await lastEventId(db, fixture.accountId))
  }
  await expect.poll(isRead).toBe(true)
}

/** Everything up to now is sent, but for what waits for a digest. */
async function untilSent({ digests = false } = {}): Promise<void> {
  await untilRead()
  const { db } = fixture.bff.context
  const isSent = async () =>
    (digests || (await db.$count(mailItem, isNull(mailItem.messageId))) === 0) &&
    (await db.$count(mailMessage, eq(mailMessage.state, 'pending'))) === 0
  await expect.poll(isSent).toBe(true)
}

async function pay(status: 'confirmed' | 'failed' = 'confirmed'): Promise<string> {
  const id = await fixture.createPayment({ recipient })
  await fixture.move(id, status)
  return id
}

describe('an address', () => {
  test('is sent nothing but a code until its person confirms it', async () => {
    const other = await subscriber(['payment_confirmed'])
    const { browser } = await memberOf('viewer')
    const address = newAddress()
    expect(settingsIn(await save(browser, { address })).settings).toMatchObject({
      address,
      confirmed: false,
    })
    const code = await newestCode(address)
    const paymentId = await pay()
    await expect.poll(() => newsTo(other.address)).toHaveLength(1)
    expect(server.to(address)).toHaveLength(1)
    // The code counts in the session of the person who asked for it, and once.
    expect((await other.browser.post('/api/mail/confirm', { code })).status).toBe(400)
    const confirmed = await browser.post('/api/mail/confirm', { code })
    expect(settingsIn(confirmed).settings).toMatchObject({ confirmed: true })
    expect((await browser.post('/api/mail/confirm', { code })).status).toBe(400)
    await untilRead()
    await fixture.move(paymentId, 'finalized')
    await expect.poll(() => subjectsTo(address)).toHaveLength(1)
  })

  test('is confirmed by none of six guesses, not even by the right code after five', async () => {
    const { browser } = await memberOf('viewer')
    const address = newAddress()
    await save(browser, { address })
    const code = await newestCode(address)
    const wrong = code === '00000000' ? '11111111' : '00000000'
    const tries = await Promise.all(
      Array.from({ length: 5 }, () => browser.post('/api/mail/confirm', { code: wrong })),
    )
    expect(tries.map(({ status }) => status)).toEqual([400, 400, 400, 400, 400])
    expect((await browser.post('/api/mail/confirm', { code })).status).toBe(400)
  })

  test('is not confirmed by a code that is older than an hour', async () => {
    const { browser } = await memberOf('viewer')
    const address = newAddress()
    await save(browser, { address })
    const code = await newestCode(address)
    ahead += 61 * 60_000
    await browser.signIn((await memberOf('viewer')).wallet)
    expect((await browser.post('/api/mail/confirm', { code })).status).not.toBe(200)
  })

  test('gets at most five codes in a day, from one person or from several', async () => {
    const people = [await memberOf('viewer'), await memberOf('viewer'), await memberOf('viewer')]
    const address = newAddress()
    const asked = []
    for (let index = 0; index < 6; index++)
      asked.push(await save(people[index % 2]!.browser, { address }))
    expect(asked.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 429])
    expect((await save(people[2]!.browser, { address: address.toUpperCase() })).status).toBe(429)
    await untilDelivered(address, 5)
    // A person who deletes the address and begins again has no more.
    await people[0]!.browser.post('/api/mail/delete', {})
    expect((await save(people[0]!.browser, { address })).status).toBe(429)
  })

  test.each([
    'a@example.com\r\nBcc: b@example.com',
    'a@example.com, b@example.com',
    'a b@c.example',
    '"a b"@c.example',
    'ä@example.com',
  ])('is one plain address: %j is none', async (address) => {
    const { browser } = await memberOf('viewer')
    expect((await save(browser, { address })).status).toBe(400)
  })

  test('is deleted with the role of its person', async () => {
    const { db } = fixture.bff.context
    const { wallet } = await subscriber(MAIL_KINDS)
    await owner.browser.signIn(owner.wallet)
    const removed = await owner.browser.post('/api/people/remove', {
      walletAddress: wallet.address,
    })
    expect(removed.status, removed.text).toBe(200)
    expect(await findMailAddress(db, wallet.address)).toBeUndefined()
  })

  test('that is deleted, or changed, is sent nothing more', async () => {
    const [kept, deleted, changed] = [
      await subscriber(['payment_confirmed']),
      await subscriber(['payment_confirmed']),
      await subscriber(['payment_confirmed']),
    ]
    const next = newAddress()
    expect(settingsIn(await deleted.browser.post('/api/mail/delete', {})).settings).toBeNull()
    await save(changed.browser, { address: next })
    await pay()
    await expect.poll(() => newsTo(kept.address)).toHaveLength(1)
    await untilSent()
    expect([deleted.address, changed.address, next].flatMap(newsTo)).toEqual([])
  })
})

test('a confirmed address that is changed or deleted is told so once, and the log says who did it', async () => {
  const [changed, deleted, fresh] = [
    await subscriber(MAIL_KINDS, { language: 'es' }),
    await subscriber(MAIL_KINDS),
    await memberOf('viewer'),
  ]
  const next = newAddress()
  // Without a recipient nothing is read.
  await subscriber(MAIL_KINDS)
  await save(changed.browser, { address: next, language: 'zh-CN' })
  await deleted.browser.post('/api/mail/delete', {})
  const unconfirmed = newAddress()
  await save(fresh.browser, { address: unconfirmed })
  await save(fresh.browser, { address: newAddress() })
  await untilSent()
  const toldTo = (address: string) =>
    server.to(address).flatMap((each) => (codeIn(each) === '' ? [each.mail] : []))
  for (const [{ address }, subject] of [
    [changed, 'Dirección de correo cambiada'],
    [deleted, 'Email address changed'],
  ] as const) {
    expect(toldTo(address).map((mail) => mail.subject)).toEqual([subject])
    expect(toldTo(address)[0]?.text).toContain('https://pay.example.com/settings')
    expect(toldTo(address)[0]?.text).not.toContain(next)
  }
  expect([next, unconfirmed].flatMap(toldTo)).toEqual([])
  const rows = await fixture.bff.context.db.select().from(mailMessage)
  expect(rows.filter(({ earlier }) => earlier !== null)).toEqual([])
  await owner.browser.signIn(owner.wallet)
  const { text } = await owner.browser.post('/api/audit-log/read', {})
  const { entries } = JSON.parse(text) as { entries: { wallet: string; action: string }[] }
  const actionsOf = ({ wallet }: { wallet: TestWallet }) =>
    entries.flatMap((entry) => (entry.wallet === wallet.address ? [entry.action] : []))
  expect(actionsOf(changed)).toEqual(['mailWrite', 'mailWrite'])
  expect(actionsOf(deleted)).toEqual(['mailDelete', 'mailWrite'])
  expect(text).not.toContain('@example.com')
})

async function untilDelivered(address: string, mails: number): Promise<void> {
  await expect.poll(() => server.to(address)).toHaveLength(mails)
}

describe('an event', () => {
  test('between the confirmation of the first address and the next round is sent too', async () => {
    const wallet = evmWallet()
    await using slow = await open([wallet.address], 4_000)
    await slow.registerPayee(recipient)
    const browser = slow.browser()
    await browser.signIn(wallet)
    const address = newAddress()
    expect((await save(browser, { address, kinds: ['payment_confirmed'] })).status).toBe(200)
    // A round has just sent the code: the next one is seconds away.
    const code = await newestCode(address)
    expect((await browser.post('/api/mail/confirm', { code })).status).toBe(200)
    await slow.move(await slow.createPayment({ recipient }), 'confirmed')
    await expect.poll(() => subjectsTo(address)).toEqual(['0.01 ETH received'])
  })

  test('after the first confirmation is sent too, where a process found nobody just before it', async () => {
    const wallet = evmWallet()
    await using slow = await open([wallet.address], 2_000)
    await slow.registerPayee(recipient)
    const browser = slow.browser()
    await browser.signIn(wallet)
    const address = newAddress()
    expect((await save(browser, { address, kinds: ['payment_confirmed'] })).status).toBe(200)
    await newestCode(address)
    const { db } = slow.bff.context
    const last = (await lastEventId(slow.service.context.db, slow.accountId)) ?? 0n
    await startPosition(db, last)
    const waits = async () =>
      (
        await db.execute(
          "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
        )
      ).rows.length
    await db.transaction(async (tx) => {
      await tx.select().from(mailCursor).for('update')
      // It found nobody, and waits for this transaction to forget the position.
      await expect.poll(waits).toBe(1)
      await tx.update(mailAddress).set({ confirmedAt: now() })
      await startPosition(tx, last)
    })
    await slow.move(await slow.createPayment({ recipient }), 'confirmed')
    await expect.poll(() => subjectsTo(address)).toEqual(['0.01 ETH received'])
  })

  test('is sent once to each person who wants it, by two processes', async () => {
    const wants = [await subscriber(['payment_confirmed']), await subscriber(MAIL_KINDS)]
    const others = [await subscriber(['payment_finalized']), await subscriber([])]
    const paymentId = await pay()
    const failed = await pay('failed')
    await untilSent()
    for (const { address } of wants) {
      await expect.poll(() => subjectsTo(address)).toEqual(['0.01 ETH received'])
      const [{ mail }] = newsTo(address) as [ReceivedMail]
      expect(mail.text).toContain(`https://pay.example.com/payments/${paymentId}`)
      expect(mail.text).toContain(sender)
      expect(mail.text).not.toContain(failed)
      expect(mail.from?.value).toEqual([{ name: 'Test shop', address: 'shop@example.com' }])
    }
    await fixture.move(paymentId, 'pending')
    await fixture.move(paymentId, 'confirmed')
    await untilSent()
    expect(wants.flatMap(({ address }) => newsTo(address))).toHaveLength(2)
    expect(others.flatMap(({ address }) => newsTo(address))).toEqual([])
  })

  test('is in the language of the person', async () => {
    const [es, zh] = [
      await subscriber(['payment_confirmed'], { language: 'es' }),
      await subscriber(['payment_confirmed'], { language: 'zh-CN' }),
    ]
    await pay()
    await expect.poll(() => subjectsTo(es.address)).toEqual(['0,01 ETH recibidos'])
    await expect.poll(() => subjectsTo(zh.address)).toEqual(['已收到 0.01 ETH'])
  })

  test('goes to nobody who lost the role, not even where it was written already', async () => {
    const [kept, lost] = [
      await subscriber(['payment_confirmed']),
      await subscriber(['payment_confirmed']),
    ]
    server.answer = () => 451
    await pay()
    const { db } = fixture.bff.context
    const people = [kept.wallet.address, lost.wallet.address]
    const refused = and(inArray(mailMessage.wallet, people), isNotNull(mailMessage.failure))
    // Neither is being offered any more when the server begins to accept.
    await expect.poll(() => db.$count(mailMessage, refused)).toBe(2)
    await removeRole(db, lost.wallet.address, { configured: false })
    server.answer = () => 250
    ahead += 61_000
    await pay()
    await expect.poll(() => newsTo(kept.address)).toHaveLength(2)
    await untilSent()
    expect(newsTo(lost.address)).toEqual([])
  })

  test('of the inbox is sent too: failed refunds, unmatched money, webhooks', async () => {
    const { service } = fixture
    const { db } = service.context
    const person = await subscriber(['unmatched', 'refund_failed', 'webhook_dead'])
    const paid = await pay()
    const refund = createPaymentId()
    const { accountId } = fixture
    await insertTestPayment(db, { id: refund, accountId, refundOf: paid, sender: recipient })
    await fixture.move(refund, 'created')
    await fixture.move(refund, 'failed')
    const id = createId('umt')
    const { network, asset, symbol, decimals, amountAtomic } = examples.paymentStatus.reply
    await db.insert(unmatchedTransfer).values({
      id,
      accountId,
      network,
      asset,
      symbol,
      decimals,
      amount: BigInt(amountAtomic),
      signature: '0x01',
      sender,
      recipient,
      blockHeight: 1,
      blockTime: now(),
    })
    const endpointId = createId('whk')
    await db.insert(webhookEndpoint).values({
      id: endpointId,
      accountId,
      url: 'https://shop.example/hook',
      events: [],
      secrets: [],
      cursor: 0n,
      enabled: false,
    })
    await db.insert(webhookDelivery).values({
      endpointId,
      id: 'evt_1',
      paymentId: paid,
      type: 'payment.confirmed',
      state: 'dead',
      nextAttemptAt: now(),
      retryUntil: now(),
      lastAttemptAt: now(),
      createdAt: now(),
    })
    ahead += 61_000
    await expect
      .poll(() => subjectsTo(person.address).toSorted((a, b) => String(a).localeCompare(String(b))))
      .toEqual([
        'Refund failed: 0.01 ETH',
        'Unmatched payment: 0.01 ETH',
        'Webhook delivery failed',
      ])
    // The lists are read again: what is still in them was sent.
    ahead += 61_000
    const barrier = await subscriber(['payment_confirmed'])
    await pay()
    await expect.poll(() => newsTo(barrier.address)).toHaveLength(1)
    expect(newsTo(person.address)).toHaveLength(3)
  })

  test('of a payer who asks for a refund is sent, and of a payment that nobody was told of after two minutes', async () => {
    const { service, accountId } = fixture
    const { db } = service.context
    const person = await subscriber(['undelivered', 'refund_request'])
    const other = await subscriber(
      MAIL_KINDS.filter((kind) => kind !== 'undelivered' && kind !== 'refund_request'),
    )
    const payer = privateKeyToAccount(generatePrivateKey())
    const network = 'eip155:31337' as const
    const paid = async () => {
      const id = createPaymentId()
      const facts = { network, sender: payer.address, recipient, createdAt: now() }
      await insertTestPayment(db, { id, accountId, ...facts })
      await fixture.move(id, 'created')
      await fixture.move(id, 'confirmed')
      return id
    }
    const [asked, undelivered, told] = [await paid(), await paid(), await paid()]
    // As settlements leave them: of one the caller had gone, of the other one was told.
    for (const [paymentId, attempt] of [
      [undelivered, crypto.randomUUID()],
      [told, GRANTED],
    ] as const)
      await db.insert(claim).values({
        scope: accountId,
        accountId,
        exclusive: false,
        network,
        key: `txid:${paymentId}`,
        fingerprint: '',
        attempt,
        paymentId,
        checks: '[]',
        leaseUntil: new Date(),
        consumedAt: new Date(),
      })
    const api = new ApiClient(service.url, fixture.key)
    const { body } = succeed(await api.get(`/refund-requests/${asked}`))
    const signed = await signRefundRequest({ evm: { network: { network } } }, payer, body)
    succeed(await api.post('/refund-requests', signed))
    // The service's clock is not ahead.
    await executeAsOwner(
      { target: service.context.config.database, db },
      `update service.refund_request set created_at = '${now().toISOString()}' where payment_id = '${asked}'`,
    )

    ahead += 61_000
    await expect.poll(() => subjectsTo(person.address)).toEqual(['Refund requested: 0.01 ETH'])
    ahead += 61_000
    await expect
      .poll(() => subjectsTo(person.address))
      .toEqual(['Refund requested: 0.01 ETH', 'Paid, not delivered: 0.01 ETH'])
    for (const [index, paymentId] of [asked, undelivered].entries()) {
      const text = newsTo(person.address)[index]?.mail.text
      expect(text).toContain(`https://pay.example.com/payments/${paymentId}`)
      expect(text).toContain(`Payer: ${payer.address}`)
      expect(text).toContain('Network: Local Ethereum')
    }
    // The lists are read again: what is still in them was sent.
    ahead += 61_000
    await pay()
    await untilSent()
    expect(newsTo(person.address)).toHaveLength(2)
    expect(new Set(subjectsTo(other.address))).toEqual(new Set(['0.01 ETH received']))
  })
})

describe('the mail server', () => {
  test('is asked again while it is down or says 4xx, with the same Message-ID', async () => {
    const person = await subscriber(['payment_confirmed'])
    await server.stop()
    await pay()
    const { db } = fixture.bff.context
    const stateOf = async () =>
      (await db.select().from(mailMessage)).filter(({ kind }) => kind === 'event')
    await expect.poll(async () => (await stateOf())[0]?.failure).toMatch(/ESOCKET|ECONN/)
    server.answer = () => 451
    await server.start()
    ahead += 61_000
    await expect.poll(async () => (await stateOf())[0]?.failure).toMatch(/451/)
    expect(newsTo(person.address)).toEqual([])
    server.answer = () => 250
    ahead += 121_000
    await expect.poll(() => newsTo(person.address)).toHaveLength(1)
    await untilSent()
    const [row] = await stateOf()
    expect(row).toMatchObject({ state: 'sent', attempts: 3, failure: null })
    expect(newsTo(person.address)[0]?.mail.messageId).toBe(`<${row?.id}@example.com>`)
  })

  test('that took a message before its answer was lost gets it again with the same Message-ID', async () => {
    const person = await subscriber(['payment_confirmed'])
    await pay()
    await expect.poll(() => newsTo(person.address)).toHaveLength(1)
    await untilSent()
    // As if the process had ended between the server's answer and its note of it.
    await asOwner(`update bff.mail_message set state = 'pending' where kind = 'event'`)
    ahead += 61_000
    await expect.poll(() => newsTo(person.address)).toHaveLength(2)
    const ids = newsTo(person.address).map(({ mail }) => mail.messageId)
    expect(new Set(ids).size).toBe(1)
  })

  test('that says 5xx is not asked again, and the page says so until one is sent', async () => {
    const person = await subscriber(['payment_confirmed'])
    server.answer = (to) => (to === person.address ? 550 : 250)
    await pay()
    const failedAt = async () =>
      settingsIn(await person.browser.get('/api/mail')).settings?.failedAt ?? null
    await expect.poll(failedAt).not.toBeNull()
    const { offered } = server
    ahead += 61_000
    const other = await subscriber(['payment_confirmed'])
    server.answer = () => 250
    await pay()
    await expect.poll(() => newsTo(other.address)).toHaveLength(1)
    await expect.poll(() => newsTo(person.address)).toHaveLength(1)
    expect(server.offered - offered).toBe(3)
    await expect.poll(failedAt).toBeNull()
  })

  test('that takes nothing for a day has its messages given up', async () => {
    const person = await subscriber(['payment_confirmed'])
    server.answer = () => 451
    await pay()
    const { db } = fixture.bff.context
    const attempts = async () =>
      (await db.select().from(mailMessage)).find(({ kind }) => kind === 'event')
    for (let attempt = 1; attempt <= 29; attempt++) {
      await expect.poll(async () => (await attempts())?.attempts).toBe(attempt)
      ahead += 3_601_000
    }
    await expect.poll(async () => (await attempts())?.state).toBe('dead')
    expect(newsTo(person.address)).toEqual([])
  })

  test('is told nothing over a connection without TLS where TLS is required', async () => {
    const from = { name: '', address: 'shop@example.com' }
    const common = { from, dashboardUrl: '', publicUrl: '' }
    const mail = { id: 'mal_1', to: 'a@example.com', subject: 'x', text: 'x' }
    const auth = { user: 'paydesk', pass: 'secret' }
    await using selfSigned = await MailServer.open({ disabledCommands: [] })
    for (const { port, failure } of [
      { port: server.port, failure: /ETLS|ESOCKET/ },
      { port: selfSigned.port, failure: /ESOCKET|CERT/ },
    ]) {
      const transport = new MailTransport({
        ...common,
        server: { host: '127.0.0.1', port, secure: false, requireTLS: true, auth },
      })
      expect(await transport.send(mail)).toMatchObject({
        ok: false,
        kind: 'later',
        failure: expect.stringMatching(failure),
      })
      transport.close()
    }
    expect(selfSigned.received).toEqual([])
    expect(server.to('a@example.com')).toEqual([])
  })
})

describe('the link in each e-mail', () => {
  const linkIn = (received: ReceivedMail) =>
    /^<(.+)>$/.exec(headerOf(received, 'list-unsubscribe')?.replaceAll(/\s/g, '') ?? '')?.[1] ?? ''
  /** As a mail program does: from anywhere, without a session. */
  const request = (link: string, init: RequestInit = {}) =>
    fetch(link.replace(PUBLIC_URL, fixture.bff.url), init)

  test('ends e-mails without a session, and only when it is posted', async () => {
    const [person, other] = [
      await subscriber(['payment_confirmed']),
      await subscriber(['payment_confirmed']),
    ]
    await pay()
    await expect.poll(() => newsTo(person.address)).toHaveLength(1)
    const [received] = newsTo(person.address) as [ReceivedMail]
    const link = linkIn(received)
    expect(link.startsWith(`${PUBLIC_URL}/api/mail/unsubscribe/`)).toBe(true)
    expect(received.mail.text).toContain(link)
    expect(headerOf(received, 'list-unsubscribe-post')).toBe('List-Unsubscribe=One-Click')
    const page = await request(link)
    expect(page.headers.get('content-security-policy')).toContain('sandbox allow-forms')
    expect(await page.text()).toContain('<form method="post">')
    await pay()
    await expect.poll(() => newsTo(person.address)).toHaveLength(2)
    const posted = await request(link, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: 'List-Unsubscribe=One-Click',
    })
    expect([posted.status, (await request(link, { method: 'POST' })).status]).toEqual([200, 200])
    await pay()
    await expect.poll(() => newsTo(other.address)).toHaveLength(3)
    await untilSent()
    expect(newsTo(person.address)).toHaveLength(2)
    expect(settingsIn(await person.browser.get('/api/mail')).settings).toMatchObject({ kinds: [] })
  })

  test('to an earlier address ends none to the address after it', async () => {
    const person = await subscriber(['payment_confirmed'])
    await pay()
    await expect.poll(() => newsTo(person.address)).toHaveLength(1)
    const [received] = newsTo(person.address) as [ReceivedMail]
    const address = newAddress()
    await save(person.browser, { address, kinds: ['payment_confirmed'] })
    const code = await newestCode(address)
    expect((await person.browser.post('/api/mail/confirm', { code })).status).toBe(200)
    for (const method of ['GET', 'POST'])
      expect((await request(linkIn(received), { method })).status).toBe(404)
    await pay()
    await expect.poll(() => newsTo(address)).toHaveLength(1)
  })

  test('of nobody changes nothing', async () => {
    const link = `${PUBLIC_URL}/api/mail/unsubscribe/`
    for (const token of ['a'.repeat(43), 'x', '..%2f'])
      for (const method of ['GET', 'POST'])
        expect((await request(`${link}${token}`, { method })).status).toBe(404)
  })
})

test('of 60 payments in a minute a person gets at most six e-mails, and the rest in one after ten minutes', async () => {
  const person = await subscriber(['payment_confirmed'])
  for (let round = 0; round < 6; round++) await Promise.all(Array.from({ length: 10 }, () => pay()))
  await expect.poll(() => newsTo(person.address).length).toBeGreaterThan(0)
  await untilSent({ digests: true })
  const mails = () => newsTo(person.address)
  const eventsIn = ({ mail }: ReceivedMail) =>
    Number(/^(\d+) events$/.exec(mail.subject ?? '')?.[1] ?? 1)
  const total = () => mails().reduce((sum, mail) => sum + eventsIn(mail), 0)
  expect(mails().length).toBeLessThanOrEqual(6)
  const before = mails().length
  ahead += 11 * 60_000
  await expect.poll(total).toBe(60)
  expect(mails().length).toBeLessThanOrEqual(before + 5)
})

describe('an e-mail', () => {
  const typed = 'x\r\nBcc: b@example.com\r\n\r\n<a href="https://evil.example">Log in</a>'

  test('has nothing that a payer typed, and no e-mail address of a customer', async () => {
    const person = await subscriber(MAIL_KINDS)
    const id = createPaymentId()
    const { db } = fixture.service.context
    await insertTestPayment(db, {
      id,
      accountId: fixture.accountId,
      recipient,
      resource: 'https://evil.example/login',
      metadata: JSON.stringify({ description: typed, reference: typed }),
    })
    await insertContact(fixture.bff.context.db, {
      paymentId: id,
      email: 'payer@customer.example',
      sender,
      createdAt: now(),
    })
    await fixture.move(id, 'created')
    await fixture.move(id, 'confirmed')
    await expect.poll(() => newsTo(person.address)).toHaveLength(1)
    const [{ raw, mail, to }] = newsTo(person.address) as [ReceivedMail]
    expect(to).toEqual([person.address])
    expect(raw).not.toMatch(/evil|bcc|customer\.example/i)
    expect(mail.html).toBe(false)
    const hosts = [...(mail.text ?? '').matchAll(/https?:\/\/([^/\s]+)/g)].map(([, host]) => host)
    expect(new Set(hosts)).toEqual(new Set(['pay.example.com', 'pay-api.example.com']))
  })

  test('keeps a symbol of many lines on one line', () => {
    const facts = {
      amount: '1',
      symbol: `${typed}\u202e`,
      network: typed,
      sender: typed,
      paymentId: '../x',
    }
    const { subject, text } = renderMail({
      language: 'en',
      dashboardUrl: 'https://pay.example.com',
      unsubscribeUrl: 'https://pay-api.example.com/u',
      items: [{ kind: 'payment_confirmed', facts }],
      total: 1,
    })
    expect(subject).not.toMatch(/[\p{C}]/u)
    expect(text.split('\n')).toHaveLength(7)
    expect(text).toContain('https://pay.example.com/payments/..%2Fx')
  })

  test('lists fifty events at most, and counts the rest', () => {
    const facts = { amount: '1', symbol: 'ETH', paymentId: 'pay_1' }
    const { subject, text } = renderMail({
      language: 'en',
      dashboardUrl: 'https://pay.example.com',
      unsubscribeUrl: 'https://pay-api.example.com/u',
      items: Array.from({ length: 50 }, () => ({ kind: 'payment_confirmed', facts })),
      total: 1000,
    })
    expect(subject).toBe('1000 events')
    expect(text.match(/1 ETH received/g)).toHaveLength(50)
    expect(text).toContain('And 950 more.')
  })

  test('has a subject of one header, whatever text it gets', async () => {
    const { mail } = fixture.bff.context.config
    if (!mail) throw new Error('Expected a mail server.')
    const transport = new MailTransport(mail)
    const sent = await transport.send({
      id: 'mal_2',
      to: 'c@example.com',
      subject: typed,
      text: typed,
    })
    expect(sent).toEqual({ ok: true })
    transport.close()
    const [received] = server.to('c@example.com')
    expect(received?.to).toEqual(['c@example.com'])
    expect(received?.mail.headers.has('bcc')).toBe(false)
  })
})

test('is forgotten after 30 days, but for the address', async () => {
  const person = await subscriber(['payment_confirmed'])
  await pay()
  await untilSent()
  ahead += 31 * DAY_MS
  await deleteOldMail(fixture.bff.context.db, now())
  expect(await fixture.bff.context.db.$count(mailMessage)).toBe(0)
  expect(newsTo(person.address)).toHaveLength(1)
})
