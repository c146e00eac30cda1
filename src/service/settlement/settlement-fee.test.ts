import { encodeFunctionData, erc20Abi, type Hex } from 'viem'
import * as v from 'valibot'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { endpoints } from '#contract/endpoints.ts'
import { startEvm, type EvmFixture } from '#testing/local-chains.ts'
import { eventually, openContext, ownWallet } from '#testing/service-context.ts'
import { openTokenFixture, type TokenFixture } from '#testing/token-fixture.ts'
import { payInvoice, sendFrom } from '#testing/token-payers.ts'
import { readAttempts } from '../db/attempts.ts'
import { foldTallies } from '../db/fold-tallies.ts'
import { payment } from '../db/schema/payment.ts'
import { settlementFee } from '../db/schema/proof.ts'
import { isFeeOpen, recordFeePaid, reopenFee } from '../db/settlement-fees.ts'
import { eq } from 'drizzle-orm'
import { readList } from '../payments/list/history.ts'
import { readSummary } from '../payments/list/summary.ts'
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

const followedTo = (paymentId: string, wanted: string) =>
  eventually(
    async () => {
      await follow()
      return statusOf(paymentId)
    },
    (status) => status === wanted,
  )

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

test('what our wallet paid stays when the block of a third party’s transaction is gone', async () => {
  const { db } = fixture.context
  const { answer, paymentId } = await signedFor()
  await evm.mine(2)
  expect(await answer).toMatchObject({ paymentId })
  await followedTo(paymentId, 'confirmed')
  const ofThird = { paymentId, signature: `0x${'ab'.repeat(32)}` }
  const paid = async () =>
    (await db.select().from(settlementFee).where(eq(settlementFee.paymentId, paymentId)))[0]?.paid
  const before = await paid()
  expect(before).toBeGreaterThan(1n)
  await reopenFee(db, ofThird)
  expect(await paid()).toBe(before)
  // It lands again, and is what the payment waits for by then.
  const waiting = { reportedSignature: ofThird.signature }
  await db.update(payment).set(waiting).where(eq(payment.id, paymentId))
  await recordFeePaid(db, { ...ofThird, feeAtomic: 1n })
  await reopenFee(db, ofThird)
  expect(await paid()).toBe(before)
  const signature = (await readAttempts(db, paymentId))[0]?.signature ?? ''
  await reopenFee(db, { paymentId, signature })
  expect(await isFeeOpen(db, paymentId)).toBe(true)
})

describe.each(['lands', 'is reverted'] as const)(
  'after a reorganization, a settlement that %s again',
  (end) => {
    test('has cost what its last receipt shows, and nothing before', async () => {
      const { context, opened, facilitator } = fixture
      const { all, answer, paymentId } = await signedFor()
      await ownWallet(opened, facilitator.address)
      const cost = async () => {
        const { payments } = await readList(
          context,
          opened.actor,
          v.parse(endpoints.paymentList.query, {}),
        )
        const { assets } = await readSummary(context, opened.actor, { wallets: undefined, days: 2 })
        const sum = (own: typeof payments) =>
          own.reduce((total, { fee }) => total + BigInt(fee?.own ? fee.amountAtomic : 0), 0n)
        expect(assets.reduce((total, { feesAtomic }) => total + BigInt(feesAtomic), 0n)).toBe(
          sum(payments),
        )
        return sum(payments.filter((row) => row.paymentId === paymentId))
      }
      const paid = async () => {
        const hash = (await readAttempts(context.db, paymentId))[0]?.signature as Hex
        const receipt = await evm.client.getTransactionReceipt({ hash })
        return receipt.gasUsed * receipt.effectiveGasPrice
      }
      await evm.mine(2)
      expect(await answer).toMatchObject({ paymentId })
      await followedTo(paymentId, 'confirmed')
      const before = await paid()
      expect(await cost()).toBe(before)
      while ((await foldTallies(context.db)) > 0);

      await fetch(evm.rpcUrl, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'anvil_reorg', params: [3, []] }),
      })
      await followedTo(paymentId, 'rolled_back')
      expect(await cost()).toBe(0n)

      if (end === 'is reverted') {
        const data = encodeFunctionData({
          abi: erc20Abi,
          functionName: 'transfer',
          args: [facilitator.address, await fixture.balance(all.asset, all.payer.address)],
        })
        await sendFrom(evm, all.payer, { to: all.asset.address as Hex, data, gas: 300_000n })
      }
      await setBaseFee(2n * GWEI)
      later += 31_000
      // In a block that does not count yet.
      expect(await follow()).toEqual([])
      await evm.mine()
      expect(await follow()).toEqual([])
      const ends = {
        lands: { status: 'confirmed', early: 0n },
        'is reverted': { status: 'rolled_back', early: await paid() },
      }
      expect(await cost()).toBe(ends[end].early)
      await evm.mine(2)
      expect(await follow()).toEqual([])
      expect(await statusOf(paymentId)).toBe(ends[end].status)
      expect(await cost()).toBe(await paid())
      expect(await paid()).not.toBe(before)
      while ((await foldTallies(context.db)) > 0);
      expect(await cost()).toBe(await paid())
    })
  },
)
