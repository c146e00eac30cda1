import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Hex } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { signBuilt, startEvm, type EvmFixture } from '#testing/local-chains.ts'
import { eventually, openAccount, openContext, type OpenedContext } from '#testing/service-context.ts'
import type { Actor, Context } from '../context.ts'
import { buildTransaction } from '../payments/build.ts'
import { reportSubmitted } from '../payments/report.ts'
import { readPaymentBody } from '../payments/status.ts'
import { followOnce } from './follow.ts'
import { startWatchers, type Watchers } from './start.ts'

const ETH = 10n ** 18n

let evm: EvmFixture
let opened: OpenedContext
let context: Context
let actor: Actor
let watchers: Watchers[]

beforeAll(async () => {
  evm = await startEvm({ slotsInEpoch: 4 })
  await evm.mine()
  opened = await openContext([evm.network], { engine: 'postgres' })
  context = opened.context
  actor = opened.actor
  watchers = [startWatchers(context)]
})

afterAll(async () => {
  await Promise.all(watchers.map((watcher) => watcher.stop()))
  await opened[Symbol.asyncDispose]()
  await evm[Symbol.asyncDispose]()
})

type Built = Awaited<ReturnType<typeof buildTransaction>>

async function build(payer: PrivateKeyAccount, recipient: string, amount = '0.01'): Promise<Built> {
  return buildTransaction(context, actor, { walletAddress: payer.address, recipientAddress: recipient, amount })
}

async function send(payer: PrivateKeyAccount, built: Built, nonce?: number): Promise<Hex> {
  return evm.client.sendRawTransaction({ serializedTransaction: await signBuilt(payer, built.transaction, nonce) })
}

const read = (built: Built) => readPaymentBody(context, built.paymentId)

async function untilStatus(built: Built, status: string) {
  return eventually(
    () => read(built),
    (body) => body.status === status,
  )
}

/** Replaces the last blocks by empty ones. */
async function reorg(depth: number): Promise<void> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'anvil_reorg', params: [depth, []] })
  await fetch(evm.rpcUrl, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
}

async function parties() {
  const [payer, payee] = await Promise.all([evm.wallet(ETH), evm.wallet(0n)])
  return { payer, payee }
}

test('a payment that is reported in the pool goes from created over pending and confirmed to finalized, one event each', async () => {
  const { payer, payee } = await parties()
  const built = await build(payer, payee.address)
  expect(await read(built)).toMatchObject({ status: 'created', signature: null, confirmations: 0, requiredConfirmations: 2 })

  const hash = await send(payer, built)
  const reported = await reportSubmitted(context, actor, { paymentId: built.paymentId, signature: hash.toUpperCase().replace('0X', '0x') })
  expect(reported).toMatchObject({ status: 'pending', signature: hash })

  await evm.mine(2)
  const confirmed = await untilStatus(built, 'confirmed')
  const receipt = await evm.client.getTransactionReceipt({ hash })
  expect(confirmed).toMatchObject({ signature: hash, blockHeight: Number(receipt.blockNumber) })
  expect(confirmed.fee?.amountAtomic).toBe((receipt.gasUsed * receipt.effectiveGasPrice).toString())

  await evm.mine(8)
  const final = await untilStatus(built, 'finalized')
  expect(final.events.map(({ status, source }) => `${status} ${source}`)).toEqual([
    'created service',
    'pending client',
    'confirmed watcher',
    'finalized watcher',
  ])
  expect(await evm.client.getBalance({ address: payee.address })).toBe(ETH / 100n)
})

test('a payment nobody reports is found in its block', async () => {
  const { payer, payee } = await parties()
  const built = await build(payer, payee.address)
  const hash = await send(payer, built)
  await evm.mine(2)
  expect(await untilStatus(built, 'confirmed')).toMatchObject({ signature: hash })
})

test('a payment is found though the wallet chose another nonce', async () => {
  const { payer, payee } = await parties()
  const built = await build(payer, payee.address)
  const other = await build(payer, (await evm.wallet(0n)).address)
  await send(payer, other)
  const hash = await send(payer, built, 1)
  await evm.mine(2)
  expect(await untilStatus(built, 'confirmed')).toMatchObject({ signature: hash })
  await untilStatus(other, 'confirmed')
})

