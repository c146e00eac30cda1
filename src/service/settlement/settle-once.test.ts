import { eq, sql } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parseJson } from '#contract/json.ts'
import { createPaymentId } from '#contract/payment.ts'
import { startHttpServer, type HttpServer } from '#http/server.ts'
import { proveTxid } from '#testing/proofs.ts'
import { createTestKey } from '#testing/service-app.ts'
import { openSeveredDatabase } from '#testing/severed-database.ts'
import { eventually } from '#testing/service-context.ts'
import {
  openMinedTokenFixture,
  type MinedTokenFixture,
  type Parties,
} from '#testing/token-fixture.ts'
import { payInvoice, sendFrom } from '#testing/token-payers.ts'
import { createApp } from '../app.ts'
import type { Actor, Context } from '../context/context.ts'
import { routes } from '../api/handlers.ts'
import { revokeGrant } from '../db/claims.ts'
import { insertPayment } from '../db/payments.ts'
import { claim } from '../db/schema/proof.ts'
import { decideUndelivered, readUndelivered } from '../payments/undelivered.ts'
import { settlePayment, verifyPayment } from './facilitator.ts'

/** Verify and settle agree: one payment is told as success once, to the caller that had it broadcast, and is not called used before. */

const NETWORK = 'eip155:31337'

let fixture: MinedTokenFixture
let server: HttpServer
let key: string

beforeAll(async () => {
  fixture = await openMinedTokenFixture()
  ;({ key } = await createTestKey(fixture.context.db))
  const { fetch } = createApp(fixture.context, routes, {
    metrics: { observeRequest: () => {} },
    readiness: async () => ({ status: 'ok', checks: [] }),
  })
  server = await startHttpServer(
    { ...fixture.context.config, host: '127.0.0.1', port: 0 },
    { fetch, now: fixture.context.now, onError: (error) => expect.fail(String(error)) },
  )
})

afterAll(async () => {
  await server?.stop(1_000)
  await fixture?.[Symbol.asyncDispose]()
})

type Input = Parameters<typeof settlePayment>[2]

async function paid(all: Parties): Promise<{ header: string; input: Input }> {
  const header = await payInvoice(all.client, all.requirements)
  return {
    header,
    input: {
      x402Version: 2,
      paymentPayload: payloadOf(header),
      paymentRequirements: all.requirements,
    },
  }
}

const payloadOf = (header: string) =>
  parseJson(Buffer.from(header, 'base64').toString()) as Record<string, unknown>
const verify = (input: Input, actor: Actor = fixture.actor) =>
  verifyPayment(fixture.context, actor, input)
const settle = (input: Input, actor: Actor = fixture.actor, context: Context = fixture.context) =>
  settlePayment(context, actor, input)
const withResource = (input: Input, resource: string) => ({
  ...input,
  paymentRequirements: {
    ...input.paymentRequirements,
    extra: { ...(input.paymentRequirements.extra as object), resource },
  },
})

/** Whether a settlement waits in the pool. */
const pooled = () =>
  eventually(
    async () => (await fixture.evm.client.getTxpoolContent()).pending,
    (pending) =>
      Object.keys(pending).some(
        (sender) => sender.toLowerCase() === fixture.facilitator.address.toLowerCase(),
      ),
  )

/** Settles over HTTP with a connection that can be closed. */
function settleOverHttp(input: Input) {
  const connection = new AbortController()
  const answer = fetch(`http://127.0.0.1:${server.port}/facilitator/settle`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(input),
    signal: connection.signal,
  }).then((response) => response.json())
  return { answer, close: () => connection.abort() }
}

