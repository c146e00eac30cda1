import { and, asc, eq, inArray, sql } from 'drizzle-orm'
import pg from 'pg'
import type { Hex } from 'viem'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { changeNotes } from '#bff/db/notes.ts'
import { insertDraft, issueInvoice, readNumbering } from '#bff/db/invoices.ts'
import { BFF_SCHEMA } from '#bff/db/migrations-folder.ts'
import { shortLinkRow } from '#bff/links/short-link.ts'
import { createId, createPaymentId } from '#contract/payment.ts'
import { openDatabase } from '#postgres/open.ts'
import { event, payment } from '#service/db/schema/payment.ts'
import { sendPayment } from '#service/hosted/send.ts'
import { pollOnce } from '#service/monitor/poll.ts'
import { buildTransaction } from '#service/payments/build.ts'
import { receivePayment } from '#service/settlement/receive.ts'
import { createWallet } from '#service/wallets/create-wallet.ts'
import { abortTransactions } from './abort-transactions.ts'
import { Fixture, ORIGIN } from './fixture.ts'
import { signBuilt, startEvm, type EvmFixture } from './local-chains.ts'
import { createTestDatabase, executeAsOwner } from './postgres.ts'
import { proveTxid } from './proofs.ts'
import {
  eventually,
  numberRecorded,
  openContext,
  ownWallet,
  type OpenedContext,
} from './service-context.ts'

/** Money and rows while the database rolls back every fifth transaction: a short form of `npm run integration:aborts`. */

const ETH = 10n ** 18n
const PAID = ETH / 100n
const SENDS = 12
const ORDERS = 6
const RESOURCE = 'https://shop.example/a'

let evm: EvmFixture
let opened: OpenedContext
let aborts: ReturnType<typeof abortTransactions>

beforeAll(async () => {
  evm = await startEvm({ slotsInEpoch: 2 })
  await evm.mine()
  aborts = abortTransactions()
  opened = await openContext([evm.network])
})
afterAll(async () => {
  aborts?.[Symbol.dispose]()
  await opened?.[Symbol.asyncDispose]()
  await evm?.[Symbol.asyncDispose]()
})

let before = 0
beforeEach(() => {
  before = aborts.counts().transactions
})
const aborted = () => aborts.counts().transactions - before

async function untilFinal(ids: readonly string[]): Promise<void> {
  const { context } = opened
  const [chain] = context.chains.values()
  if (!chain) throw new Error('no chain')
  await eventually(
    async () => {
      await evm.mine()
      expect((await pollOnce(context, chain, { expiredToo: true })).failures).toEqual([])
      const final = and(inArray(payment.id, [...ids]), eq(payment.status, 'finalized'))
      return context.db.$count(payment, final)
    },
    (final) => final === ids.length,
  )
}

/** Events of each payment: its statuses once, in order, with numbers without a gap. */
async function statusesOf(ids: readonly string[]): Promise<string[][]> {
  const rows = await opened.context.db.select().from(event).orderBy(asc(event.id))
  return ids.map((id) =>
    rows.flatMap(({ kind, paymentId, status }) =>
      paymentId === id && kind === 'payment' ? [status] : [],
    ),
  )
}

test('a second copy of the injector in the same process aborts nothing more', async () => {
  const before = pg.Client.prototype.query
  const copy: string = './abort-transactions.ts?second'
  const second: { abortTransactions: typeof abortTransactions } = await import(copy)
  using more = second.abortTransactions()
  expect(more.counts()).toEqual(aborts.counts())
  expect(pg.Client.prototype.query).toBe(before)
})

test('hosted payments at once are each paid once, with nonces in a row and events in order', async () => {
  const { context, actor } = opened
  const till = await createWallet(
    { ...context, now: new Date() },
    { accountId: actor.accountId, family: 'evm', name: 'till' },
  )
  await evm.client.setBalance({ address: till.address as Hex, value: 10n * ETH })
  const recipients = await Promise.all(Array.from({ length: SENDS }, () => evm.wallet(0n)))
  const send = (recipientAddress: string, index: number) =>
    sendPayment(context, actor, {
      body: { walletAddress: till.address, recipientAddress, amount: '0.01' },
      idempotency: { key: `send-${index}`, fingerprint: recipientAddress },
      waitMs: 0,
    })
  const sent = await Promise.all(recipients.map(({ address }, index) => send(address, index)))
  const ids = sent.map(({ paymentId }) => paymentId)
  const again = await Promise.all(recipients.map(({ address }, index) => send(address, index)))
  expect(again.map(({ paymentId }) => paymentId)).toEqual(ids)
  await untilFinal(ids)
  const balances = recipients.map(({ address }) => evm.client.getBalance({ address }))
  expect(await Promise.all(balances)).toEqual(recipients.map(() => PAID))
  expect(await evm.client.getTransactionCount({ address: till.address as Hex })).toBe(SENDS)
  expect(await statusesOf(ids)).toEqual(
    ids.map(() => ['created', 'pending', 'confirmed', 'finalized']),
  )
  await numberRecorded(context)
  const numbers = await context.db
    .select({ number: event.number })
    .from(event)
    .orderBy(asc(event.number))
  expect(numbers.map(({ number }) => number)).toEqual(numbers.map((_, index) => BigInt(index + 1)))
  expect(aborted()).toBeGreaterThan(SENDS / 2)
})