test('a report before the node knows the transaction is kept as a hint and changes nothing', async () => {
  const { payer, payee } = await parties()
  const built = await build(payer, payee.address)
  const unknown = `0x${'ab'.repeat(32)}`
  expect(await reportSubmitted(context, actor, { paymentId: built.paymentId, signature: unknown })).toMatchObject({ status: 'created', signature: unknown })
  const hash = await send(payer, built)
  await evm.mine(2)
  expect(await untilStatus(built, 'confirmed')).toMatchObject({ signature: hash })
})

test('a report of a transaction that never comes does not hide the one that was found', async () => {
  const { payer, payee } = await parties()
  const built = await build(payer, payee.address)
  await reportSubmitted(context, actor, { paymentId: built.paymentId, signature: `0x${'ac'.repeat(32)}` })
  const hash = await send(payer, built)
  // Found while it still lacks a confirmation: from here on it is followed by its hash, not by the blocks.
  await evm.mine()
  expect(await untilStatus(built, 'pending')).toMatchObject({ signature: hash })
  await evm.mine()
  expect(await untilStatus(built, 'confirmed')).toMatchObject({ signature: hash })
})

test("a report of another's transaction is refused and the payment stays payable", async () => {
  const { payer, payee } = await parties()
  const built = await build(payer, payee.address)
  const stranger = await parties()
  const foreign = await send(stranger.payer, await build(stranger.payer, stranger.payee.address))
  await evm.mine()
  await expect(reportSubmitted(context, actor, { paymentId: built.paymentId, signature: foreign })).rejects.toMatchObject({
    code: 'INVALID_PARAMETERS',
    facts: { details: { signature: expect.stringContaining('not this payment') } },
  })
  const hash = await send(payer, built)
  await evm.mine(2)
  expect(await untilStatus(built, 'confirmed')).toMatchObject({ signature: hash })
})

test('an older transfer of the same amount between the same parties pays nothing', async () => {
  const { payer, payee } = await parties()
  const transfer = { type: 'eip1559', chainId: 31_337, nonce: 0, gas: 21_000n, maxFeePerGas: 10n ** 10n, to: payee.address, value: ETH / 100n } as const
  const hash = await evm.client.sendRawTransaction({ serializedTransaction: await payer.signTransaction(transfer) })
  await evm.mine()
  const built = await build(payer, payee.address)
  await expect(reportSubmitted(context, actor, { paymentId: built.paymentId, signature: hash })).rejects.toMatchObject({ code: 'INVALID_PARAMETERS' })
  await evm.mine(10)
  const other = await parties()
  const later = await build(other.payer, other.payee.address)
  await send(other.payer, later)
  await evm.mine(2)
  // By now the blocks of the old transfer have been read.
  await untilStatus(later, 'confirmed')
  expect(await read(built)).toMatchObject({ status: 'created', signature: null })
})

test("another account's report of a transaction takes nothing from the payment it belongs to", async () => {
  const { payer, payee } = await parties()
  const built = await build(payer, payee.address)
  const other = await openAccount(context)
  await expect(reportSubmitted(context, other, { paymentId: built.paymentId, signature: `0x${'cd'.repeat(32)}` })).rejects.toMatchObject({ code: 'NOT_FOUND' })
  const elsewhere = await parties()
  const theirs = await buildTransaction(context, other, { walletAddress: elsewhere.payer.address, recipientAddress: elsewhere.payee.address, amount: '0.01' })
  const hash = await send(payer, built)
  await expect(reportSubmitted(context, other, { paymentId: theirs.paymentId, signature: hash })).rejects.toMatchObject({ code: 'INVALID_PARAMETERS' })
  await evm.mine(2)
  expect(await untilStatus(built, 'confirmed')).toMatchObject({ signature: hash })
})

test('of two equal payments one transaction pays the one that reports it', async () => {
  const { payer, payee } = await parties()
  const [first, second] = [await build(payer, payee.address), await build(payer, payee.address)]
  const hash = await send(payer, first)
  await reportSubmitted(context, actor, { paymentId: first.paymentId, signature: hash })
  await evm.mine(2)
  await untilStatus(first, 'confirmed')
  await expect(reportSubmitted(context, actor, { paymentId: second.paymentId, signature: hash })).rejects.toMatchObject({
    facts: { details: { signature: expect.stringContaining('another payment') } },
  })
  await evm.mine(120)
  await untilStatus(first, 'finalized')
  expect(await read(second)).toMatchObject({ status: 'created' })
})

