import { sql } from 'drizzle-orm'
import { parseTransaction, toHex } from 'viem'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { startEvm, startGate, type EvmFixture } from '#testing/local-chains.ts'
import { refusal, refused } from '#testing/proofs.ts'
import { eventually } from '#testing/service-context.ts'
import { openTokenFixture, type Parties, type TokenFixture } from '#testing/token-fixture.ts'
import { payInvoice } from '#testing/token-payers.ts'
import { takeClaim } from '../../db/claims.ts'
import { lockPayment } from '../../db/payments.ts'
import { readOrders } from '../../db/settlement-orders.ts'
import { readPaymentBody } from '../../payments/status.ts'
import { reportSubmitted } from '../../monitor/report.ts'
import { pollOnce } from '../../monitor/poll.ts'
import { buildSettlement } from './build.ts'

/**
 * When a settlement built for its payee is over: never while it may land, and what lands later is
 * found.
 */

const GOOD_FOR_S = 600
const DAY_S = 86_400
const DAY_MS = DAY_S * 1000

let evm: EvmFixture
let gate: Awaited<ReturnType<typeof startGate>>
let fixture: TokenFixture
let later = 0

beforeAll(async () => {
  evm = await startEvm({ slotsInEpoch: 2 })
  gate = await startGate(evm.rpcUrl)
  fixture = await openTokenFixture(evm, {
    rpcUrls: [gate.url],
    now: () => new Date(Date.now() + later),
  })
})

afterAll(async () => {
  await fixture?.[Symbol.asyncDispose]()
  await gate?.[Symbol.asyncDispose]()
  await evm?.[Symbol.asyncDispose]()
})

beforeEach(() => {
  gate.lie = undefined
  later = 0
})

const chainSeconds = async () => Number((await evm.client.getBlock()).timestamp)
const ahead = async () => Math.max(0, (await chainSeconds()) - Math.floor(Date.now() / 1000))

async function built(wanted?: number) {
  const all = await fixture.parties({ validSeconds: wanted ?? (await ahead()) + GOOD_FOR_S })
  await evm.client.setBalance({ address: all.payee.address, value: 10n ** 18n })
  const proof = await payInvoice(all.client, all.requirements)
  const ask = () =>
    buildSettlement(fixture.context, fixture.actor, {
      walletAddress: all.payee.address,
      paymentProof: proof,
      expectedAmount: '1.5',
      asset: 'USDC',
      resource: URL,
    })
  const { paymentId, transaction } = await ask()
  return { all, proof, ask, paymentId, transaction }
}

const URL = 'https://shop.example/a'

/** The payee signs what was built for it, and mines it. */
async function settle({ payee }: Parties, transaction: string): Promise<string> {
  const parsed = parseTransaction(toHex(Buffer.from(transaction, 'base64')))
  if (parsed.type !== 'eip1559') throw new Error('not such a transaction')
  const hash = await evm.client.sendRawTransaction({
    serializedTransaction: await payee.signTransaction(parsed),
  })
  await evm.mine(2)
  return hash
}

async function statusOf(paymentId: string): Promise<string> {
  const tip = Number(await evm.client.getBlockNumber())
  await eventually(
    () => fixture.chain.head(),
    ({ height }) => height >= tip,
  )
  expect((await pollOnce(fixture.context, fixture.chain, { expiredToo: true })).failures).toEqual(
    [],
  )
  return (await readPaymentBody(fixture.context, paymentId)).status
}

const hideLogs = (asked: string, answer: string) =>
  asked.includes('"eth_getLogs"') ? JSON.stringify({ ...JSON.parse(answer), result: [] }) : answer

