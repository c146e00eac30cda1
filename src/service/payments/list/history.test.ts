import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import * as v from 'valibot'
import { endpoints, type EndpointInput } from '#contract/endpoints.ts'
import { LosslessNumber } from '#contract/json.ts'
import {
  NATIVE_ETH,
  NATIVE_SOL,
  SOLANA_DEVNET,
  type Asset,
  type Network,
} from '#contract/network.ts'
import { createPaymentId, isPaid, type PaymentStatus } from '#contract/payment.ts'
import {
  openAccount,
  openContext,
  ownWallet,
  releasePayee,
  type OpenedContext,
} from '#testing/service-context.ts'
import type { Actor, Context } from '../../context/context.ts'
import { foldTallies } from '../../db/fold-tallies.ts'
import { insertPayment, type NewPayment } from '../../db/payments.ts'
import { payment } from '../../db/schema/payment.ts'
import { settlementFee } from '../../db/schema/proof.ts'
import { findOwner } from '../../db/wallet-owners.ts'
import { readHistory, readList } from './history.ts'
import { readSummary } from './summary.ts'

const ALICE = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'
const BOB = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
const CAROL = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC'
const TOKEN = '0x5FbDB2315678afecb367f032d93F642f64180aa3'
const SOL_PAYER = '4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T'
const SOL_PAYEE = '9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM'
const NOW = new Date('2026-11-21T10:00:00Z')
const DAY = 24 * 60 * 60 * 1000
const NOTHING = {
  receivedAtomic: '0',
  refundsReceivedAtomic: '0',
  sentAtomic: '0',
  refundedAtomic: '0',
  feesAtomic: '0',
}

const network = (id: string, native: Asset): Network => ({
  network: id,
  name: id,
  rpcUrls: ['http://127.0.0.1:9'],
  testnet: true,
  blockTimeMs: 1000,
  confirmations: 1,
  assets: [native],
})
const EVM = network('eip155:31337', NATIVE_ETH)
const SOLANA = network(SOLANA_DEVNET, NATIVE_SOL)

let opened: OpenedContext
let context: Context

async function pay(who: Actor, facts: Partial<NewPayment> & { ago?: number }): Promise<string> {
  const { ago = 0, ...rest } = facts
  const at = new Date(NOW.getTime() - ago)
  const solana = rest.network === SOLANA_DEVNET
  const asset = solana ? NATIVE_SOL : NATIVE_ETH
  const row = await insertPayment(context.db, {
    id: createPaymentId(),
    accountId: who.accountId,
    mode: 'local',
    status: 'confirmed',
    network: 'eip155:31337',
    asset: asset.address,
    symbol: asset.symbol,
    decimals: asset.decimals,
    amount: 10n ** 16n,
    sender: solana ? SOL_PAYER : ALICE,
    recipient: solana ? SOL_PAYEE : BOB,
    createdAt: at,
    updatedAt: at,
    ...rest,
  })
  return row.id
}

type Query = Record<string, string>

function queryOf(query: Query): EndpointInput<'paymentHistory'>['query'] {
  return v.parse(endpoints.paymentHistory.query, query)
}

function listQueryOf(query: Query) {
  return v.parse(endpoints.paymentList.query, query)
}

async function history(who: Actor, wallet: string, query: Query = {}) {
  return readHistory(context, who, {
    params: { walletAddress: wallet },
    query: queryOf(query),
    body: undefined,
  })
}

const ids = (page: { payments: { paymentId: string }[] }) =>
  page.payments.map(({ paymentId }) => paymentId)

