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
import { SystemProgram, Transaction } from '@solana/web3.js'
import { EVM_NATIVE } from '#contract/address.ts'
import { encodeHeader } from '#x402/header.ts'
import { SIGNED_TRANSACTION_METHOD } from '#x402/methods.ts'
import { receivePayment } from '../settlement/receive.ts'
import { buildTransaction } from '../payments/build.ts'
import { reportSubmitted } from './report.ts'
import { readPaymentBody } from '../payments/status.ts'
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

/** A payment that its wallet broadcast, in a final block, with its last valid block long past. */
async function landedLongAgo() {
  const [payer, payee] = await Promise.all([evm.wallet(ETH), evm.wallet(0n)])
  const { context, actor } = opened
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
  expect(await statusOf(paymentId)).toBe('finalized')
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
})