test('of two equal payments one unreported transaction pays exactly one', async () => {
  const { payer, payee } = await parties()
  const [first, second] = [await build(payer, payee.address), await build(payer, payee.address)]
  const hash = await send(payer, second)
  await evm.mine(2)
  // Undecided for as long as a report may come.
  await evm.mine(Math.ceil(10_000 / evm.network.blockTimeMs))
  expect(await untilStatus(second, 'finalized')).toMatchObject({ signature: hash })
  expect(await read(first)).toMatchObject({ status: 'created', signature: null })
})

test('a reorg takes a confirmation back, and the same transaction confirms again', async () => {
  const { payer, payee } = await parties()
  // Below what is going to be replaced: the payer's balance must stay.
  await evm.mine(5)
  const built = await build(payer, payee.address)
  const hash = await send(payer, built)
  await evm.mine(2)
  await untilStatus(built, 'confirmed')

  await reorg(3)
  const gone = await untilStatus(built, 'rolled_back')
  expect(gone).toMatchObject({ blockHeight: null, fee: null, confirmations: 0 })

  await send(payer, built)
  await evm.mine(2)
  const again = await untilStatus(built, 'confirmed')
  expect(again.signature).toBe(hash)
  expect(again.events.map(({ status }) => status).filter((status) => status !== 'pending')).toEqual(['created', 'confirmed', 'rolled_back', 'confirmed'])
})

test('a payment nobody signs expires after its last block and a grace, and the chain can still undo that', async () => {
  const { payer, payee } = await parties()
  const built = await build(payer, payee.address)
  const height = Number(await evm.client.getBlockNumber())
  expect(built.lastValidBlockHeight).toBe(height + Math.ceil(60_000 / evm.network.blockTimeMs))
  await evm.mine(built.lastValidBlockHeight - height + 1)
  await evm.mine(Math.ceil(60_000 / evm.network.blockTimeMs))
  await untilStatus(built, 'expired')

  const hash = await send(payer, built)
  await evm.mine(10)
  const paid = await untilStatus(built, 'finalized')
  expect(paid.signature).toBe(hash)
  expect(paid.events.map(({ status }) => status)).toEqual(['created', 'expired', 'confirmed', 'finalized'])
})

test('a payment whose nonce another transaction used expires without the grace, once that is final', async () => {
  const { payer, payee } = await parties()
  const built = await build(payer, payee.address)
  const other = await build(payer, (await evm.wallet(0n)).address)
  await send(payer, other)
  const height = Number(await evm.client.getBlockNumber())
  await evm.mine(built.lastValidBlockHeight - height + 12)
  await untilStatus(other, 'finalized')
  await untilStatus(built, 'expired')
})