describe('on Postgres', () => {
  beforeAll(async () => {
    opened = await openContext([EVM, SOLANA], { now: () => NOW })
    context = opened.context
  })

  afterAll(() => opened[Symbol.asyncDispose]())

  test('a wallet sees what it sent and received, of its account alone, the newest first', async () => {
    const who = await openAccount(context)
    const sent = await pay(who, { ago: 3000, amount: 123456789012345678n })
    const received = await pay(who, { ago: 2000, sender: CAROL, recipient: ALICE })
    await pay(who, { ago: 1000, sender: CAROL, recipient: BOB })
    await pay(await openAccount(context), {})
    const page = await history(who, ALICE)
    expect(page).toMatchObject({
      success: true,
      walletAddress: ALICE,
      total: 2,
      limit: 50,
      offset: 0,
      nextCursor: null,
    })
    expect(page.payments.map(({ paymentId, type }) => [paymentId, type])).toEqual([
      [received, 'received'],
      [sent, 'sent'],
    ])
    expect(page.payments[1]).toMatchObject({
      amount: new LosslessNumber('0.123456789012345678'),
      amountAtomic: '123456789012345678',
      symbol: 'ETH',
    })
    expect(ids(await history(who, ALICE, { type: 'sent' }))).toEqual([sent])
    expect(ids(await history(who, ALICE, { type: 'received' }))).toEqual([received])
  })

  test('pages by cursor neither lose nor repeat a payment while new ones arrive, even within one millisecond', async () => {
    const who = await openAccount(context)
    const all: string[] = []
    for (let index = 0; index < 23; index++)
      all.push(await pay(who, { ago: 1000 + Math.floor(index / 5) }))
    const seen: string[] = []
    let cursor: string | null = ''
    while (cursor !== null) {
      const page = await history(who, ALICE, { limit: '4', ...(cursor && { cursor }) })
      seen.push(...ids(page))
      await pay(who, { ago: 0 })
      cursor = page.nextCursor
    }
    expect(seen).toHaveLength(23)
    expect(new Set(seen)).toEqual(new Set(all))
    expect(seen).toEqual(
      ids(await history(who, ALICE, { limit: '500' })).filter((id) => all.includes(id)),
    )
  })

  test('pages by landing neither lose nor repeat a payment while others land, and begin and end with their period', async () => {
    const who = await openAccount(context)
    const landed = (ago: number) => new Date(NOW.getTime() - ago)
    const all: string[] = []
    // Created in one order, landed in the other, five in one block each.
    for (let index = 0; index < 23; index++)
      all.push(await pay(who, { ago: index, blockTime: landed(DAY - Math.floor(index / 5)) }))
    const failed = await pay(who, { status: 'failed', blockTime: landed(DAY) })
    const noted = await pay(who, { ago: 2 * DAY, confirmedAt: landed(DAY) })
    const open = await Promise.all(
      Array.from({ length: 8 }, () => pay(who, { status: 'pending', ago: 2 * DAY })),
    )
    await pay(who, { blockTime: landed(DAY + 1) })
    await pay(who, { status: 'expired', ago: DAY - 1 })
    const period = { by: 'landed', since: String(NOW.getTime() - DAY) }
    const seen: string[] = []
    let cursor: string | null = ''
    while (cursor !== null) {
      const page = await history(who, ALICE, { ...period, limit: '4', ...(cursor && { cursor }) })
      seen.push(...ids(page))
      const arriving = open.pop()
      if (arriving)
        await context.db
          .update(payment)
          .set({ status: 'confirmed', blockTime: landed(0) })
          .where(eq(payment.id, arriving))
      cursor = page.nextCursor
    }
    expect(seen).toHaveLength(25)
    expect(new Set(seen)).toEqual(new Set([...all, failed, noted]))
    const whole = await history(who, ALICE, { ...period, limit: '500' })
    expect(whole.total).toBe(whole.payments.length)
    expect(ids(whole).slice(-25)).toEqual(seen)
    const { total } = await history(who, ALICE, { by: 'landed' })
    expect(total).toBe(whole.total + 1)
  })

  test('offset and limit page the same order, and total counts past the page', async () => {
    const who = await openAccount(context)
    for (let index = 0; index < 7; index++) await pay(who, { ago: index })
    const all = ids(await history(who, ALICE))
    expect(await history(who, ALICE, { limit: '3', offset: '5' })).toMatchObject({
      total: 7,
      limit: 3,
      offset: 5,
      nextCursor: null,
    })
    expect(ids(await history(who, ALICE, { limit: '3', offset: '2' }))).toEqual(all.slice(2, 5))
    expect(ids(await history(who, ALICE, { offset: '100' }))).toEqual([])
  })

  test('every filter narrows, and they narrow together', async () => {
    const who = await openAccount(context)
    const small = await pay(who, {
      ago: 5 * DAY,
      amount: 10n ** 15n,
      status: 'expired',
      signature: null,
      metadata: '{"referenceId":"order \\"7\\"","note":"x"}',
    })
    const large = await pay(who, {
      ago: 2 * DAY,
      amount: 5n * 10n ** 18n,
      status: 'finalized',
      signature: `0x${'ab'.repeat(32)}`,
      resource: 'HTTPS://Shop.example/100%_off/a',
    })
    // Found by two of its fields, counted once.
    const metadata = '{"referenceId":"shop.example/100xyoff"}'
    const sol = await pay(who, {
      network: SOLANA_DEVNET,
      amount: 2n * 10n ** 9n,
      status: 'finalized',
      resource: 'https://shop.example/100xyoff/a',
      metadata,
    })
    const found = async (query: Query) => {
      const page = await readList(context, who, { ...queryOf(query), wallets: undefined })
      expect(page.total).toBe(page.payments.length)
      return ids(page)
    }

    expect(await found({})).toEqual([sol, large, small])
    expect(await found({ status: 'expired,created' })).toEqual([small])
    expect(await found({ network: SOLANA_DEVNET })).toEqual([sol])
    expect(await found({ asset: 'eth' })).toEqual([large, small])
    expect(await found({ asset: NATIVE_SOL.address })).toEqual([sol])
    expect(await found({ asset: CAROL })).toEqual([])
    expect(await found({ since: String(NOW.getTime() - 3 * DAY) })).toEqual([sol, large])
    expect(await found({ until: String(NOW.getTime() - 3 * DAY) })).toEqual([small])
    // Of two periods that meet at its moment a payment is in the later one alone.
    const moment = String(NOW.getTime() - 2 * DAY)
    expect(await found({ until: moment })).toEqual([small])
    expect(await found({ since: moment })).toEqual([sol, large])
    expect(await found({ since: '999999999999999' })).toEqual([])
    expect(await found({ until: '999999999999999' })).toEqual([sol, large, small])
    expect(await found({ minAmount: '2' })).toEqual([sol, large])
    expect(await found({ minAmount: '2.000000001' })).toEqual([large])
    expect(await found({ maxAmount: '0.001' })).toEqual([small])
    expect(await found({ minAmount: '0', maxAmount: '2', status: 'finalized' })).toEqual([sol])
    expect(await found({ q: small })).toEqual([small])
    expect(await found({ q: `0x${'AB'.repeat(32)}`.replace('0X', '0x') })).toEqual([large])
    expect(await found({ q: ALICE.toLowerCase() })).toEqual([large, small])
    expect(await found({ q: 'order "7"' })).toEqual([small])
    expect(await found({ q: 'x' })).toEqual([small])
    expect(await found({ q: 'ORDE 7 x' })).toEqual([small])
    expect(await found({ q: 'order 8' })).toEqual([])
    expect(await found({ q: 'rder' })).toEqual([])
    expect(await found({ q: `0x${'ab'.repeat(5)}` })).toEqual([large])
    expect(await found({ q: ALICE.slice(0, 8) })).toEqual([large, small])
    expect(await found({ q: `${SOL_PAYER.slice(0, 6)} shop` })).toEqual([sol])
    const other = await openAccount(context)
    expect(
      await readList(context, other, { ...queryOf({ q: 'order' }), wallets: undefined }),
    ).toMatchObject({ total: 0 })
    expect(await found({ q: 'https://shop.example/' })).toEqual([sol, large])
    expect(await found({ q: 'https://shop.example/100%_' })).toEqual([large])
    expect(await found({ q: 'shop.example/100xyoff' })).toEqual([sol])
    expect(await found({ q: 'shop.example/100xyofg' })).toEqual([])
    expect(await found({ q: '%' })).toEqual([])
    expect(await found({ q: "\\' or 1=1 --" })).toEqual([])
    expect(await found({ q: 'amount:>=2 status:finalized' })).toEqual([sol, large])
    expect(await found({ q: 'amount:>2' })).toEqual([large])
    expect(await found({ q: 'amount:<2 order "7"' })).toEqual([small])
    expect(await found({ q: 'amount:>2 order "7"' })).toEqual([])
    expect(await found({ q: 'amount:2..2' })).toEqual([sol])
    expect(await found({ q: `from:${ALICE.toLowerCase()} asset:eth` })).toEqual([large, small])
    expect(await found({ q: `to:${ALICE}` })).toEqual([])
    expect(await found({ q: `network:${SOLANA_DEVNET} to:${SOL_PAYEE}` })).toEqual([sol])
    expect(await found({ q: 'status:expired,created' })).toEqual([small])
    expect(() => queryOf({ q: 'a\0b' })).toThrow('Expected text without a NUL character.')
  })

  test('nothing is clamped or overlooked: what is wrong is named', async () => {
    const who = await openAccount(context)
    const bad: Query = {
      network: 'eip155:5',
      asset: '???',
      minAmount: '-1',
      maxAmount: 'x',
      q: 'tea amout:>1',
      since: '2',
      until: '1',
    }
    await expect(history(who, ALICE, bad)).rejects.toMatchObject({
      code: 'INVALID_PARAMETERS',
      facts: {
        details: {
          network: expect.any(String),
          asset: expect.any(String),
          minAmount: expect.any(String),
          maxAmount: expect.any(String),
          q: 'Expected one of amount, status, asset, network, from, to before the colon, received "amout:>1". Quotes make it text.',
          until: expect.any(String),
        },
      },
    })
    for (const cursor of [
      Buffer.from(`999999999999999.${createPaymentId()}`).toString('base64url'),
      'x',
      'MTIz',
      Buffer.from('1.pay_x').toString('base64url'),
      `${Buffer.from(`1.${createPaymentId()}`).toString('base64url')}=`,
    ]) {
      await expect(history(who, ALICE, { cursor })).rejects.toMatchObject({
        facts: { details: { cursor: expect.any(String) } },
      })
    }
    const created = Buffer.from(`1.${createPaymentId()}`).toString('base64url')
    await expect(
      history(who, ALICE, { by: 'landed', status: 'incomplete', cursor: created }),
    ).rejects.toMatchObject({ facts: { details: { by: expect.any(String) } } })
    await expect(history(who, ALICE, { by: 'landed', cursor: created })).rejects.toMatchObject({
      facts: { details: { cursor: expect.any(String) } },
    })
  })

  test('a list that names wallets sees from them: what moves between two of them is neither sent nor received', async () => {
    const who = await openAccount(context)
    const out = await pay(who, { ago: 2, sender: ALICE, recipient: CAROL })
    const between = await pay(who, { ago: 1, sender: ALICE, recipient: BOB })
    const into = await pay(who, { ago: 0, sender: CAROL, recipient: BOB })
    const list = (type: string) =>
      readList(context, who, { ...listQueryOf({ type }), wallets: [ALICE, BOB] })
    const page = await list('all')
    expect(page.payments.map(({ paymentId, type }) => [paymentId, type])).toEqual([
      [into, 'received'],
      [between, 'internal'],
      [out, 'sent'],
    ])
    for (const [type, id] of [
      ['sent', out],
      ['received', into],
      ['internal', between],
    ] as const)
      expect(await list(type)).toMatchObject({ total: 1, payments: [{ paymentId: id, type }] })
    // It names payments of neither wallet, and nobody reads others' payments by it.
    expect(await list('external')).toMatchObject({ total: 0, payments: [] })
    // The path's own wallet decides there, as specified.
    expect((await history(who, BOB)).payments.map(({ type }) => type)).toEqual([
      'received',
      'received',
    ])
  })

  test('a list that names none sees from the wallets of the account, also those registered after the payment', async () => {
    const who = await openAccount(context)
    await ownWallet({ context, actor: who }, ALICE)
    const facts = [
      { sender: CAROL, recipient: ALICE, type: 'received' },
      { sender: ALICE, recipient: CAROL, type: 'sent' },
      { sender: ALICE, recipient: BOB, type: 'internal' },
      { sender: CAROL, recipient: SOL_PAYER, type: 'external' },
    ] as const
    const ids = await Promise.all(
      facts.map(({ sender, recipient }, index) => pay(who, { sender, recipient, ago: index })),
    )
    await ownWallet({ context, actor: who }, BOB)
    const all = await readList(context, who, { ...listQueryOf({}), wallets: undefined })
    expect(all.payments.map(({ paymentId, type }) => [paymentId, type])).toEqual(
      facts.map(({ type }, index) => [ids[index], type]),
    )
    for (const [index, { type }] of facts.entries()) {
      expect(
        await readList(context, who, { ...listQueryOf({ type }), wallets: undefined }),
      ).toMatchObject({ total: 1, payments: [{ paymentId: ids[index] }] })
    }
    const [eth] = (await readSummary(context, who, { wallets: undefined, days: 1 })).assets
    // Sent and received once each; the transfer between own wallets and the strangers' payment are in no figure.
    expect(eth).toMatchObject({ receivedCount: 1, sentCount: 1, endedCount: 2, paidCount: 2 })
  })

  test('own wallets are no customers, and a refund is no income', async () => {
    const who = await openAccount(context)
    for (const wallet of [ALICE, BOB]) await ownWallet({ context, actor: who }, wallet)
    const paid = await pay(who, {
      sender: CAROL,
      recipient: BOB,
      amount: 10n,
      resource: 'https://shop.example/a',
    })
    await pay(who, {
      sender: ALICE,
      recipient: BOB,
      amount: 100n,
      resource: 'https://shop.example/b',
    })
    await pay(who, { sender: BOB, recipient: CAROL, amount: 4n, refundOf: paid })
    const mine = await readSummary(context, who, { wallets: undefined, days: 1 })
    expect(mine.assets).toMatchObject([
      {
        receivedAtomic: '10',
        receivedCount: 1,
        refundedAtomic: '4',
        refundedCount: 1,
        sentAtomic: '0',
        sentCount: 0,
      },
    ])
    // Also for one wallet alone, which the other one funded.
    for (const summary of [mine, await readSummary(context, who, { wallets: [BOB], days: 1 })]) {
      expect(summary.topPayers).toEqual([{ address: CAROL, count: 1 }])
      expect(summary.topResources).toEqual([{ resource: 'https://shop.example/a', count: 1 }])
    }
    // Nor of the customer who gets it: the merchant's wallet buys nothing there.
    const theirs = await readSummary(context, who, { wallets: [CAROL], days: 1 })
    expect(theirs).toMatchObject({
      assets: [{ receivedAtomic: '0', refundsReceivedAtomic: '4', sentAtomic: '10' }],
      topPayers: [],
    })
  })

  test('drafts are in no list, history, search, total or figure, and exactly they are incomplete', async () => {
    const who = await openAccount(context)
    await ownWallet({ context, actor: who }, BOB)
    const signature = `0x${'cd'.repeat(32)}`
    const draft = await pay(who, {
      draft: true,
      status: 'created',
      resource: 'https://evil.example/a',
      metadata: '{"referenceId":"evil"}',
      ago: 1,
    })
    const over = await pay(who, { draft: true, status: 'expired', ago: 2 })
    const own = await pay(who, { status: 'created', ago: 3, signature })
    const list = (query: Query, wallets?: string[]) =>
      readList(context, who, { ...listQueryOf(query), wallets })
    const queries: Query[] = [{}, { status: 'created,expired' }, { q: ALICE }, { type: 'received' }]
    for (const query of queries) {
      for (const wallets of [undefined, [BOB], [ALICE, BOB]]) {
        if (query.type && wallets && wallets.length > 1) continue
        expect(await list(query, wallets), JSON.stringify({ query, wallets })).toMatchObject({
          total: 1,
          payments: [{ paymentId: own, draft: false }],
        })
      }
    }
    expect(await history(who, BOB)).toMatchObject({ total: 1 })
    for (const q of [draft, 'evil', 'evil.example'])
      expect(await list({ q })).toMatchObject({ total: 0, payments: [] })
    expect(await list({ offset: '500' })).toMatchObject({ total: 1, payments: [] })
    const summary = await readSummary(context, who, { wallets: undefined, days: 1 })
    expect(summary.statuses.filter(({ count }) => count > 0)).toEqual([
      { status: 'created', count: 1 },
    ])

    for (const wallets of [undefined, [BOB]]) {
      const incomplete = await list({ status: 'incomplete' }, wallets)
      expect(incomplete).toMatchObject({
        total: 2,
        payments: [{ paymentId: draft, draft: true }, { paymentId: over }],
      })
    }
    expect(await list({ status: 'incomplete', q: 'evil' })).toMatchObject({
      total: 1,
      payments: [{ paymentId: draft }],
    })
    expect(await list({ status: 'incomplete' }, [CAROL])).toMatchObject({ total: 0 })
    expect(v.safeParse(endpoints.paymentList.query, { status: 'incomplete,created' }).success).toBe(
      false,
    )

    await context.db.update(payment).set({ draft: false }).where(eq(payment.id, draft))
    expect(await list({})).toMatchObject({
      total: 2,
      payments: [{ paymentId: draft }, { paymentId: own }],
    })
    expect(await list({ status: 'incomplete' })).toMatchObject({
      total: 1,
      payments: [{ paymentId: over }],
    })
  })

  test('a search finds the payments of parties beside those with its text, each once, of one account', async () => {
    const who = await openAccount(context)
    const tea = (sender: string) => ({ sender, metadata: '{"description":"Ada tea"}' })
    const named = await pay(who, { ago: 5, ...tea(CAROL) })
    const theirs = await pay(who, { ago: 4, sender: ALICE, status: 'failed' })
    const back = await pay(who, { ago: 3, sender: BOB, recipient: ALICE })
    const both = await pay(who, { ago: 2, ...tea(ALICE) })
    await pay(who, { ago: 1, sender: CAROL })
    await pay(who, { ago: 1, sender: ALICE, draft: true })
    await pay(await openAccount(context), { sender: ALICE })
    const list = async (query: Query) => readList(context, who, listQueryOf(query))
    const asked = { q: 'ada', parties: ALICE }
    expect(await list(asked)).toMatchObject({ total: 4 })
    expect(ids(await list(asked))).toEqual([both, back, theirs, named])
    expect(ids(await list({ q: 'ada' }))).toEqual([both, named])
    expect(ids(await list({ ...asked, q: 'ada status:failed' }))).toEqual([theirs])
    // A wallet that sees its own payments alone sees no more of them.
    expect(ids(await list({ ...asked, wallets: CAROL }))).toEqual([named])
    const first = await list({ ...asked, limit: '3' })
    const rest = await list({ ...asked, limit: '3', cursor: first.nextCursor ?? '' })
    expect([...ids(first), ...ids(rest)]).toEqual([both, back, theirs, named])
    for (const q of [undefined, 'status:failed'])
      await expect(list({ parties: ALICE, ...(q && { q }) })).rejects.toMatchObject({
        facts: { details: { parties: expect.stringContaining('Expected a text') } },
      })
  })

  test('a list of what was refunded has the payments whose rows say so, in order, page by page', async () => {
    const who = await openAccount(context)
    const amount = 10n ** 16n
    /** Ten days old, so that its refunds are newer. */
    const paid = (day: number, facts: Partial<NewPayment> = {}) =>
      pay(who, { amount, ago: day * DAY, metadata: '{"order":"tea"}', ...facts })
    const back = (refundOf: string, part: bigint, status: PaymentStatus = 'finalized') =>
      pay(who, { amount: part, refundOf, status, sender: BOB, recipient: ALICE, ago: 0 })
    const full = await paid(11)
    await back(full, amount)
    const twice = await paid(12, { status: 'finalized', metadata: null })
    await back(twice, amount - 1n)
    await back(twice, 1n, 'confirmed')
    const part = await paid(13)
    await back(part, 1n)
    await back(part, amount - 1n, 'pending')
    const underWay = await paid(14)
    await back(underWay, amount, 'created')
    const undone = await paid(15)
    await back(undone, amount, 'rolled_back')
    const gone = await paid(16, { status: 'rolled_back' })
    await back(gone, amount)
    const failed = await paid(17, { status: 'failed' })
    await pay(await openAccount(context), { ago: 11 * DAY })

    const shown = { refunded: [full, twice], partly_refunded: [part] }
    const rows = (await readList(context, who, listQueryOf({ limit: '100' }))).payments
    for (const [status, state] of [
      ['refunded', 'full'],
      ['partly_refunded', 'partial'],
    ] as const) {
      const page = await readList(context, who, listQueryOf({ status }))
      expect(ids(page), status).toEqual(shown[status])
      expect(page.total).toBe(shown[status].length)
      const said = rows.filter((row) => row.refund.state === state && isPaid(row.status))
      expect(said.map(({ paymentId }) => paymentId)).toEqual(shown[status])
    }
    const list = async (query: Query) => ids(await readList(context, who, listQueryOf(query)))
    expect(await list({ status: 'refunded,partly_refunded' })).toEqual([full, twice, part])
    expect(await list({ status: 'partly_refunded,failed' })).toEqual([part, failed])
    expect(await list({ q: 'status:refunded' })).toEqual([full, twice])
    expect(await list({ q: 'tea status:refunded,failed' })).toEqual([full, failed])
    expect(await list({ wallets: BOB, status: 'refunded' })).toEqual([full, twice])
    expect(await list({ wallets: CAROL, status: 'refunded' })).toEqual([])
    expect(ids(await history(who, ALICE, { status: 'partly_refunded' }))).toEqual([part])

    const found: string[] = []
    let cursor: string | null = ''
    while (cursor !== null) {
      const query: Query = {
        status: 'partly_refunded,refunded',
        limit: '1',
        ...(cursor && { cursor }),
      }
      const page = await readList(context, who, listQueryOf(query))
      expect(page.total).toBe(3)
      found.push(...ids(page))
      cursor = page.nextCursor
    }
    expect(found).toEqual([full, twice, part])
    expect(await list({ status: 'refunded,partly_refunded', offset: '1', limit: '1' })).toEqual([
      twice,
    ])
  })

  test('fees that a wallet paid stay in the books when it is released, and later ones are not in them', async () => {
    const who = await openAccount(context)
    const stranger = await openAccount(context)
    const hour = 60 * 60_000
    const settle = async (account: Actor, fee: bigint, ago: number) => {
      const facts = { mode: 'received', sender: ALICE, recipient: CAROL, ago } as const
      const paymentId = await pay(account, { ...facts, asset: TOKEN, fee: 1n })
      await context.db.insert(settlementFee).values({
        paymentId,
        network: 'eip155:31337',
        wallet: BOB,
        scope: 'keyless',
        reserved: fee,
        paid: fee,
      })
    }
    await ownWallet({ context, actor: who }, BOB)
    // Long ago, and on the day of the release: before it and after it.
    for (const [fee, ago] of [
      [1n, DAY],
      [20n, hour],
      [300n, -hour],
    ] as const)
      await settle(who, fee, ago)
    await settle(stranger, 4_000n, hour)
    const booked = async (account: Actor) => {
      const { payments } = await readList(context, account, listQueryOf({}))
      const { assets } = await readSummary(context, account, { wallets: undefined, days: 3 })
      return [
        payments.reduce((sum, { fee }) => sum + (fee?.own ? BigInt(fee.amountAtomic) : 0n), 0n),
        assets.reduce((sum, { feesAtomic }) => sum + BigInt(feesAtomic), 0n),
      ]
    }
    expect(await booked(who)).toEqual([321n, 321n])
    await releasePayee(context, who.accountId, BOB)
    expect(await booked(who)).toEqual([21n, 21n])
    while ((await foldTallies(context.db)) > 0);
    expect(await booked(who)).toEqual([21n, 21n])
    // It pays for another account from now on.
    await ownWallet({ context, actor: await openAccount(context) }, BOB)
    expect(await booked(who)).toEqual([21n, 21n])
    expect(await booked(stranger)).toEqual([0n, 0n])
    await releasePayee(context, (await findOwner(context.db, 'eip155:31337', BOB)) ?? '', BOB)
    await ownWallet({ context, actor: who }, BOB)
    expect(await booked(who)).toEqual([321n, 321n])
  })

  test('fees on a network that is configured no more are in the currency that its payments name, in the list and in the overview', async () => {
    const who = await openAccount(context)
    const [polygon, other] = ['eip155:137', 'eip155:999'] as const
    // Before the days of the overview, and renamed since.
    for (const [symbol, ago] of [
      ['MATIC', 50 * DAY],
      ['POL', 40 * DAY],
    ] as const)
      await pay(who, { network: polygon, symbol, ago })
    // Another account's, and a draft: neither says anything.
    await pay(await openAccount(context), { network: polygon, symbol: 'THEIRS', ago: 1 })
    await pay(who, { network: other, symbol: 'DRAFT', draft: true, status: 'created' })
    for (const network of [polygon, other])
      await pay(who, {
        network,
        asset: TOKEN,
        symbol: 'USDC',
        decimals: 6,
        direction: 'sent',
        fee: 7n,
        feePayer: ALICE,
      })
    await ownWallet({ context, actor: who }, ALICE)
    const read = async () => {
      const { payments } = await readList(context, who, listQueryOf({}))
      const { assets } = await readSummary(context, who, { wallets: undefined, days: 7 })
      return [polygon, other].map((network) => [
        payments.find((row) => row.network === network && row.fee)?.fee,
        assets.find((row) => row.network === network && row.asset === NATIVE_ETH.address),
      ])
    }
    const named = (symbol: string) => [
      expect.objectContaining({ symbol, decimals: 18, amountAtomic: '7', own: true }),
      expect.objectContaining({ symbol, decimals: 18, feesAtomic: '7' }),
    ]
    expect(await read()).toEqual([named('POL'), named('native')])
    while ((await foldTallies(context.db)) > 0);
    expect(await read()).toEqual([named('POL'), named('native')])
  })

  test('the summary adds up exactly, day by day, each asset by itself', async () => {
    const who = await openAccount(context)
    const unit = 10n ** 30n + 1n
    const slow = {
      createdAt: new Date(NOW.getTime() - DAY),
      broadcastAt: new Date(NOW.getTime() - DAY + 1000),
      confirmedAt: new Date(NOW.getTime() - DAY + 5000),
    }
    // The payer takes a while to sign: that is no time of the network.
    const quick = {
      createdAt: new Date(NOW.getTime() - 60_000),
      broadcastAt: new Date(NOW.getTime() - 59_600),
      confirmedAt: new Date(NOW.getTime() - 59_000),
    }
    await pay(who, { amount: unit, ...slow, resource: 'https://shop.example/a' })
    await pay(who, {
      amount: unit,
      ...quick,
      status: 'finalized',
      resource: 'https://shop.example/a',
    })
    await pay(who, { amount: 7n, ...quick, sender: BOB, recipient: CAROL })
    for (const status of [
      'created',
      'pending',
      'expired',
      'failed',
      'rolled_back',
    ] satisfies PaymentStatus[])
      await pay(who, { amount: unit, status })
    await pay(who, { network: SOLANA_DEVNET, amount: 3n, ago: 1000 })
    await pay(who, { amount: unit, ago: 40 * DAY })

    const summary = await readSummary(context, who, { wallets: [BOB, SOL_PAYEE], days: 3 })
    expect(summary.statuses).toEqual([
      { status: 'created', count: 1 },
      { status: 'pending', count: 1 },
      { status: 'confirmed', count: 3 },
      { status: 'finalized', count: 1 },
      { status: 'expired', count: 1 },
      { status: 'failed', count: 1 },
      { status: 'rolled_back', count: 1 },
    ])
    const [eth, sol] = summary.assets
    expect(eth).toMatchObject({
      symbol: 'ETH',
      receivedAtomic: (2n * unit).toString(),
      receivedCount: 2,
      sentAtomic: '7',
      sentCount: 1,
      medianConfirmMs: 600,
    })
    expect(eth?.days).toEqual([
      { ...NOTHING, day: '2026-11-19' },
      { ...NOTHING, day: '2026-11-20', receivedAtomic: unit.toString() },
      { ...NOTHING, day: '2026-11-21', receivedAtomic: unit.toString(), sentAtomic: '7' },
    ])
    // Of the asset's payments that came to an end, three were paid; two more are still under way.
    expect(eth).toMatchObject({ endedCount: 6, paidCount: 3 })
    expect(sol).toMatchObject({ endedCount: 1, paidCount: 1 })
    expect(sol).toMatchObject({ symbol: 'SOL', receivedAtomic: '3', medianConfirmMs: null })
    expect(summary.topPayers).toEqual([
      { address: ALICE, count: 2 },
      { address: SOL_PAYER, count: 1 },
    ])
    expect(summary.topResources).toEqual([{ resource: 'https://shop.example/a', count: 2 }])
    expect(summary).toMatchObject({
      since: Date.parse('2026-11-19T00:00:00Z'),
      until: NOW.getTime(),
    })

    for (const wallet of [BOB, CAROL, SOL_PAYEE]) await ownWallet({ context, actor: who }, wallet)
    const whole = await readSummary(context, who, { wallets: undefined, days: 1 })
    expect(whole.assets[0]).toMatchObject({
      receivedAtomic: unit.toString(),
      receivedCount: 1,
      sentAtomic: '0',
    })
  })
})
