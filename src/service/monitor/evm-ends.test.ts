import { keccak256, type Hex } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createWallet } from '../wallets/create-wallet.ts'
import { findPayment } from '../db/payments.ts'
import { sendPayment } from '../hosted/send.ts'
import { eventually, openContext, type OpenedContext } from '#testing/service-context.ts'
import { signBuilt } from '#testing/local-chains.ts'
import { openMonitoredFixture, type MonitoredFixture } from '#testing/monitored-fixture.ts'
import { executeAsOwner } from '#testing/postgres.ts'
import { buildTransaction } from '../payments/build.ts'
import { reportSubmitted } from './report.ts'
import { readPaymentBody } from '../payments/status.ts'
import { readUnmatched } from '../payments/unmatched.ts'
import { pollOnce } from './poll.ts'

/**
 * What becomes of payments whose blocks are dropped by a reorg, that expire, or whose nonce others
 * take.
 */

const ETH = 10n ** 18n

let fixture: MonitoredFixture

beforeAll(async () => {
  fixture = await openMonitoredFixture()
})
afterAll(() => fixture?.[Symbol.asyncDispose]())

async function command(method: string, params: unknown[]): Promise<void> {
  const answer = await fetch(fixture.evm.rpcUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  })
  expect(await answer.json()).not.toHaveProperty('error')
}

/** Replaces the last blocks with empty ones, the first of which holds a transaction. */
function reorg(depth: number, raw?: string): Promise<void> {
  return command('anvil_reorg', [depth, raw === undefined ? [] : [[raw, 0]]])
}

/** Looks at the chain once, as far as it goes now. */
async function look({ context }: OpenedContext): Promise<void> {
  const tip = Number(await fixture.evm.client.getBlockNumber())
  const [chain] = context.chains.values()
  if (!chain) throw new Error('no chain')
  await eventually(
    () => chain.head(),
    ({ height }) => height >= tip,
  )
  expect((await pollOnce(context, chain, { expiredToo: true })).failures).toEqual([])
}

test('a reorg takes a confirmation back, and the same transaction confirms again', async () => {
  const { payer, payee } = await fixture.parties()
  // Below the blocks to be replaced: the payer's balance must stay.
  await fixture.evm.mine(5)
  const built = await fixture.build(payer, payee.address)
  const hash = await fixture.send(payer, built)
  await fixture.evm.mine(2)
  await fixture.untilStatus(built, 'confirmed')

  await reorg(3)
  const gone = await fixture.untilStatus(built, 'rolled_back')
  expect(gone).toMatchObject({ blockHeight: null, fee: null, confirmations: 0 })

  await fixture.send(payer, built)
  await fixture.evm.mine(2)
  const again = await fixture.untilStatus(built, 'confirmed')
  expect(again.signature).toBe(hash)
  expect(again.events.map(({ status }) => status).filter((status) => status !== 'pending')).toEqual(
    ['created', 'confirmed', 'rolled_back', 'confirmed'],
  )
})

test('a payment in a shallow block counts its confirmations, and none of a block that a reorganization dropped', async () => {
  const { payer, payee } = await fixture.parties()
  await fixture.evm.mine(5)
  const built = await fixture.build(payer, payee.address)
  const hash = await fixture.send(payer, built)
  await reportSubmitted(fixture.context, fixture.actor, {
    paymentId: built.paymentId,
    signature: hash,
  })
  const where = async () => {
    const { status, blockHeight, confirmations } = await readPaymentBody(
      fixture.context,
      built.paymentId,
    )
    return { status, blockHeight, confirmations }
  }
  await expect.poll(where).toEqual({ status: 'pending', blockHeight: null, confirmations: 0 })
  await fixture.evm.mine(1)
  const height = Number(await fixture.evm.client.getBlockNumber())
  await expect.poll(where).toEqual({ status: 'pending', blockHeight: height, confirmations: 1 })
  await reorg(1)
  await expect.poll(where).toEqual({ status: 'pending', blockHeight: null, confirmations: 0 })
  await fixture.send(payer, built)
  await fixture.evm.mine(2)
  await fixture.untilStatus(built, 'confirmed')
})