test('an executed payment stays open while the RPC endpoint does not show its transaction, at any age', async () => {
  const { all, proof, paymentId, transaction } = await built()
  const hash = await settle(all, transaction)
  gate.lie = hideLogs
  expect(await statusOf(paymentId)).toBe('created')
  later = 2 * DAY_MS
  expect(await statusOf(paymentId)).toBe('created')
  // A report of it is not rejected as another transaction.
  expect(
    await reportSubmitted(fixture.context, fixture.actor, { paymentId, signature: hash }),
  ).toMatchObject({ status: 'created', signature: hash })
  later = 0
  gate.lie = undefined
  expect(await statusOf(paymentId)).toBe('confirmed')
  expect(await fixture.receive(all, proof)).toMatchObject({
    paymentId,
    signature: hash,
    verified: true,
    alreadyProcessed: true,
  })
})

test('one that is good for longer and was given up after a day is paid when it lands after all, at either door once', async () => {
  const { all, proof, paymentId, transaction } = await built(DAY_S)
  later = DAY_MS + 10_000
  expect(await statusOf(paymentId)).toBe('expired')
  const hash = await settle(all, transaction)
  expect(await statusOf(paymentId)).toBe('confirmed')
  expect(await readPaymentBody(fixture.context, paymentId)).toMatchObject({
    signature: hash,
    failure: null,
  })
  later = 0
  expect(await fixture.receive(all, proof)).toMatchObject({
    paymentId,
    verified: true,
    alreadyProcessed: true,
  })
  expect(await refusal(fixture.receive(all, proof, { resource: undefined }))).toEqual(
    refused('already_used', 'single_use'),
  )
})

test('an expired payment that landed is found by a request about its proof before the next poll', async () => {
  const { all, proof, paymentId, transaction } = await built(DAY_S)
  later = DAY_MS + 10_000
  expect(await statusOf(paymentId)).toBe('expired')
  later = 0
  await settle(all, transaction)
  expect(await fixture.receive(all, proof)).toMatchObject({ paymentId, verified: true })
})

test('an expired payment is built again as another payment, and only that one lands', async () => {
  const { all, ask, paymentId } = await built(DAY_S)
  later = DAY_MS + 10_000
  expect(await statusOf(paymentId)).toBe('expired')
  later = 0
  const again = await ask()
  expect(again).toMatchObject({ status: 'created' })
  expect(again.paymentId).not.toBe(paymentId)
  await settle(all, again.transaction)
  expect(await statusOf(again.paymentId)).toBe('confirmed')
  expect((await readPaymentBody(fixture.context, paymentId)).status).toBe('expired')
})

test('one is over by the chain’s clock, not by ours', async () => {
  const { paymentId } = await built()
  later = (GOOD_FOR_S + (await ahead())) * 1000 + DAY_MS / 2
  expect(await statusOf(paymentId)).toBe('created')
  await evm.client.increaseTime({ seconds: GOOD_FOR_S + 60 })
  await evm.mine()
  expect(await statusOf(paymentId)).toBe('created')
  await evm.mine(6)
  expect(await statusOf(paymentId)).toBe('expired')
})

const WAITING = sql`select pid from pg_locks where not granted and pg_backend_pid() = any(pg_blocking_pids(pid))`

test('its payment is locked before its claim, as by everybody: nobody who has the payment waits for one who has the claim', async () => {
  const { context, actor } = fixture
  const { all, paymentId, transaction } = await built()
  await settle(all, transaction)
  const question = (await readOrders(context.db, [paymentId])).get(paymentId)
  if (!question) throw new Error('Expected the settlement that was built.')
  const { network, key, fingerprint, accountId } = question
  // Another caller presents the proof at this moment.
  const claimant = { scope: accountId, accountId: actor.accountId, exclusive: false }
  await takeClaim(context.db, { network, key, fingerprint, ...claimant })
  let polled: Promise<string> = Promise.resolve('')
  await context.db.transaction(async (tx) => {
    await lockPayment(tx, paymentId)
    polled = statusOf(paymentId)
    await eventually(
      async () => (await tx.execute(WAITING)).rows.length,
      (waiting) => waiting > 0,
    )
    const claimed = sql`select key from service.claim where key = ${key} for update nowait`
    expect((await tx.execute(claimed)).rows).toHaveLength(1)
  })
  expect(await polled).toBe('confirmed')
})