test('a proof that pays an order grants once, and was compared with it once', async () => {
  const { context, actor } = opened
  const till = await evm.wallet(0n)
  await ownWallet(opened, till.address)
  const answers = []
  for (let index = 0; index < ORDERS; index++) {
    const payer = await evm.wallet(ETH)
    const terms = { walletAddress: payer.address, recipientAddress: till.address, amount: '0.01' }
    const built = await buildTransaction(context, actor, { ...terms, resource: RESOURCE })
    const bytes = await signBuilt(payer, built.transaction)
    const txRef = await evm.client.sendRawTransaction({ serializedTransaction: bytes })
    await untilFinal([built.paymentId])
    const { network } = evm.network
    const proof = { payer, payTo: till.address, txRef, network, amount: PAID, url: RESOURCE }
    const asked = {
      walletAddress: till.address,
      paymentProof: await proveTxid(proof),
      expectedAmount: '0.01',
      resource: RESOURCE,
      timeout: 10,
    }
    const answer = await receivePayment(context, actor, asked)
    expect(answer).toMatchObject({ verified: true, paymentId: built.paymentId })
    answers.push(answer)
  }
  for (const { checks } of answers) {
    expect(checks.filter(({ name }) => name === 'paid_order')).toHaveLength(1)
  }
  expect(aborted()).toBeGreaterThan(ORDERS / 2)
  expect(await evm.client.getBalance({ address: till.address })).toBe(PAID * BigInt(ORDERS))
})

test('the proxy gives invoices numbers without a gap, and labels each payment once', async () => {
  await using database = await createTestDatabase('postgres', 'bff')
  await using proxy = await openDatabase(database.target, BFF_SCHEMA)
  const { db } = proxy
  const at = new Date()
  const by = evm.network.network
  const currency = { kind: 'asset', code: 'ETH', decimals: 18 } as const
  const fields = { dueOn: '2027-01-01', currency, lines: [], total: '1', note: null }
  const ids = Array.from({ length: 20 }, () => createId('inv'))
  for (const id of ids)
    await insertDraft(db, { id, fields, customer: null, createdBy: by, createdAt: at })
  const terms = { price: null, item: null, invoice: null, only: null, maxPieces: 1 } as const
  const named = { description: null, reference: null, returnUrl: null }
  const more = {
    ...named,
    askEmail: false,
    resource: null,
    maxPayments: 1,
    expiresAt: null,
  } as const
  await Promise.all(
    ids.map((id) =>
      issueInvoice(db, { id, issuedOn: '2026-12-01' }, () =>
        shortLinkRow({ now: () => at }, { id: createId('lnk'), ...terms, ...more }, by),
      ),
    ),
  )
  expect(await readNumbering(db)).toMatchObject({ next: 'INV-0021' })
  const { rows } = await db.execute(sql`select sequence from bff.invoice order by sequence`)
  expect(rows.map(({ sequence }) => Number(sequence))).toEqual(ids.map((_, index) => index + 1))
  for (let round = 0; round < 10; round++) {
    const places = [createPaymentId(), createPaymentId()].map((paymentId) => ({
      owner: by,
      paymentId,
    }))
    const written = await changeNotes(db, places, { addLabels: ['a'], by, at })
    expect(written).toHaveLength(2)
  }
  expect(aborted()).toBeGreaterThan(8)
})

test('rows that others change all the time are answered with 503 and Retry-After, by the service and by the proxy', async () => {
  await using database = await createTestDatabase('postgres', 'bff')
  await using fixture = await Fixture.open({ bff: { database: database.target } })
  const service = fixture.service.context
  const conflicting = (table: string) => `
    create function conflict() returns trigger language plpgsql as $$ begin raise exception using errcode = '40001'; end $$;
    create trigger conflicting before insert on ${table} for each row execute function conflict()`
  await executeAsOwner(
    { target: service.config.database, db: service.db },
    conflicting('service.wallet'),
  )
  const refused = await fetch(`${fixture.service.url}/wallets`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${fixture.key}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ family: 'evm', name: 'till' }),
  })
  expect([refused.status, refused.headers.get('Retry-After')]).toEqual([503, '2'])
  expect(await refused.json()).toMatchObject({
    error: {
      code: 'SERVICE_UNAVAILABLE',
      message: expect.stringContaining('Nothing is decided'),
    },
  })
  await executeAsOwner({ target: database.target, db: service.db }, conflicting('bff.challenge'))
  const page = fixture.browser(ORIGIN)
  const answer = await page.post('/api/session/challenge', {
    walletAddress: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
    network: 'eip155:31337',
  })
  expect([answer.status, answer.headers.get('Retry-After')]).toEqual([503, '2'])
})
