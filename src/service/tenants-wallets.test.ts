import type { PrivateKeyAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { at, classOf, listAt, succeed } from '#testing/api-client.ts'
import { SocketClient } from '#testing/socket-client.ts'
import { signEvidence } from '#testing/tenant-evidence.ts'
import {
  expectLedger,
  expectNoDrafts,
  readHoldings,
  readRows,
  readStatus,
  readUnmatched,
  type Baseline,
} from '#testing/tenant-ledger.ts'
import {
  buildOrder,
  untilMonitored,
  nonceOf,
  payOrder,
  RAISED_FEES,
  report,
  untilPaid,
  untilStatus,
  untilUnmatched,
  WALLET_FEES,
  type TenantOrder,
} from '#testing/tenant-orders.ts'
import { payPlain } from '#testing/tenant-proofs.ts'
import { openTenants, type Tenants } from '#testing/two-tenants.ts'

/** What wallets do with a transaction that they are given: keep its fees, replace them, speed it up; and how its payer shows whose it is. */

let t: Tenants
let before: Baseline

beforeAll(async () => {
  t = await openTenants()
  before = await readHoldings(t, t.a)
})

afterAll(() => t?.[Symbol.asyncDispose]())

const UNPAID = ['created', 'pending', 'expired']

type Made = { payer: PrivateKeyAccount; order: TenantOrder }

async function make(asset: 'ETH' | 'USDC' = 'ETH', more: object = {}): Promise<Made> {
  const payer = await t.payer()
  return { payer, order: await buildFor(payer, asset, more) }
}

const buildFor = (payer: PrivateKeyAccount, asset: 'ETH' | 'USDC' = 'ETH', more: object = {}) =>
  buildOrder(t.a, { from: payer.address, to: t.a.payout.evm.address, amount: 0.01, asset }, more)

async function attributionOf(order: TenantOrder): Promise<unknown> {
  return at((await readStatus(t.a, order.paymentId)).body, 'attribution')
}

/** What the service says of the order once its monitor has read everything on the chain. */
async function statusAfterMonitoring(order: TenantOrder): Promise<string> {
  await untilMonitored(t)
  return String(at((await readStatus(t.a, order.paymentId)).body, 'status'))
}

describe.each(['ETH', 'USDC'] as const)('%s', (asset) => {
  test('a wallet that keeps the fees: the order is confirmed by them, without a report', async () => {
    const { payer, order } = await make(asset)
    await payOrder(t, payer, order)
    await untilPaid(t, t.a, order)
    expect(await attributionOf(order)).toMatchObject({ evidence: 'fingerprint', missing: [] })
  })

  test('a wallet that replaces the fees: no report confirms the order, its payer’s signature does', async () => {
    const { payer, order } = await make(asset)
    const hash = await payOrder(t, payer, order, WALLET_FEES)
    await t.evm.mine(3)
    expect((await report(t.a, order, hash)).status).toBe(200)
    expect(UNPAID).toContain(await statusAfterMonitoring(order))
    const transfer = await untilUnmatched(t, t.a, hash)
    expect(transfer.candidates).toContain(order.paymentId)
    expect([await readUnmatched(t.b), await readUnmatched(t.c)]).toEqual([[], []])
    expect(await attributionOf(order)).toMatchObject({
      evidence: null,
      missing: expect.arrayContaining(['payer_signature']),
      transfer: expect.any(String),
    })

    const thief = await signEvidence(await t.payer(), order.reply)
    const forged = await report(t.a, order, hash, { payerSignature: thief })
    expect([classOf(forged), at(forged.body, 'error.details.payerSignature')]).toEqual([
      'INVALID_PARAMETERS',
      expect.any(String),
    ])
    expect(UNPAID).toContain(await statusAfterMonitoring(order))

    const { body } = await readStatus(t.a, order.paymentId)
    succeed(await report(t.a, order, hash, { payerSignature: await signEvidence(payer, body) }))
    await untilPaid(t, t.a, order)
    expect(await attributionOf(order)).toMatchObject({ evidence: 'payer_signature', missing: [] })
    expect((await readUnmatched(t.a)).map(({ signature }) => signature)).not.toContain(hash)
  })

  test.each(['before', 'after'] as const)(
    'a wallet that speeds up: the payer’s signature %s it lands confirms the order',
    async (when) => {
      const { payer, order } = await make(asset)
      const slow = await payOrder(t, payer, order)
      const fast = await payOrder(t, payer, order, RAISED_FEES)
      const payerSignature = await signEvidence(payer, order.reply)
      if (when === 'before') succeed(await report(t.a, order, slow, { payerSignature }))
      await t.evm.mine(3)
      if (when === 'after') succeed(await report(t.a, order, fast, { payerSignature }))
      await untilPaid(t, t.a, order)
      expect((await readStatus(t.a, order.paymentId)).body).toMatchObject({
        signature: fast,
        attribution: { evidence: 'payer_signature' },
      })
    },
  )

  test('a wallet that chooses its own nonce: the signature names the nonce, and one over another nonce confirms nothing', async () => {
    const { payer, order } = await make(asset)
    await payPlain(t, payer, { to: (await t.payer()).address, value: 1n, nonce: nonceOf(order) })
    const nonce = nonceOf(order) + 1
    const hash = await payOrder(t, payer, order, { ...WALLET_FEES, nonce })
    await t.evm.mine(3)
    await report(t.a, order, hash, { payerSignature: await signEvidence(payer, order.reply) })
    expect(UNPAID).toContain(await statusAfterMonitoring(order))
    succeed(
      await report(t.a, order, hash, {
        payerSignature: await signEvidence(payer, order.reply, { nonce: String(nonce) }),
        payerNonce: nonce,
      }),
    )
    await untilPaid(t, t.a, order)
  })

  test('a sender who is verified: the order is confirmed whatever the wallet did to the fees', async () => {
    const { payer, order } = await make(asset, { senderVerified: true })
    await payOrder(t, payer, order, WALLET_FEES)
    await untilPaid(t, t.a, order)
    expect(await attributionOf(order)).toMatchObject({ evidence: 'sender', missing: [] })
  })
})

test('a transaction that landed before its order was built is never its payment, even when the payer signs', async () => {
  const payer = await t.payer()
  const held = await readHoldings(t, t.a)
  const hash = await payPlain(t, payer, { to: t.a.payout.evm.address, value: 10n ** 16n })
  await t.evm.mine(2)
  // Nobody asked for this money here: it is no part of the books.
  for (const [name, now] of await readHoldings(t, t.a))
    before.set(name, (before.get(name) ?? 0n) + now - (held.get(name) ?? 0n))
  const order = await buildFor(payer)
  await report(t.a, order, hash, {
    payerSignature: await signEvidence(payer, order.reply, { nonce: '0' }),
    payerNonce: 0,
  })
  expect(UNPAID).toContain(await statusAfterMonitoring(order))
})

test('of two equal orders of a verified sender the reported one is paid, and an unverified one never competes', async () => {
  const payer = await t.payer()
  const planted = await buildFor(payer, 'ETH', { senderVerified: false })
  const [one, other] = [
    await buildFor(payer, 'ETH', { senderVerified: true }),
    await buildFor(payer, 'ETH', { senderVerified: true }),
  ]
  const late = await buildFor(payer, 'ETH', { senderVerified: false })
  const hash = await payOrder(t, payer, one, WALLET_FEES)
  for (const order of [planted, late]) await report(t.a, order, hash, { senderVerified: false })
  succeed(await report(t.a, one, hash, { senderVerified: true }))
  await t.evm.mine(3)
  await untilPaid(t, t.a, one)
  for (const order of [planted, other, late])
    expect(UNPAID).toContain(await statusAfterMonitoring(order))
})

test('a sender who is verified only after paying: the order says what is missing, then is confirmed', async () => {
  const { payer, order } = await make('ETH', { senderVerified: false })
  const hash = await payOrder(t, payer, order, WALLET_FEES)
  await t.evm.mine(3)
  await untilUnmatched(t, t.a, hash)
  expect(await attributionOf(order)).toMatchObject({
    evidence: null,
    missing: expect.arrayContaining(['sender_verification']),
  })
  succeed(await report(t.a, order, hash, { senderVerified: true }))
  await untilPaid(t, t.a, order)
})

test('a merchant’s own wallet is a proven sender: its payment is sent, whatever the wallet did to the fees', async () => {
  const order = await buildOrder(t.a, {
    from: t.a.payout.evm.address,
    to: (await t.payer()).address,
    amount: 0.02,
  })
  await payOrder(t, t.a.payout.evm, order, WALLET_FEES)
  await untilPaid(t, t.a, order)
  expect((await readStatus(t.a, order.paymentId)).body).toMatchObject({
    direction: 'sent',
    attribution: { evidence: 'sender' },
  })
})

test('money that waits is assigned by its owner: recorded, reversible, and no status moves', async () => {
  const { payer, order } = await make()
  const hash = await payOrder(t, payer, order, WALLET_FEES)
  const { transferId } = await untilUnmatched(t, t.a, hash)
  const assign = (tenant: typeof t.a, body: object) =>
    tenant.api.post(`/unmatched/${transferId}/assign`, body)
  const assignedOf = async () =>
    at(
      listAt((await t.a.api.get('/unmatched?limit=500')).body, 'transfers').find(
        (each) => at(each, 'transferId') === transferId,
      ),
      'assigned',
    )
  const foreign = await buildOrder(t.b, {
    from: payer.address,
    to: t.b.payout.evm.address,
    amount: 0.01,
  })
  for (const tenant of [t.b, t.c])
    expect(classOf(await assign(tenant, { paymentId: foreign.paymentId }))).toBe('NOT_FOUND')
  expect((await assign(t.a, { paymentId: foreign.paymentId })).status).toBeGreaterThanOrEqual(400)
  expect(await assignedOf()).toBeNull()

  succeed(await assign(t.a, { paymentId: order.paymentId, by: 'Ada', note: 'She called.' }))
  expect(await assignedOf()).toMatchObject({
    paymentId: order.paymentId,
    by: 'Ada',
    note: 'She called.',
    at: expect.any(Number),
  })
  expect(UNPAID).toContain(await statusAfterMonitoring(order))
  expect(classOf(await t.b.api.post(`/unmatched/${transferId}/unassign`, {}))).toBe('NOT_FOUND')
  succeed(await t.a.api.post(`/unmatched/${transferId}/unassign`, {}))
  expect(await assignedOf()).toBeNull()
  expect(UNPAID).toContain(await statusAfterMonitoring(order))
})

test('drafts of visitors who have shown nothing are in no list, figure or event, and one that is paid comes with all of its events', async () => {
  const socket = new SocketClient({ port: t.service.port })
  onTestFinished(() => socket.ws.terminate())
  await socket.enter(t.a.key, ['payments'])
  const paid = await make('ETH', { senderVerified: false })
  const idle = await Promise.all(
    Array.from({ length: 4 }, () => make('ETH', { senderVerified: false })),
  )
  const ids = [paid, ...idle].map(({ order }) => order.paymentId)
  await expectNoDrafts(t.a, ids)
  expect((await readRows(t.a, 'status=incomplete')).map(({ paymentId }) => paymentId)).toEqual(
    expect.arrayContaining(ids),
  )
  await payOrder(t, paid.payer, paid.order)
  await untilPaid(t, t.a, paid.order)
  await expectNoDrafts(t.a, ids.slice(1))
  expect((await readRows(t.a)).map(({ paymentId }) => paymentId)).toContain(paid.order.paymentId)
  const told = () =>
    socket
      .events()
      .filter(({ paymentId }) => paymentId === paid.order.paymentId)
      .map(({ status }) => status)
  await t.until(
    async () => told(),
    (statuses) => statuses.includes('finalized'),
  )
  expect(told().slice(0, 1)).toEqual(['created'])
  expect(socket.events().filter(({ paymentId }) => ids.slice(1).includes(paymentId ?? ''))).toEqual(
    [],
  )

  await t.evm.mine(400)
  for (const { order } of idle)
    await untilStatus(t, { tenant: t.a, paymentId: order.paymentId }, ['expired'])
  await expectNoDrafts(t.a, ids.slice(1))
  expect(socket.events().filter(({ paymentId }) => ids.slice(1).includes(paymentId ?? ''))).toEqual(
    [],
  )
})

test('the books of the merchant are those of the chain', () => expectLedger(t, t.a, before))
