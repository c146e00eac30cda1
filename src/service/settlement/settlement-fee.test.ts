import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { startEvm, type EvmFixture } from '#testing/local-chains.ts'
import { eventually, openContext } from '#testing/service-context.ts'
import { openTokenFixture, type TokenFixture } from '#testing/token-fixture.ts'
import { payInvoice } from '#testing/token-payers.ts'
import { readAttempts } from '../db/attempts.ts'
import { payment } from '../db/schema/payment.ts'
import { eq } from 'drizzle-orm'
import { readPaymentBody } from '../payments/status.ts'
import { pollOnce } from '../monitor/poll.ts'

/** A settlement whose network fee our wallet pays, when fees rise above its offer. */

const GWEI = 10n ** 9n

let evm: EvmFixture
let fixture: TokenFixture
let later = 0

beforeAll(async () => {
  evm = await startEvm({ slotsInEpoch: 2 })
  fixture = await openTokenFixture(evm, {
    engine: 'postgres',
    now: () => new Date(Date.now() + later),
  })
})

afterAll(async () => {
  await fixture?.[Symbol.asyncDispose]()
  await evm?.[Symbol.asyncDispose]()
})

beforeEach(async () => {
  later = 0
  await setBaseFee(GWEI)
})

/** The next block has it, and is mined. */
async function setBaseFee(baseFeePerGas: bigint): Promise<void> {
  await evm.client.setNextBlockBaseFeePerGas({ baseFeePerGas })
  await evm.mine()
}

/** Presented and signed; nothing is mined. */
async function signedFor() {
  const ahead = Math.max(
    0,
    Number((await evm.client.getBlock()).timestamp) - Math.floor(Date.now() / 1000),
  )
  const all = await fixture.parties({ validSeconds: ahead + 600 })
  const header = await payInvoice(all.client, all.requirements)
  const nonce = await evm.client.getTransactionCount({ address: fixture.facilitator.address })
  const answer = fixture.receive(all, header, { timeout: 4 })
  const [row] = await eventually(
    () => fixture.context.db.select().from(payment).where(eq(payment.sender, all.payer.address)),
    ([first]) => first?.reportedSignature !== undefined && first.reportedSignature !== null,
  )
  const pooled = async () =>
    (await evm.client.getTransactionCount({
      address: fixture.facilitator.address,
      blockTag: 'pending',
    })) > nonce
  await eventually(pooled, Boolean)
  return { all, nonce, answer, paymentId: row?.id ?? '' }
}

async function follow(context = fixture.context): Promise<unknown[]> {
  const tip = Number(await evm.client.getBlockNumber())
  const [chain] = context.chains.values()
  if (!chain) throw new Error('no chain')
  await eventually(
    () => chain.head(),
    ({ height }) => height >= tip,
  )
  return (await pollOnce(context, chain, { expiredToo: false })).failures
}

const statusOf = async (paymentId: string) =>
  (await readPaymentBody(fixture.context, paymentId)).status

test('fees that rise above its offer are met with the same nonce, by one of two processes; one of the two transactions lands', async () => {
  const { all, nonce, answer, paymentId } = await signedFor()
  await setBaseFee(40n * GWEI)
  expect(await follow()).toEqual([])
  expect(await readAttempts(fixture.context.db, paymentId)).toHaveLength(1)
  later = 31_000
  await using other = await openContext(fixture.context.config.networks, {
    beside: fixture.context,
    now: fixture.context.now,
  })
  await Promise.all([follow(), follow({ ...other.context, config: fixture.context.config })])
  const attempts = await readAttempts(fixture.context.db, paymentId)
  expect(attempts.map(({ number, nonce: used, signer }) => [number, used, signer])).toEqual([
    [2, nonce, fixture.facilitator.address],
    [1, nonce, fixture.facilitator.address],
  ])
  const [second, first] = attempts
  expect(second && first && second.maxFee >= (first.maxFee * 9n) / 8n).toBe(true)
  await evm.mine(2)
  expect(await follow()).toEqual([])
  expect(await readPaymentBody(fixture.context, paymentId)).toMatchObject({
    status: 'confirmed',
    signature: second?.signature,
  })
  expect(await answer).toMatchObject({ paymentId })
  expect(await evm.client.getTransactionCount({ address: fixture.facilitator.address })).toBe(
    nonce + 1,
  )
  expect(await fixture.balance(all.asset, all.payee.address)).toBe(all.amount)
})

test('whichever of the offers lands is the payment', async () => {
  const { all, nonce, answer, paymentId } = await signedFor()
  expect(await answer).toMatchObject({ status: 'pending' })
  await setBaseFee(40n * GWEI)
  later = 31_000
  expect(await follow()).toEqual([])
  const [second, first] = await readAttempts(fixture.context.db, paymentId)
  await evm.client.dropTransaction({ hash: second?.signature as `0x${string}` })
  await setBaseFee(GWEI)
  await evm.client.sendRawTransaction({
    serializedTransaction: `0x${Buffer.from(first?.signedTransaction ?? '', 'base64').toString('hex')}`,
  })
  await evm.mine(2)
  expect(await follow()).toEqual([])
  expect(await readPaymentBody(fixture.context, paymentId)).toMatchObject({
    status: 'confirmed',
    signature: first?.signature,
  })
  expect(await evm.client.getTransactionCount({ address: fixture.facilitator.address })).toBe(
    nonce + 1,
  )
  expect(await fixture.balance(all.asset, all.payee.address)).toBe(all.amount)
})

test('no more is offered than our wallet ever pays for one settlement', async () => {
  const { answer, paymentId } = await signedFor()
  // 0.005 ether for some 100,000 gas.
  await setBaseFee(400n * GWEI)
  later = 31_000
  expect(await follow()).toEqual([])
  expect(await answer).toMatchObject({ status: 'pending' })
  expect(await readAttempts(fixture.context.db, paymentId)).toHaveLength(1)
  await setBaseFee(GWEI)
  // The node has dropped it, and it was sent a moment ago.
  later = 40_000
  expect(await follow()).toEqual([])
  await evm.mine(2)
  expect(await follow()).toEqual([])
  expect(await statusOf(paymentId)).toBe('confirmed')
})