test('a payment whose shallow block a reorganization drops has no block and no fee, and fails without them', async () => {
  const { payer, payee } = await fixture.parties()
  await fixture.evm.mine(5)
  const built = await fixture.build(payer, payee.address)
  const hash = await fixture.send(payer, built)
  await fixture.evm.mine(1)
  await reportSubmitted(fixture.context, fixture.actor, {
    paymentId: built.paymentId,
    signature: hash,
  })
  await expect
    .poll(() => readPaymentBody(fixture.context, built.paymentId))
    .toMatchObject({
      status: 'pending',
      confirmations: 1,
      fee: { amountAtomic: expect.any(String) },
    })
  await reorg(1)
  await expect
    .poll(() => readPaymentBody(fixture.context, built.paymentId))
    .toMatchObject({ status: 'pending', blockHeight: null, confirmations: 0, fee: null })
  // Another transaction takes its nonce permanently.
  await fixture.send(payer, await fixture.build(payer, (await fixture.evm.wallet(0n)).address))
  const height = Number(await fixture.evm.client.getBlockNumber())
  await fixture.evm.mine(built.lastValidBlockHeight - height + 200)
  expect(await fixture.untilStatus(built, 'failed')).toMatchObject({ blockHeight: null, fee: null })
})

test('a payment nobody signs expires after its last block and a grace, and the chain can still undo that', async () => {
  const { payer, payee } = await fixture.parties()
  const built = await fixture.build(payer, payee.address)
  const height = Number(await fixture.evm.client.getBlockNumber())
  expect(built.lastValidBlockHeight).toBe(
    height + Math.ceil(60_000 / fixture.evm.network.blockTimeMs),
  )
  await fixture.evm.mine(built.lastValidBlockHeight - height + 1)
  await fixture.evm.mine(Math.ceil(60_000 / fixture.evm.network.blockTimeMs))
  await fixture.untilStatus(built, 'expired')

  const hash = await fixture.send(payer, built)
  await fixture.evm.mine(10)
  const paid = await fixture.untilStatus(built, 'finalized')
  expect(paid.signature).toBe(hash)
  expect(paid.events.map(({ status }) => status)).toEqual([
    'created',
    'expired',
    'confirmed',
    'finalized',
  ])
})

test('a draft that is paid late is found behind many that strangers had built with its terms since', async () => {
  await using other = await openContext([fixture.evm.network])
  const { context, actor } = other
  const [chain] = context.chains.values()
  if (!chain) throw new Error('no chain')
  const { payer, payee } = await fixture.parties()
  const built = await buildTransaction(context, actor, {
    walletAddress: payer.address,
    recipientAddress: payee.address,
    amount: '0.01',
    senderVerified: false,
  })
  await executeAsOwner(
    { target: context.config.database, db: context.db },
    `update service.payment set status = 'expired', expires_at = now() - interval '23 hours'`,
  )
  await executeAsOwner(
    { target: context.config.database, db: context.db },
    `insert into service.payment select planted.* from service.payment own, generate_series(1, 500) n,
      jsonb_populate_record(own, jsonb_build_object('id', 'pay_planted' || n, 'fingerprint', null, 'expires_at', now())) planted`,
  )
  const hash = await fixture.send(payer, built)
  await fixture.evm.mine(3)
  const tip = Number(await fixture.evm.client.getBlockNumber())
  await eventually(
    () => chain.head(),
    ({ height }) => height >= tip,
  )
  expect((await pollOnce(context, chain, { expiredToo: true })).failures).toEqual([])
  expect(await readPaymentBody(context, built.paymentId)).toMatchObject({
    status: 'confirmed',
    signature: hash,
    draft: false,
  })
})