describe('a payment whose settlement is pending, or has landed and was not told as success', () => {
  test('is valid for the same question of the same account, and used only after success was told', async () => {
    const all = await fixture.parties()
    const { header, input } = await paid(all)
    {
      using _ = fixture.withoutMining()
      // The same question at the other endpoint, which gives up soon.
      expect(await fixture.receive(all, header, { resource: undefined, timeout: 2 })).toMatchObject(
        {
          verified: false,
          status: 'pending',
        },
      )
      expect(await verify(input)).toMatchObject({ isValid: true, payer: all.payer.address })
      expect(await verify(withResource(input, 'https://shop.example/a'))).toMatchObject({
        isValid: false,
        invalidReason: 'duplicate_settlement',
      })
      const forged = {
        ...input,
        paymentPayload: {
          ...input.paymentPayload,
          payload: {
            ...(input.paymentPayload.payload as object),
            signature: `0x${'11'.repeat(64)}1b`,
          },
        },
      }
      expect(await verify(forged)).toMatchObject({
        isValid: false,
        invalidReason: 'invalid_exact_evm_payload_signature',
        payer: all.payer.address,
      })
    }
    await eventually(
      () => fixture.balance(all.asset, all.payee.address),
      (held) => held === all.amount,
    )
    expect(await verify(input)).toMatchObject({ isValid: true, payer: all.payer.address })
    expect(await settle(input)).toMatchObject({
      success: true,
      payer: all.payer.address,
      transaction: expect.stringMatching(/^0x/),
    })
    expect(await verify(input)).toMatchObject({
      isValid: false,
      invalidReason: 'already_used',
      payer: all.payer.address,
    })
    expect(await settle(input)).toMatchObject({
      success: false,
      errorReason: 'already_used',
      transaction: '',
    })
    expect(await fixture.balance(all.asset, all.payee.address)).toBe(all.amount)
  })
})

describe('of all settlements of one payment one is told success', () => {
  test('parallel ones wait, and are told duplicate_settlement', async () => {
    const all = await fixture.parties()
    const { input } = await paid(all)
    const blocks = fixture.withoutMining()
    const first = settle(input)
    await pooled()
    const others = Array.from({ length: 5 }, () => settle(input))
    blocks[Symbol.dispose]()
    expect(await first).toMatchObject({ success: true })
    for (const other of await Promise.all(others))
      expect(other).toMatchObject({
        success: false,
        errorReason: 'duplicate_settlement',
        transaction: '',
      })
    expect(await settle(input)).toMatchObject({
      success: false,
      errorReason: 'already_used',
      transaction: '',
    })
  })

  test('a connection that closes while its settlement is pending leaves the grant to the next settlement of the same caller', async () => {
    const all = await fixture.parties()
    const { input } = await paid(all)
    const blocks = fixture.withoutMining()
    const first = settleOverHttp(input)
    await pooled()
    first.close()
    await expect(first.answer).rejects.toThrow('aborted')
    const second = settleOverHttp(input)
    blocks[Symbol.dispose]()
    expect(await second.answer).toMatchObject({ success: true, payer: all.payer.address })
    expect(await settleOverHttp(input).answer).toMatchObject({
      success: false,
      errorReason: 'already_used',
    })
    expect(await fixture.balance(all.asset, all.payee.address)).toBe(all.amount)
  })

  test('a grant whose answer could not be written is given back', async () => {
    const all = await fixture.parties()
    const { input } = await paid(all)
    const undone: Promise<void>[] = []
    const closing = {
      gone: false,
      ifUnanswered: (undo: () => Promise<void>) => void undone.push(undo()),
    }
    expect(await settle(input, { ...fixture.actor, caller: closing })).toMatchObject({
      success: true,
    })
    await Promise.all(undone)
    expect(await verify(input)).toMatchObject({ isValid: true })
    expect(await settle(input)).toMatchObject({ success: true })
    expect(await settle(input)).toMatchObject({ success: false, errorReason: 'already_used' })
  })

  test('a settlement that gave up is told as success at the next try, as the official server makes one', async () => {
    const all = await fixture.parties()
    const { header, input } = await paid(all)
    using _ = fixture.withoutMining()
    expect(await fixture.receive(all, header, { resource: undefined, timeout: 2 })).toMatchObject({
      verified: false,
    })
    const waiting = settle(input)
    await fixture.evm.mine(3)
    expect(await waiting).toMatchObject({ success: true })
  })
})

