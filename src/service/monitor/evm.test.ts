import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { eventually, openAccount, openContext } from '#testing/service-context.ts'
import { openMonitoredFixture, type MonitoredFixture } from '#testing/monitored-fixture.ts'
import { setReported } from '../db/payments.ts'
import { buildTransaction } from '../payments/build.ts'
import { reportSubmitted } from './report.ts'
import { pollOnce } from './poll.ts'
import { startWatchers } from './start.ts'

const ETH = 10n ** 18n

let fixture: MonitoredFixture

beforeAll(async () => {
  fixture = await openMonitoredFixture()
})
afterAll(() => fixture?.[Symbol.asyncDispose]())

test('a payment that is reported in the pool goes from created over pending and confirmed to finalized, one event each', async () => {
  const { payer, payee } = await fixture.parties()
  const built = await fixture.build(payer, payee.address)
  expect(await fixture.read(built)).toMatchObject({
    status: 'created',
    signature: null,
    confirmations: 0,
    requiredConfirmations: 2,
  })

  const hash = await fixture.send(payer, built)
  const reported = await reportSubmitted(fixture.context, fixture.actor, {
    paymentId: built.paymentId,
    signature: hash.toUpperCase().replace('0X', '0x'),
  })
  expect(reported).toMatchObject({ status: 'pending', signature: hash })

  await fixture.evm.mine(2)
  const confirmed = await fixture.untilStatus(built, 'confirmed')
  const receipt = await fixture.evm.client.getTransactionReceipt({ hash })
  expect(confirmed).toMatchObject({ signature: hash, blockHeight: Number(receipt.blockNumber) })
  expect(confirmed.fee?.amountAtomic).toBe((receipt.gasUsed * receipt.effectiveGasPrice).toString())

  await fixture.evm.mine(8)
  const final = await fixture.untilStatus(built, 'finalized')
  expect(final.events.map(({ status, source }) => `${status} ${source}`)).toEqual([
    'created service',
    'pending client',
    'confirmed watcher',
    'finalized watcher',
  ])
  expect(await fixture.evm.client.getBalance({ address: payee.address })).toBe(ETH / 100n)
})

test('a payment nobody reports is found in its block', async () => {
  const { payer, payee } = await fixture.parties()
  const built = await fixture.build(payer, payee.address)
  const hash = await fixture.send(payer, built)
  await fixture.evm.mine(2)
  expect(await fixture.untilStatus(built, 'confirmed')).toMatchObject({ signature: hash })
})

test('a payment has the time of its block, not of when it was noticed', async () => {
  const { payer, payee } = await fixture.parties()
  const built = await fixture.build(payer, payee.address)
  const hash = await fixture.send(payer, built)
  await fixture.evm.mine(2)
  await fixture.untilStatus(built, 'confirmed')
  const { blockNumber } = await fixture.evm.client.getTransactionReceipt({ hash })
  const { timestamp } = await fixture.evm.client.getBlock({ blockNumber })
  const { blockTime } = await fixture.read(built)
  expect(blockTime).toBe(Number(timestamp) * 1000)
})

test('a payment is found though the wallet chose another nonce', async () => {
  const { payer, payee } = await fixture.parties()
  const built = await fixture.build(payer, payee.address)
  const other = await fixture.build(payer, (await fixture.evm.wallet(0n)).address)
  await fixture.send(payer, other)
  const hash = await fixture.send(payer, built, 1)
  await fixture.evm.mine(2)
  expect(await fixture.untilStatus(built, 'confirmed')).toMatchObject({ signature: hash })
  await fixture.untilStatus(other, 'confirmed')
})

test('a report before the node knows the transaction is kept as a hint and changes nothing', async () => {
  const { payer, payee } = await fixture.parties()
  const built = await fixture.build(payer, payee.address)
  const unknown = `0x${'ab'.repeat(32)}`
  expect(
    await reportSubmitted(fixture.context, fixture.actor, {
      paymentId: built.paymentId,
      signature: unknown,
    }),
  ).toMatchObject({
    status: 'created',
    signature: unknown,
  })
  const hash = await fixture.send(payer, built)
  await fixture.evm.mine(2)
  expect(await fixture.untilStatus(built, 'confirmed')).toMatchObject({ signature: hash })
})