test('a payment whose nonce another transaction used expires without the grace, once that is final', async () => {
  const { payer, payee } = await fixture.parties()
  const built = await fixture.build(payer, payee.address)
  const other = await fixture.build(payer, (await fixture.evm.wallet(0n)).address)
  await fixture.send(payer, other)
  const height = Number(await fixture.evm.client.getBlockNumber())
  await fixture.evm.mine(built.lastValidBlockHeight - height + 12)
  await fixture.untilStatus(other, 'finalized')
  await fixture.untilStatus(built, 'expired')
})

test('a broadcast payment that was replaced in the pool has failed, once that is final; before, it is unknown', async () => {
  const { payer, payee } = await fixture.parties()
  const built = await fixture.build(payer, payee.address)
  const hash = await fixture.send(payer, built)
  await reportSubmitted(fixture.context, fixture.actor, {
    paymentId: built.paymentId,
    signature: hash,
  })
  await fixture.evm.client.dropTransaction({ hash })
  const height = Number(await fixture.evm.client.getBlockNumber())
  await fixture.evm.mine(built.lastValidBlockHeight - height + 200)
  expect(await fixture.read(built)).toMatchObject({ status: 'pending' })
  await fixture.evm.client.sendRawTransaction({
    serializedTransaction: await payer.signTransaction({
      type: 'eip1559',
      chainId: 31337,
      nonce: 0,
      gas: 21_000n,
      maxFeePerGas: 10n ** 10n,
      to: payer.address,
      value: 0n,
    }),
  })
  await fixture.evm.mine(12)
  expect(await fixture.untilStatus(built, 'failed')).toMatchObject({
    failure: expect.stringContaining('can no longer land'),
  })
})

test('a transaction that is final before it has all confirmations is waited for, whatever its own nonce says', async () => {
  await using other = await openContext([{ ...fixture.evm.network, confirmations: 180 }])
  const [chain] = other.context.chains.values()
  if (!chain) throw new Error('no chain')
  const { payer, payee } = await fixture.parties()
  const built = await buildTransaction(other.context, other.actor, {
    walletAddress: payer.address,
    recipientAddress: payee.address,
    amount: '0.01',
  })
  await fixture.send(payer, built)
  await fixture.evm.mine(170)
  const seen = async () => {
    await pollOnce(other.context, chain, { expiredToo: true })
    return readPaymentBody(other.context, built.paymentId)
  }
  await eventually(seen, ({ confirmations }) => confirmations >= 170)
  expect((await chain.head()).height).toBeGreaterThan(built.lastValidBlockHeight)
  for (let round = 0; round < 3; round++) expect(await seen()).toMatchObject({ status: 'pending' })
  await fixture.evm.mine(20)
  const { events } = await eventually(seen, ({ status }) => status === 'finalized')
  expect(events.map(({ status }) => status)).toEqual([
    'created',
    'pending',
    'confirmed',
    'finalized',
  ])
})

test('a transaction that the wallet sped up is followed to its confirmations, block by block', async () => {
  const { payer, payee } = await fixture.parties()
  const built = await fixture.build(payer, payee.address)
  const slow = await fixture.send(payer, built)
  expect(
    await reportSubmitted(fixture.context, fixture.actor, {
      paymentId: built.paymentId,
      signature: slow,
    }),
  ).toMatchObject({ status: 'pending' })
  const fees = { gas: 21_000n, maxFeePerGas: 10n ** 11n, maxPriorityFeePerGas: 10n ** 11n }
  const fast = await fixture.evm.client.sendRawTransaction({
    serializedTransaction: await payer.signTransaction({
      type: 'eip1559',
      chainId: 31337,
      nonce: 0,
      ...fees,
      to: payee.address,
      value: ETH / 100n,
    }),
  })
  await fixture.evm.mine()
  await eventually(
    () => fixture.read(built),
    ({ signature }) => signature === fast,
  )
  await fixture.evm.mine()
  expect(await fixture.untilStatus(built, 'confirmed')).toMatchObject({ signature: fast })
})

