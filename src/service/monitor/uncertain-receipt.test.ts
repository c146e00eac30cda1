import { createWalletClient, http, type Hex } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Chain } from '../chains/chain.ts'
import { createChains } from '../service.ts'
import {
  signBuilt,
  startEvm,
  startGate,
  startSolana,
  type EvmFixture,
} from '#testing/local-chains.ts'
import { eventually, openContext, type OpenedContext } from '#testing/service-context.ts'
import { SystemProgram, Transaction, VersionedTransaction } from '@solana/web3.js'
import { EVM_NATIVE } from '#contract/address.ts'
import { encodeHeader } from '#x402/header.ts'
import { SIGNED_TRANSACTION_METHOD } from '#x402/methods.ts'
import { receivePayment } from '../settlement/receive.ts'
import { buildTransaction } from '../payments/build.ts'
import { reportSubmitted } from './report.ts'
import { readCursor } from '../db/cursors.ts'
import { readPaymentBody } from '../payments/status.ts'
import { readUnmatched } from '../payments/unmatched.ts'
import { pollOnce } from './poll.ts'

/**
 * Nodes that forget, and nodes that lie: a result that only one of two shows is not reported as
 * permanent.
 */

const ETH = 10n ** 18n

let evm: EvmFixture
let first: Awaited<ReturnType<typeof startGate>>
let second: Awaited<ReturnType<typeof startGate>>
let opened: OpenedContext
let chain: Chain

beforeAll(async () => {
  evm = await startEvm({ slotsInEpoch: 2 })
  await evm.mine()
  first = await startGate(evm.rpcUrl)
  second = await startGate(evm.rpcUrl)
  opened = await openContext([{ ...evm.network, rpcUrls: [first.url, second.url] }])
  const [only] = opened.context.chains.values()
  if (!only) throw new Error('no chain')
  chain = only
})

afterAll(async () => {
  await opened?.[Symbol.asyncDispose]()
  await first?.[Symbol.asyncDispose]()
  await second?.[Symbol.asyncDispose]()
  await evm?.[Symbol.asyncDispose]()
})

beforeEach(() => {
  first.forget = second.forget = undefined
  first.lie = second.lie = undefined
})

/** The tip that the service knows may be some hundred milliseconds old. */
async function untilTipIsKnown(): Promise<void> {
  const tip = Number(await evm.client.getBlockNumber())
  await eventually(
    () => chain.head(),
    ({ height }) => height >= tip,
  )
}

async function statusOf(paymentId: string): Promise<string> {
  await untilTipIsKnown()
  expect((await pollOnce(opened.context, chain, { expiredToo: false })).failures).toEqual([])
  return (await readPaymentBody(opened.context, paymentId)).status
}

/** The same payment with the fees that the wallet chose itself: nothing ties it to its order. */
async function sendWithOwnFees(payer: PrivateKeyAccount, to: Hex): Promise<Hex> {
  const serializedTransaction = await payer.signTransaction({
    type: 'eip1559',
    chainId: 31_337,
    nonce: 0,
    gas: 21_000n,
    maxFeePerGas: 10n ** 10n,
    maxPriorityFeePerGas: 10n ** 9n,
    to,
    value: ETH / 100n,
  })
  return evm.client.sendRawTransaction({ serializedTransaction })
}

/** A payment that its wallet broadcast, in a final block, with its last valid block long past. */
async function landedLongAgo({
  before,
}: { before?: (payer: PrivateKeyAccount) => Promise<void> } = {}) {
  const [payer, payee] = await Promise.all([evm.wallet(ETH), evm.wallet(0n)])
  const { context, actor } = opened
  await before?.(payer)
  const built = await buildTransaction(context, actor, {
    walletAddress: payer.address,
    recipientAddress: payee.address,
    amount: '0.01',
  })
  const hash = await evm.client.sendRawTransaction({
    serializedTransaction: await signBuilt(payer, built.transaction),
  })
  expect(
    await reportSubmitted(context, actor, { paymentId: built.paymentId, signature: hash }),
  ).toMatchObject({ status: 'pending' })
  await evm.mine(built.lastValidBlockHeight - Number(await evm.client.getBlockNumber()) + 10)
  await untilTipIsKnown()
  return { paymentId: built.paymentId, hash }
}

test('a payment is not over because nodes have forgotten its transaction: the one that used its nonce may be it', async () => {
  const { paymentId, hash } = await landedLongAgo()
  first.forget = second.forget = 'eth_getTransactionByHash'
  expect(await statusOf(paymentId)).toBe('pending')
  expect(await statusOf(paymentId)).toBe('pending')
  first.forget = second.forget = undefined
  expect(await statusOf(paymentId)).toBe('finalized')
  expect(await readPaymentBody(opened.context, paymentId)).toMatchObject({ signature: hash })
})