test('a broadcast payment that was replaced in the pool has failed, once that is final; before, it is unknown', async () => {
  const { payer, payee } = await parties()
  const built = await build(payer, payee.address)
  const hash = await send(payer, built)
  await reportSubmitted(context, actor, { paymentId: built.paymentId, signature: hash })
  await evm.client.dropTransaction({ hash })
  const height = Number(await evm.client.getBlockNumber())
  await evm.mine(built.lastValidBlockHeight - height + 200)
  expect(await read(built)).toMatchObject({ status: 'pending' })
  await evm.client.sendRawTransaction({
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
  await evm.mine(12)
  expect(await untilStatus(built, 'failed')).toMatchObject({ failure: expect.stringContaining('can no longer land') })
})

test('a transaction that is final before it has all confirmations is waited for, whatever its own nonce says', async () => {
  await using other = await openContext([{ ...evm.network, confirmations: 180 }])
  const [chain] = other.context.chains.values()
  if (!chain) throw new Error('no chain')
  const { payer, payee } = await parties()
  const built = await buildTransaction(other.context, other.actor, { walletAddress: payer.address, recipientAddress: payee.address, amount: '0.01' })
  await send(payer, built)
  await evm.mine(170)
  const seen = async () => {
    await followOnce(other.context, chain, { expiredToo: true })
    return readPaymentBody(other.context, built.paymentId)
  }
  await eventually(seen, ({ confirmations }) => confirmations >= 170)
  expect((await chain.head()).height).toBeGreaterThan(built.lastValidBlockHeight)
  for (let round = 0; round < 3; round++) expect(await seen()).toMatchObject({ status: 'pending' })
  await evm.mine(20)
  const { events } = await eventually(seen, ({ status }) => status === 'finalized')
  expect(events.map(({ status }) => status)).toEqual(['created', 'pending', 'confirmed', 'finalized'])
})

test('a transaction that the wallet sped up is followed to its confirmations, block by block', async () => {
  const { payer, payee } = await parties()
  const built = await build(payer, payee.address)
  const slow = await send(payer, built)
  expect(await reportSubmitted(context, actor, { paymentId: built.paymentId, signature: slow })).toMatchObject({ status: 'pending' })
  const fees = { gas: 21_000n, maxFeePerGas: 10n ** 11n, maxPriorityFeePerGas: 10n ** 11n }
  const fast = await evm.client.sendRawTransaction({
    serializedTransaction: await payer.signTransaction({ type: 'eip1559', chainId: 31337, nonce: 0, ...fees, to: payee.address, value: ETH / 100n }),
  })
  await evm.mine()
  await eventually(
    () => read(built),
    ({ signature }) => signature === fast,
  )
  await evm.mine()
  expect(await untilStatus(built, 'confirmed')).toMatchObject({ signature: fast })
})

test('an expired payment that lands is found though its block was read before it had its confirmations', async () => {
  await using other = await openContext([evm.network])
  const [chain] = other.context.chains.values()
  if (!chain) throw new Error('no chain')
  const { payer, payee } = await parties()
  const built = await buildTransaction(other.context, other.actor, { walletAddress: payer.address, recipientAddress: payee.address, amount: '0.01' })
  const seen = async (height: bigint) => {
    await eventually(
      () => chain.head(),
      (head) => BigInt(head.height) >= height,
    )
    await followOnce(other.context, chain, { expiredToo: true })
    return readPaymentBody(other.context, built.paymentId)
  }
  await evm.mine(built.lastValidBlockHeight - Number(await evm.client.getBlockNumber()) + 1 + Math.ceil(60_000 / evm.network.blockTimeMs))
  await eventually(
    async () => seen(await evm.client.getBlockNumber()),
    ({ status }) => status === 'expired',
  )
  const hash = await send(payer, built)
  for (let block = 0; block < 3; block++) {
    await evm.mine()
    await seen(await evm.client.getBlockNumber())
  }
  expect(await readPaymentBody(other.context, built.paymentId)).toMatchObject({ status: 'confirmed', signature: hash })
})

test('two watching processes write each event once, and one goes on alone when the other ends', async () => {
  await using second = await openContext([evm.network], { beside: context })
  const other = startWatchers(second.context)
  try {
    const payments = []
    for (let count = 0; count < 5; count++) {
      const { payer, payee } = await parties()
      const built = await build(payer, payee.address)
      payments.push({ built, hash: await send(payer, built) })
    }
    await evm.mine(2)
    for (const { built } of payments) await untilStatus(built, 'confirmed')
    await Promise.all(watchers.splice(0).map((watcher) => watcher.stop()))
    await evm.mine(10)
    for (const { built, hash } of payments) {
      const final = await untilStatus(built, 'finalized')
      expect(final.signature).toBe(hash)
      expect(final.events.map(({ status }) => status)).toEqual(['created', 'pending', 'confirmed', 'finalized'])
    }
  } finally {
    await other.stop()
  }
})

test('looks at the same moment by two processes without a lease still write each event once', async () => {
  await using second = await openContext([evm.network], { beside: context })
  const { payer, payee } = await parties()
  const built = await build(payer, payee.address)
  await send(payer, built)
  await evm.mine(12)
  const [chain, otherChain] = [context, second.context].map(({ chains }) => chains.get(evm.network.network))
  if (!chain || !otherChain) throw new Error('no chain')
  await eventually(
    () => chain.head(),
    ({ height }) => height > built.lastValidBlockHeight - 140,
  )
  await Promise.all([followOnce(context, chain, { expiredToo: true }), followOnce(second.context, otherChain, { expiredToo: true })])
  const { status, events } = await read(built)
  expect(status).toBe('finalized')
  expect(events.map((event) => event.status)).toEqual(['created', 'pending', 'confirmed', 'finalized'])
})