test('a report of a transaction that never comes does not hide the one that was found', async () => {
  const { payer, payee } = await fixture.parties()
  const built = await fixture.build(payer, payee.address)
  await reportSubmitted(fixture.context, fixture.actor, {
    paymentId: built.paymentId,
    signature: `0x${'ac'.repeat(32)}`,
  })
  const hash = await fixture.send(payer, built)
  // Found while it still lacks a confirmation: from here on it is followed by its hash, not by the blocks.
  await fixture.evm.mine()
  expect(await fixture.untilStatus(built, 'pending')).toMatchObject({ signature: hash })
  await fixture.evm.mine()
  expect(await fixture.untilStatus(built, 'confirmed')).toMatchObject({ signature: hash })
})

test("a report of another's transaction is refused and the payment stays payable", async () => {
  const { payer, payee } = await fixture.parties()
  const built = await fixture.build(payer, payee.address)
  const stranger = await fixture.parties()
  const foreign = await fixture.send(
    stranger.payer,
    await fixture.build(stranger.payer, stranger.payee.address),
  )
  await fixture.evm.mine()
  await expect(
    reportSubmitted(fixture.context, fixture.actor, {
      paymentId: built.paymentId,
      signature: foreign,
    }),
  ).rejects.toMatchObject({
    code: 'INVALID_PARAMETERS',
    facts: { details: { signature: expect.stringContaining('not this payment') } },
  })
  const hash = await fixture.send(payer, built)
  await fixture.evm.mine(2)
  expect(await fixture.untilStatus(built, 'confirmed')).toMatchObject({ signature: hash })
})

test('an older transfer of the same amount between the same parties pays nothing', async () => {
  const { payer, payee } = await fixture.parties()
  const transfer = {
    type: 'eip1559',
    chainId: 31_337,
    nonce: 0,
    gas: 21_000n,
    maxFeePerGas: 10n ** 10n,
    to: payee.address,
    value: ETH / 100n,
  } as const
  const hash = await fixture.evm.client.sendRawTransaction({
    serializedTransaction: await payer.signTransaction(transfer),
  })
  await fixture.evm.mine()
  const built = await fixture.build(payer, payee.address)
  await expect(
    reportSubmitted(fixture.context, fixture.actor, {
      paymentId: built.paymentId,
      signature: hash,
    }),
  ).rejects.toMatchObject({ code: 'INVALID_PARAMETERS' })
  await fixture.evm.mine(10)
  const other = await fixture.parties()
  const later = await fixture.build(other.payer, other.payee.address)
  await fixture.send(other.payer, later)
  await fixture.evm.mine(2)
  // By now the blocks of the old transfer have been read.
  await fixture.untilStatus(later, 'confirmed')
  expect(await fixture.read(built)).toMatchObject({ status: 'created', signature: null })
})

test("another account's report of a transaction takes nothing from the payment it belongs to", async () => {
  const { payer, payee } = await fixture.parties()
  const built = await fixture.build(payer, payee.address)
  const other = await openAccount(fixture.context)
  await expect(
    reportSubmitted(fixture.context, other, {
      paymentId: built.paymentId,
      signature: `0x${'cd'.repeat(32)}`,
    }),
  ).rejects.toMatchObject({
    code: 'NOT_FOUND',
  })
  const elsewhere = await fixture.parties()
  const theirs = await buildTransaction(fixture.context, other, {
    walletAddress: elsewhere.payer.address,
    recipientAddress: elsewhere.payee.address,
    amount: '0.01',
  })
  const hash = await fixture.send(payer, built)
  await expect(
    reportSubmitted(fixture.context, other, { paymentId: theirs.paymentId, signature: hash }),
  ).rejects.toMatchObject({ code: 'INVALID_PARAMETERS' })
  await fixture.evm.mine(2)
  expect(await fixture.untilStatus(built, 'confirmed')).toMatchObject({ signature: hash })
})

test('of two equal payments one transaction pays the one that reports it', async () => {
  const { payer, payee } = await fixture.parties()
  const [first, second] = [
    await fixture.build(payer, payee.address),
    await fixture.build(payer, payee.address),
  ]
  const hash = await fixture.send(payer, first)
  await reportSubmitted(fixture.context, fixture.actor, {
    paymentId: first.paymentId,
    signature: hash,
  })
  await fixture.evm.mine(2)
  await fixture.untilStatus(first, 'confirmed')
  await expect(
    reportSubmitted(fixture.context, fixture.actor, {
      paymentId: second.paymentId,
      signature: hash,
    }),
  ).rejects.toMatchObject({
    facts: { details: { signature: expect.stringContaining('another payment') } },
  })
  await fixture.evm.mine(120)
  await fixture.untilStatus(first, 'finalized')
  expect(await fixture.read(second)).toMatchObject({ status: 'created' })
})