test.each([true, false])(
  'an unreported payment that a node shows in its block before it shows it by its name is not lost; its fees are those of its order: %s',
  async (keepsFees) => {
    const [payer, payee] = await Promise.all([evm.wallet(ETH), evm.wallet(0n)])
    const { context, actor } = opened
    const built = await buildTransaction(context, actor, {
      walletAddress: payer.address,
      recipientAddress: payee.address,
      amount: '0.01',
    })
    expect(await statusOf(built.paymentId)).toBe('created')
    const signature = keepsFees
      ? await evm.client.sendRawTransaction({
          serializedTransaction: await signBuilt(payer, built.transaction),
        })
      : await sendWithOwnFees(payer, payee.address)
    await evm.mine()
    first.forget = second.forget = 'eth_getTransactionByHash'
    expect(await statusOf(built.paymentId)).toBe('created')
    await evm.mine()
    expect(await statusOf(built.paymentId)).toBe('created')
    first.forget = second.forget = undefined
    const unmatched = async () =>
      (await readUnmatched(context, actor, { limit: 10, offset: 0 })).transfers.map(
        (transfer) => transfer.signature,
      )
    if (keepsFees) {
      expect(await statusOf(built.paymentId)).toBe('confirmed')
      expect(await readPaymentBody(context, built.paymentId)).toMatchObject({ signature })
    } else {
      expect(await statusOf(built.paymentId)).toBe('created')
      expect(await unmatched()).toEqual([signature])
    }
  },
)

test('a payment that a node never shows by its name holds up the others for a minute at most', async () => {
  const { context, actor } = opened
  const [payer, payee] = await Promise.all([evm.wallet(ETH), evm.wallet(0n)])
  const { paymentId } = await buildTransaction(context, actor, {
    walletAddress: payer.address,
    recipientAddress: payee.address,
    amount: '0.01',
  })
  await sendWithOwnFees(payer, payee.address)
  await evm.mine()
  const height = Number(await evm.client.getBlockNumber())
  first.forget = second.forget = 'eth_getTransactionByHash'
  expect(await statusOf(paymentId)).toBe('created')
  const { network } = evm.network
  expect(await readCursor(context.db, network)).toBeLessThan(height)
  await evm.mine(60_000 / evm.network.blockTimeMs)
  await statusOf(paymentId)
  expect(await readCursor(context.db, network)).toBeGreaterThanOrEqual(height)
})

test('a payment is not over because an authorization that the chain skipped names its nonce', async () => {
  const { paymentId } = await landedLongAgo({
    before: async (payer) => {
      const [sponsor, { address }] = await Promise.all([evm.wallet(ETH), evm.wallet(0n)])
      const fields = { gas: 200_000n, maxFeePerGas: 10n ** 10n, maxPriorityFeePerGas: 10n ** 9n }
      const wallet = createWalletClient({ account: sponsor, transport: http(evm.rpcUrl) })
      const hash = await wallet.sendTransaction({
        ...fields,
        chain: null,
        to: address,
        // One is too early, the other is for another chain.
        authorizationList: [
          await payer.signAuthorization({ chainId: 31_337, nonce: 1, address }),
          await payer.signAuthorization({ chainId: 1, nonce: 0, address }),
        ],
      })
      await evm.mine()
      expect((await evm.client.getTransactionReceipt({ hash })).status).toBe('success')
      await evm.client.sendRawTransaction({
        serializedTransaction: await payer.signTransaction({
          ...fields,
          chainId: 31_337,
          nonce: 0,
          to: address,
        }),
      })
      await evm.mine()
      expect(await evm.client.getTransactionCount({ address: payer.address })).toBe(1)
    },
  })
  const { number } = await evm.client.getBlock({ blockTag: 'finalized' })
  const final = `"0x${number?.toString(16)}"`
  // Nodes that keep no past states: the blocks are read one by one.
  first.lie = second.lie = (asked, answer) => {
    if (asked.includes('"eth_getTransactionByHash"'))
      return answer.replace(/"result":.*\}$/s, '"result":null}')
    return asked.includes('"eth_getTransactionCount"') && !asked.includes(final)
      ? answer.replace(/"result":.*\}$/s, '"error":{"code":-32000,"message":"missing trie node"}}')
      : answer
  }
  expect(await statusOf(paymentId)).toBe('pending')
  expect(await statusOf(paymentId)).toBe('pending')
  first.lie = second.lie = undefined
  expect(await statusOf(paymentId)).toBe('finalized')
})