describe('a payment that was settled and that no caller was told of', () => {
  const page = { limit: 50, offset: 0 }
  const list = async (actor: Actor = fixture.actor) =>
    (await readUndelivered(fixture.context, actor, page)).payments.map(({ paymentId }) => paymentId)
  const decide = (paymentId: string, delivered: boolean, actor: Actor = fixture.actor) =>
    decideUndelivered(fixture.context, { actor, paymentId, delivered }, {})

  /** Settles a payment whose caller closes the connection before the answer is written. */
  async function leaveAlone(): Promise<{ paymentId: string; input: Input; all: Parties }> {
    const before = await list()
    const all = await fixture.parties()
    const { input } = await paid(all)
    const undone: Promise<void>[] = []
    const closing = {
      gone: false,
      ifUnanswered: (undo: () => Promise<void>) => void undone.push(undo()),
    }
    expect(await settle(input, { ...fixture.actor, caller: closing })).toMatchObject({
      success: true,
    })
    await Promise.all(undone)
    const [paymentId = ''] = (await list()).filter((id) => !before.includes(id))
    return { paymentId, input, all }
  }

  test('is in the inbox of its account alone, until the same proof is told success', async () => {
    const { paymentId, input, all } = await leaveAlone()
    const { total, payments } = await readUndelivered(fixture.context, fixture.actor, page)
    expect(total).toBe(payments.length)
    expect(payments.find((each) => each.paymentId === paymentId)).toMatchObject({
      amountAtomic: all.amount.toString(),
      sender: all.payer.address,
      refund: { state: 'none' },
    })
    expect(await list({ ...fixture.actor, accountId: 'acc_another' })).toEqual([])
    await expect(
      decide(paymentId, true, { ...fixture.actor, accountId: 'acc_another' }),
    ).rejects.toMatchObject({ code: 'NOT_FOUND' })
    expect(await settle(input)).toMatchObject({ success: true })
    expect(await list()).not.toContain(paymentId)
    await expect(decide(paymentId, true)).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })

  test('leaves it when a person says that they delivered it; then no proof of it is told success, until they undo it', async () => {
    const { paymentId, input } = await leaveAlone()
    expect(await decide(paymentId, true)).toEqual({ success: true, paymentId, delivered: true })
    expect(await list()).not.toContain(paymentId)
    expect(await verify(input)).toMatchObject({ isValid: false, invalidReason: 'already_used' })
    expect(await settle(input)).toMatchObject({
      success: false,
      errorReason: 'already_used',
      transaction: '',
    })
    expect(await decide(paymentId, false)).toEqual({ success: true, paymentId, delivered: false })
    expect(await list()).toContain(paymentId)
    expect(await settle(input)).toMatchObject({ success: true })
  })

  test('returns to it when the caller that was told says that it could not deliver', async () => {
    const { paymentId, input } = await leaveAlone()
    expect(await settle(input)).toMatchObject({ success: true })
    expect(await settle(input)).toMatchObject({ success: false, errorReason: 'already_used' })
    await expect(
      decide(paymentId, false, { ...fixture.actor, accountId: 'acc_another' }),
    ).rejects.toMatchObject({ code: 'NOT_FOUND' })
    expect(await decide(paymentId, false)).toEqual({ success: true, paymentId, delivered: false })
    expect(await list()).toContain(paymentId)
    expect(await settle(input)).toMatchObject({ success: true })
    expect(await list()).not.toContain(paymentId)
  })

  test('leaves it once it was refunded in full, and is never told as success', async () => {
    const { paymentId, input, all } = await leaveAlone()
    const returned = (status: 'confirmed' | 'pending', amount: bigint) =>
      insertPayment(fixture.context.db, {
        id: createPaymentId(),
        accountId: fixture.actor.accountId,
        mode: 'hosted',
        status,
        network: NETWORK,
        asset: all.asset.address,
        symbol: all.asset.symbol,
        decimals: all.asset.decimals,
        amount,
        sender: all.payee.address,
        recipient: all.payer.address,
        refundOf: paymentId,
      })
    await returned('confirmed', all.amount - 1n)
    await returned('pending', 1n)
    expect(await list()).toContain(paymentId)
    await returned('confirmed', 1n)
    expect(await list()).not.toContain(paymentId)
    // Money that went back pays for nothing.
    expect(await verify(input)).toMatchObject({ isValid: false, invalidReason: 'already_used' })
    expect(await settle(input)).toMatchObject({ success: false, transaction: '' })
  })
})