test('an expired payment that lands is found though its block was read before it had its confirmations', async () => {
  await using other = await openContext([fixture.evm.network])
  const [chain] = other.context.chains.values()
  if (!chain) throw new Error('no chain')
  const { payer, payee } = await fixture.parties()
  const built = await buildTransaction(other.context, other.actor, {
    walletAddress: payer.address,
    recipientAddress: payee.address,
    amount: '0.01',
  })
  const seen = async (height: bigint) => {
    await eventually(
      () => chain.head(),
      (head) => BigInt(head.height) >= height,
    )
    await pollOnce(other.context, chain, { expiredToo: true })
    return readPaymentBody(other.context, built.paymentId)
  }
  await fixture.evm.mine(
    built.lastValidBlockHeight -
      Number(await fixture.evm.client.getBlockNumber()) +
      1 +
      Math.ceil(60_000 / fixture.evm.network.blockTimeMs),
  )
  await eventually(
    async () => seen(await fixture.evm.client.getBlockNumber()),
    ({ status }) => status === 'expired',
  )
  const hash = await fixture.send(payer, built)
  for (let block = 0; block < 3; block++) {
    await fixture.evm.mine()
    await seen(await fixture.evm.client.getBlockNumber())
  }
  expect(await readPaymentBody(other.context, built.paymentId)).toMatchObject({
    status: 'confirmed',
    signature: hash,
  })
})

test.each(['has just started', 'read it last long ago'])(
  'an unreported payment whose block replaced one that another process read is found by a process that %s',
  async (which) => {
    await using first = await openContext([fixture.evm.network])
    await using second = await openContext([fixture.evm.network], { beside: first.context })
    const { payer, payee } = await fixture.parties()
    await fixture.evm.mine(5)
    const built = await buildTransaction(first.context, first.actor, {
      walletAddress: payer.address,
      recipientAddress: payee.address,
      amount: '0.01',
    })
    if (which !== 'has just started') {
      await fixture.evm.mine()
      await look(second)
    }
    await fixture.evm.mine(4)
    await look(first)
    await reorg(3, await signBuilt(payer, built.transaction))
    await fixture.evm.mine()
    await look(second)
    expect(await readPaymentBody(second.context, built.paymentId)).toMatchObject({
      status: 'confirmed',
      confirmations: 4,
    })
  },
)

/** With the fees that the wallet chose itself. */
const ownFees = { gas: 21_000n, maxFeePerGas: 10n ** 10n, maxPriorityFeePerGas: 10n ** 9n }