test('a signed transaction that one of two nodes has seen is refused: anyone who reads it there could present it', async () => {
  const [payer, payee] = await Promise.all([evm.wallet(ETH), evm.wallet(0n)])
  await untilTipIsKnown()
  const { context, actor } = opened
  const signedTransaction = await payer.signTransaction({
    type: 'eip1559',
    chainId: 31_337,
    gas: 21_000n,
    maxFeePerGas: 10n ** 10n,
    maxPriorityFeePerGas: 10n ** 9n,
    nonce: 0,
    to: payee.address,
    value: ETH / 100n,
  })
  const accepted = {
    scheme: 'exact',
    network: evm.network.network,
    amount: (ETH / 100n).toString(),
    asset: EVM_NATIVE,
    payTo: payee.address,
    maxTimeoutSeconds: 60,
    extra: { assetTransferMethod: SIGNED_TRANSACTION_METHOD },
  }
  await evm.client.sendRawTransaction({ serializedTransaction: signedTransaction })
  first.forget = 'eth_getTransactionByHash'
  const presented = receivePayment(context, actor, {
    walletAddress: payee.address,
    paymentProof: encodeHeader({ x402Version: 2, accepted, payload: { signedTransaction } }),
    expectedAmount: '0.01',
    timeout: 5,
  })
  await expect(presented).rejects.toMatchObject({ reason: 'already_used' })
})

const reverted = (asked: string, answer: string) =>
  asked.includes('"eth_getTransactionReceipt"')
    ? answer.replace('"status":"0x1"', '"status":"0x0"')
    : answer

test('a payment that one of two nodes shows as reverted is open until both do', async () => {
  const { paymentId, hash } = await landedLongAgo()
  first.lie = reverted
  expect(await chain.observe(hash)).toMatchObject({ state: 'pending' })
  expect(await statusOf(paymentId)).toBe('pending')
  second.lie = reverted
  expect(await chain.observe(hash)).toMatchObject({
    state: 'landed',
    succeeded: false,
    finalized: true,
  })
  first.lie = second.lie = undefined
  // What was seen of a transaction counts until the next block.
  await evm.mine()
  expect(await statusOf(paymentId)).toBe('finalized')
})

test('a node that is behind is not counted by the head of another', async () => {
  await using behind = await startEvm({ slotsInEpoch: 2 })
  await using ahead = await startGate(evm.rpcUrl)
  const rpcUrls = [ahead.url, behind.rpcUrl]
  const [two] = createChains([{ ...evm.network, rpcUrls }]).values()
  const payer = await behind.wallet(ETH)
  const fields = { type: 'eip1559', chainId: 31_337, gas: 21_000n, nonce: 0, value: 1n } as const
  const hash = await behind.client.sendRawTransaction({
    serializedTransaction: await payer.signTransaction({
      ...fields,
      maxFeePerGas: 10n ** 10n,
      to: (await behind.wallet(0n)).address,
    }),
  })
  await behind.mine()
  await evm.mine(20)
  ahead.refuse = 'eth_getTransactionByHash'
  // Each chain reads its head of the one that is ahead, which then answers nothing more.
  expect(await two?.observe(hash)).toMatchObject({
    state: 'landed',
    height: 1,
    confirmed: false,
    finalized: false,
  })
  await behind.mine(20)
  const [later] = createChains([{ ...evm.network, rpcUrls }]).values()
  expect(await later?.observe(hash)).toMatchObject({ confirmed: true, finalized: true })
})

test('a node that gave the head is asked for it once', async () => {
  const { hash } = await landedLongAgo()
  await using gate = await startGate(evm.rpcUrl)
  const asked: string[] = []
  gate.lie = (question, answer) => {
    asked.push(question)
    return answer
  }
  const [one] = createChains([{ ...evm.network, rpcUrls: [gate.url] }]).values()
  expect(await one?.observe(hash)).toMatchObject({ confirmed: true, finalized: true })
  expect(asked.filter((question) => question.includes('"latest"'))).toHaveLength(1)
})