describe('a database that is lost between the commit of a grant and its answer', () => {
  const caller = (gone: () => boolean): { actor: Actor; undos: (() => Promise<void>)[] } => {
    const undos: (() => Promise<void>)[] = []
    const watched = {
      get gone() {
        return gone()
      },
      ifUnanswered: (undo: () => Promise<void>) => void undos.push(undo),
    }
    return { actor: { ...fixture.actor, caller: watched }, undos }
  }

  /** Another process of the service, whose way to Postgres can be cut. */
  async function openProcess() {
    const { db, way, ...opened } = await openSeveredDatabase(fixture.context.config.database)
    const context: Context = { ...fixture.context, db }
    return { context, way, ...opened }
  }

  test('grants the call that asked, and no other one', async () => {
    await using beside = await openProcess()
    const { input } = await paid(await fixture.parties())
    beside.way.atGrant = 'once'
    const told = await settle(input, caller(() => false).actor, beside.context)
    expect(beside.way.cut).toBe(1)
    expect(told).toMatchObject({ success: true })
    expect(await settle(input)).toMatchObject({ success: false, errorReason: 'already_used' })
  })

  test('leaves the grant to the next call when it does not come back in time', async () => {
    await using beside = await openProcess()
    const { input } = await paid(await fixture.parties())
    beside.way.atGrant = 'away'
    const gone = () => beside.way.cut > 0
    await expect(settle(input, caller(gone).actor, beside.context)).rejects.toThrow('Failed query')
    expect(beside.way.cut).toBe(1)
    // It was committed.
    expect(await verify(input)).toMatchObject({ isValid: false, invalidReason: 'already_used' })
    beside.way.away = false
    expect(await settle(input, fixture.actor, beside.context)).toMatchObject({ success: true })
    expect(await settle(input)).toMatchObject({ success: false, errorReason: 'already_used' })
  })

  test('is asked again to revoke a grant whose answer was not written', async () => {
    await using beside = await openProcess()
    const { input } = await paid(await fixture.parties())
    const first = caller(() => false)
    expect(await settle(input, first.actor, beside.context)).toMatchObject({ success: true })
    beside.way.atGrant = 'away'
    const revoked = Promise.all(first.undos.map((undo) => undo()))
    await expect.poll(() => beside.way.cut).toBe(1)
    beside.way.away = false
    await revoked
    expect(await settle(input)).toMatchObject({ success: true })
  })

  test('has a late revocation leave the grant of another call', async () => {
    const { input } = await paid(await fixture.parties())
    const first = caller(() => false)
    const told = await settle(input, first.actor)
    expect(told).toMatchObject({ success: true })
    // The seller says that it could not deliver, and settles again.
    await decideUndelivered(
      fixture.context,
      { actor: fixture.actor, paymentId: String(told.paymentId), delivered: false },
      {},
    )
    expect(await settle(input)).toMatchObject({ success: true })
    for (const undo of first.undos) await undo()
    expect(await settle(input)).toMatchObject({ success: false, errorReason: 'already_used' })
  })

  test('has a revocation wait for a grant that is still being committed', async () => {
    await using beside = await openProcess()
    const { input } = await paid(await fixture.parties())
    const { paymentId } = await settle(input)
    const { db } = fixture.context
    const call = { paymentId: String(paymentId), attempt: 'a call that lost its connection' }
    const rowOf = eq(claim.paymentId, call.paymentId)
    await db.update(claim).set({ attempt: 'nobody', grantedCall: null }).where(rowOf)
    let revoked: Promise<void> | undefined
    await beside.context.db.transaction(async (tx) => {
      await tx.update(claim).set({ attempt: 'granted', grantedCall: call.attempt }).where(rowOf)
      revoked = revokeGrant(db, call)
      const waiting = sql`select count(*)::int as n from pg_locks where not granted`
      await expect.poll(async () => (await db.execute(waiting)).rows[0]?.['n']).toBeGreaterThan(0)
    })
    await revoked
    expect(await settle(input)).toMatchObject({ success: true })
  })
})