describe.each([false, true])(
  'a payment in the block that replaced the one it was built on, which was read before: %s',
  (readBefore) => {
    /** Another service. `replace` replaces the newest block by a later one with a transaction, or with what is in the pool. */
    async function openAlone() {
      const opened = await openContext([fixture.evm.network])
      const parties = await fixture.parties()
      // Below the block to be replaced: the payer's balance must stay.
      await fixture.evm.mine(5)
      return {
        ...opened,
        ...parties,
        replace: async (serializedTransaction?: Hex) => {
          const { client } = fixture.evm
          if (readBefore) await look(opened)
          const { hash, number, timestamp } = await client.getBlock()
          await command('anvil_rollback', [1])
          await client.setNextBlockTimestamp({ timestamp: timestamp + 12n })
          if (serializedTransaction) await client.sendRawTransaction({ serializedTransaction })
          await fixture.evm.mine(2)
          const replaced = await client.getBlock({ blockNumber: number })
          expect(replaced.hash).not.toBe(hash)
          expect(replaced.transactions).toHaveLength(1)
        },
      }
    }

    test.each(['the fees', 'the sender', 'nothing'])(
      'is found when %s ties it',
      async (evidence) => {
        await using alone = await openAlone()
        const { context, actor, payer, payee } = alone
        const built = await buildTransaction(context, actor, {
          walletAddress: payer.address,
          recipientAddress: payee.address,
          amount: '0.01',
          senderVerified: evidence === 'the sender',
        })
        const { gas, ...fees } = ownFees
        const raw =
          evidence === 'the fees'
            ? await signBuilt(payer, built.transaction)
            : await payer.signTransaction({
                type: 'eip1559',
                chainId: 31_337,
                nonce: 0,
                gas,
                ...fees,
                to: payee.address,
                value: ETH / 100n,
              })
        await alone.replace(raw)
        await look(alone)
        const { status, signature, blockHeight } = await readPaymentBody(context, built.paymentId)
        const { transfers } = await readUnmatched(context, actor, { limit: 10, offset: 0 })
        if (evidence === 'nothing') {
          expect(status).toBe('created')
          expect(transfers).toMatchObject([{ candidates: [{ paymentId: built.paymentId }] }])
          return
        }
        expect({ status, transfers }).toEqual({ status: 'confirmed', transfers: [] })
        expect(signature).not.toBeNull()
        const height = (await findPayment(context.db, built.paymentId))?.builtHeight
        expect(blockHeight).toBe(height)
      },
    )

    test('can be reported', async () => {
      await using alone = await openAlone()
      const { context, actor, payer, payee } = alone
      const terms = { recipientAddress: payee.address, amount: '0.01' }
      const built = await buildTransaction(context, actor, {
        walletAddress: payer.address,
        ...terms,
      })
      const raw = await signBuilt(payer, built.transaction)
      await alone.replace(raw)
      const { paymentId } = built
      await reportSubmitted(context, actor, { paymentId, signature: keccak256(raw) })
      await look(alone)
      expect(await readPaymentBody(context, paymentId)).toMatchObject({ status: 'confirmed' })
    })

    test('is found when the service signed it', async () => {
      await using alone = await openAlone()
      const { context, actor, payee } = alone
      const { accountId } = actor
      const { address } = await createWallet(
        { db: context.db, signer: context.signer, now: new Date() },
        { accountId, family: 'evm', name: 'till' },
      )
      await fixture.evm.client.setBalance({ address: address as Hex, value: ETH })
      await fixture.evm.mine()
      const terms = { walletAddress: address, recipientAddress: payee.address, amount: '0.01' }
      const { paymentId } = await sendPayment(context, actor, {
        body: terms,
        idempotency: undefined,
        waitMs: 0,
      })
      await alone.replace()
      await look(alone)
      expect(await readPaymentBody(context, paymentId)).toMatchObject({ status: 'confirmed' })
    })
  },
)

test('a transaction that takes the place of a confirmed one through a reorganization is found while another order is open', async () => {
  await using alone = await openContext([fixture.evm.network])
  const { context, actor } = alone
  const { client } = fixture.evm
  const [{ payer, payee }, other] = [await fixture.parties(), await fixture.parties()]
  await fixture.evm.mine(5)
  const terms = { recipientAddress: payee.address, amount: '0.01', senderVerified: true }
  const build = (walletAddress: string) =>
    buildTransaction(context, actor, { walletAddress, ...terms })
  const { paymentId, transaction } = await build(payer.address)
  await build(other.payer.address)
  await client.sendRawTransaction({ serializedTransaction: await signBuilt(payer, transaction) })
  await fixture.evm.mine(2)
  await look(alone)
  const first = await readPaymentBody(context, paymentId)
  expect(first.status).toBe('confirmed')

  const spedUp = await payer.signTransaction({
    type: 'eip1559',
    chainId: 31_337,
    nonce: 0,
    gas: 21_000n,
    maxFeePerGas: 10n ** 11n,
    maxPriorityFeePerGas: 10n ** 11n,
    to: payee.address,
    value: ETH / 100n,
  })
  await reorg(2, spedUp)
  await fixture.evm.mine()
  await look(alone)
  expect(await readPaymentBody(context, paymentId)).toMatchObject({ status: 'rolled_back' })
  await look(alone)
  expect(await readPaymentBody(context, paymentId)).toMatchObject({
    status: 'confirmed',
    signature: keccak256(spedUp),
  })
})