describe('on Solana', () => {
  test('a transfer that one of two nodes shows as failed is open until both do', async () => {
    await using solana = await startSolana({ slotTimeMs: 40 })
    await using lying = await startGate(solana.rpcUrl)
    await using honest = await startGate(solana.rpcUrl)
    const [cluster] = createChains([
      { ...solana.network, rpcUrls: [lying.url, honest.url] },
    ]).values()
    if (!cluster) throw new Error('no chain')
    const payer = await solana.wallet(10n ** 9n)
    const to = (await solana.wallet(10n ** 9n)).publicKey
    const transfer = new Transaction({
      feePayer: payer.publicKey,
      ...(await solana.connection.getLatestBlockhash()),
    })
    transfer.add(
      SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey: to, lamports: 10n ** 6n }),
    )
    transfer.sign(payer)
    const signature = await solana.connection.sendRawTransaction(transfer.serialize())
    const seen = () => cluster.observe(signature)
    await eventually(
      seen,
      (observation) =>
        observation.state === 'landed' && observation.succeeded && observation.finalized,
    )
    const failed = (asked: string, answer: string) =>
      /"get(Transaction|SignatureStatuses)"/.test(asked)
        ? answer.replaceAll('"err":null', '"err":{"InstructionError":[0,{"Custom":1}]}')
        : answer
    lying.lie = failed
    expect(await seen()).toMatchObject({ state: 'pending' })
    honest.lie = failed
    expect(await seen()).toMatchObject({ state: 'landed', succeeded: false, finalized: true })
  })

  type Gate = Awaited<ReturnType<typeof startGate>>
  const isNotFinal: Gate['lie'] = (_, answer) =>
    answer.replaceAll('"confirmationStatus":"finalized"', '"confirmationStatus":"confirmed"')

  /** A payment that two nodes have shown as confirmed, and whose slot is final now. */
  async function confirmed() {
    const stack = new AsyncDisposableStack()
    const solana = stack.use(await startSolana({ slotTimeMs: 40 }))
    const gates = [
      stack.use(await startGate(solana.rpcUrl)),
      stack.use(await startGate(solana.rpcUrl)),
    ] as const
    const rpcUrls = gates.map(({ url }) => url)
    const { context, actor } = stack.use(await openContext([{ ...solana.network, rpcUrls }]))
    const [cluster] = context.chains.values()
    if (!cluster) throw new Error('no chain')
    const [payer, payee] = [await solana.wallet(10n ** 9n), await solana.wallet(10n ** 9n)]
    const { paymentId, transaction } = await buildTransaction(context, actor, {
      walletAddress: payer.publicKey.toBase58(),
      recipientAddress: payee.publicKey.toBase58(),
      amount: '0.01',
    })
    const signed = VersionedTransaction.deserialize(Buffer.from(transaction, 'base64'))
    signed.sign([payer])
    const signature = await solana.connection.sendRawTransaction(signed.serialize())
    await reportSubmitted(context, actor, { paymentId, signature })
    const body = () => readPaymentBody(context, paymentId)
    const look = async () => {
      expect((await pollOnce(context, cluster, { expiredToo: false })).failures).toEqual([])
      return (await body()).status
    }
    for (const gate of gates) gate.lie = isNotFinal
    await eventually(look, (status) => status === 'confirmed')
    const { blockHeight } = await body()
    await eventually(
      () => cluster.head(),
      ({ finalizedHeight }) => finalizedHeight > (blockHeight ?? Infinity),
    )
    return {
      gates,
      look,
      slot: blockHeight ?? 0,
      [Symbol.asyncDispose]: () => stack.disposeAsync(),
    }
  }

  test('a confirmed payment that both nodes finally show as failed is rolled back, and has failed', async () => {
    await using seen = await confirmed()
    const [first, second] = seen.gates
    const failed: Gate['lie'] = (asked, answer) =>
      /"get(Transaction|SignatureStatuses)"/.test(asked)
        ? answer.replaceAll('"err":null', '"err":{"InstructionError":[0,{"Custom":1}]}')
        : answer
    first.lie = failed
    expect(await seen.look()).toBe('confirmed')
    second.lie = failed
    expect(await seen.look()).toBe('rolled_back')
    expect(await seen.look()).toBe('failed')
  })

  test('a confirmed payment is not rolled back by nodes that no longer have its slot', async () => {
    await using seen = await confirmed()
    const forgotten =
      (firstAvailable: number): Gate['lie'] =>
      (asked, answer) => {
        if (asked.includes('"getFirstAvailableBlock"'))
          return answer.replace(/"result":\s*\d+/, `"result":${firstAvailable}`)
        return asked.includes('"getSignatureStatuses"')
          ? answer.replace(/"value":\s*\[.*?\]/s, '"value":[null]')
          : answer
      }
    for (const gate of seen.gates) gate.lie = forgotten(seen.slot + 1)
    expect(await seen.look()).toBe('confirmed')
    for (const gate of seen.gates) gate.lie = forgotten(seen.slot)
    expect(await seen.look()).toBe('rolled_back')
  })
})