describe('callers without a key', () => {
  const keyless = (address: string): Actor => ({ ...fixture.actor, keyless: true, address })

  test('are told only of what they began themselves', async () => {
    const all = await fixture.parties()
    const { input } = await paid(all)
    const blocks = fixture.withoutMining()
    const own = settle(input, keyless('192.0.2.1'))
    await pooled()
    expect(await verify(input, keyless('192.0.2.2'))).toMatchObject({
      isValid: false,
      invalidReason: 'duplicate_settlement',
    })
    expect(await settle(input, keyless('192.0.2.2'))).toMatchObject({
      success: false,
      errorReason: 'duplicate_settlement',
      transaction: '',
    })
    expect(await verify(input, keyless('192.0.2.1'))).toMatchObject({ isValid: true })
    blocks[Symbol.dispose]()
    expect(await own).toMatchObject({ success: true })
    expect(await settle(input, keyless('192.0.2.2'))).toMatchObject({
      success: false,
      errorReason: 'already_used',
      transaction: '',
    })
  })

  test('settle nothing by the name of a transaction, which is public', async () => {
    const [payer, payee] = await Promise.all([
      fixture.evm.wallet(10n ** 18n),
      fixture.evm.wallet(0n),
    ])
    const txRef = await sendFrom(fixture.evm, payer, {
      to: payee.address,
      value: 10n ** 16n,
      gas: 21_000n,
    })
    await fixture.evm.mine(3)
    const header = await proveTxid({
      payer,
      payTo: payee.address,
      network: NETWORK,
      amount: 10n ** 16n,
      txRef,
    })
    const paymentPayload = payloadOf(header)
    const input = {
      x402Version: 2,
      paymentPayload,
      paymentRequirements: paymentPayload.accepted as Record<string, unknown>,
    }
    expect(await verify(input, keyless('192.0.2.1'))).toMatchObject({
      isValid: false,
      invalidReason: 'unsupported_asset_transfer_method',
    })
    expect(await settle(input, keyless('192.0.2.1'))).toMatchObject({
      success: false,
      errorReason: 'unsupported_asset_transfer_method',
      transaction: '',
    })
    expect(await settle(input)).toMatchObject({ success: true })
  })

  test('settle no signed transaction that the network shows already', async () => {
    const [payer, payee] = await Promise.all([
      fixture.evm.wallet(10n ** 18n),
      fixture.evm.wallet(0n),
    ])
    const fields = {
      chainId: 31337,
      gas: 21_000n,
      maxFeePerGas: 10n ** 10n,
      maxPriorityFeePerGas: 10n ** 9n,
      nonce: 0,
      to: payee.address,
      value: 10n ** 16n,
    }
    const signedTransaction = await payer.signTransaction({ type: 'eip1559', ...fields })
    const [native] = fixture.tokens.network.assets
    const accepted = {
      scheme: 'exact',
      network: NETWORK,
      amount: '10000000000000000',
      asset: native?.address ?? '',
      payTo: payee.address,
      maxTimeoutSeconds: 60,
      extra: { assetTransferMethod: 'signed-transaction' },
    }
    const input = {
      x402Version: 2,
      paymentPayload: { x402Version: 2, accepted, payload: { signedTransaction } },
      paymentRequirements: accepted,
    }
    expect(await verify(input, keyless('192.0.2.1'))).toMatchObject({ isValid: true })
    await fixture.evm.client.sendRawTransaction({ serializedTransaction: signedTransaction })
    const refusal = 'invalid_exact_evm_nonce_already_used'
    expect(await verify(input, keyless('192.0.2.1'))).toMatchObject({
      isValid: false,
      invalidReason: refusal,
    })
    expect(await settle(input, keyless('192.0.2.1'))).toMatchObject({
      success: false,
      errorReason: refusal,
      transaction: '',
    })
    expect(await settle(input)).toMatchObject({
      success: false,
      errorReason: refusal,
      transaction: '',
    })
  })
})