test('of two equal payments one unreported transaction pays exactly one', async () => {
  const { payer, payee } = await fixture.parties()
  const [first, second] = [
    await fixture.build(payer, payee.address),
    await fixture.build(payer, payee.address),
  ]
  const hash = await fixture.send(payer, second)
  await fixture.evm.mine(2)
  // Undecided for as long as a report may come.
  await fixture.evm.mine(Math.ceil(10_000 / fixture.evm.network.blockTimeMs))
  expect(await fixture.untilStatus(second, 'finalized')).toMatchObject({ signature: hash })
  expect(await fixture.read(first)).toMatchObject({ status: 'created', signature: null })
})

test('two watching processes write each event once, and one goes on alone when the other ends', async () => {
  await using second = await openContext([fixture.evm.network], { beside: fixture.context })
  const other = startWatchers(second.context)
  try {
    const payments = []
    for (let count = 0; count < 5; count++) {
      const { payer, payee } = await fixture.parties()
      const built = await fixture.build(payer, payee.address)
      payments.push({ built, hash: await fixture.send(payer, built) })
    }
    await fixture.evm.mine(2)
    for (const { built } of payments) await fixture.untilStatus(built, 'confirmed')
    await Promise.all(fixture.watchers.splice(0).map((watcher) => watcher.stop()))
    await fixture.evm.mine(10)
    for (const { built, hash } of payments) {
      const final = await fixture.untilStatus(built, 'finalized')
      expect(final.signature).toBe(hash)
      expect(final.events.map(({ status }) => status)).toEqual([
        'created',
        'pending',
        'confirmed',
        'finalized',
      ])
    }
  } finally {
    await other.stop()
  }
})

test('looks at the same moment by two processes without a lease still write each event once', async () => {
  await using second = await openContext([fixture.evm.network], { beside: fixture.context })
  const { payer, payee } = await fixture.parties()
  const built = await fixture.build(payer, payee.address)
  await fixture.send(payer, built)
  await fixture.evm.mine(12)
  const [chain, otherChain] = [fixture.context, second.context].map(({ chains }) =>
    chains.get(fixture.evm.network.network),
  )
  if (!chain || !otherChain) throw new Error('no chain')
  await eventually(
    () => chain.head(),
    ({ height }) => height > built.lastValidBlockHeight - 140,
  )
  await Promise.all([
    pollOnce(fixture.context, chain, { expiredToo: true }),
    pollOnce(second.context, otherChain, { expiredToo: true }),
  ])
  const { status, events } = await fixture.read(built)
  expect(status).toBe('finalized')
  expect(events.map((event) => event.status)).toEqual([
    'created',
    'pending',
    'confirmed',
    'finalized',
  ])
})

test('a report that comes while the former one is looked at stays', async () => {
  const { context, actor, evm } = fixture
  const [order, other] = [await fixture.parties(), await fixture.parties()]
  const built = await fixture.build(order.payer, order.payee.address)
  const foreign = await fixture.build(other.payer, other.payee.address)
  const former = await fixture.send(other.payer, foreign)
  await evm.mine(2)
  const { paymentId } = built
  // As it was reported before the node knew it.
  const before = { signature: former, at: new Date() }
  await setReported(context.db, paymentId, before)
  const next = `0x${'ad'.repeat(32)}`
  const chain = context.chains.get(evm.network.network)
  if (!chain) throw new Error('no chain')
  const observe = chain.observe.bind(chain)
  const observing = vi.spyOn(chain, 'observe').mockImplementation(async (signature) => {
    const observation = await observe(signature)
    if (signature === former) {
      observing.mockRestore()
      await reportSubmitted(context, actor, { paymentId, signature: next })
    }
    return observation
  })
  await pollOnce(context, chain, { expiredToo: false })
  expect(await fixture.read(built)).toMatchObject({ status: 'created', signature: next })
})
