import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { keccak256, type Hex } from 'viem'
import { NATIVE_ETH } from '#contract/network.ts'
import { createPaymentId } from '#contract/payment.ts'
import { startEvm, startGate, type EvmFixture } from '#testing/local-chains.ts'
import { eventually } from '#testing/service-context.ts'
import { deployTokens, type EvmTokens } from '#testing/token-payers.ts'
import { createChains } from '../../service.ts'
import type { Chain } from '../chain.ts'

/** What an RPC endpoint is asked: once for what is needed at one moment, and once for what many look at. */

const ETH = 10n ** 18n

let evm: EvmFixture
let tokens: EvmTokens
let gate: Awaited<ReturnType<typeof startGate>>
let chain: Chain
let methods: string[]

beforeAll(async () => {
  evm = await startEvm({ slotsInEpoch: 2 })
  await evm.mine(5)
  tokens = await deployTokens(evm)
  gate = await startGate(evm.rpcUrl)
  // A block as long as the run: what is shared is shared by the block, not by the time.
  const network = { ...tokens.network, blockTimeMs: 2_000, rpcUrls: [gate.url] }
  const [only] = createChains([network]).values()
  if (!only) throw new Error('no chain')
  chain = only
  gate.lie = (question, answer) => {
    const { method, params } = JSON.parse(question) as { method: string; params: string[] }
    methods.push(method === 'eth_getBlockByNumber' ? `${method} ${params[0]}` : method)
    return answer
  }
  methods = []
  await chain.check()
})

afterAll(async () => {
  await chain?.close()
  await gate?.[Symbol.asyncDispose]()
  await evm?.[Symbol.asyncDispose]()
})

beforeEach(() => {
  methods = []
  gate.requests = 0
})

async function signed(): Promise<Hex> {
  const payer = await evm.wallet(ETH)
  return payer.signTransaction({
    type: 'eip1559',
    chainId: 31_337,
    gas: 21_000n,
    maxFeePerGas: 10n ** 10n,
    maxPriorityFeePerGas: 10n ** 9n,
    nonce: 0,
    to: payer.address,
    value: 1n,
  })
}

const send = async () => evm.client.sendRawTransaction({ serializedTransaction: await signed() })

const untilKnown = async () => {
  const tip = Number(await evm.client.getBlockNumber())
  await eventually(
    () => chain.head(),
    ({ height }) => height >= tip,
  )
  methods = []
}

const looks = () => methods.filter((method) => method === 'eth_getTransactionByHash').length

test('a payment in native currency is built with one request, its simulation included', async () => {
  const payer = await evm.wallet(ETH)
  const built = await chain.build({
    network: evm.network.network,
    paymentId: createPaymentId(),
    sender: payer.address,
    recipient: (await evm.wallet(0n)).address,
    asset: NATIVE_ETH,
    amountAtomic: 1n,
  })
  expect(built.ok).toBe(true)
  // A client that has asked no rollup's oracle yet asks it once.
  expect(methods.filter((method) => method !== 'eth_call').toSorted()).toEqual([
    'eth_blockNumber',
    'eth_estimateGas',
    'eth_feeHistory',
    'eth_getBalance',
    'eth_getCode',
    'eth_getCode',
    'eth_getTransactionCount',
  ])
  const oracle = methods.includes('eth_call') ? 1 : 0
  expect(gate.requests - oracle).toBe(1)
})

test('a payment of a token is built with one request', async () => {
  const payer = await evm.wallet(ETH)
  await tokens.fund(payer.address)
  const built = await chain.build({
    network: evm.network.network,
    paymentId: createPaymentId(),
    sender: payer.address,
    recipient: (await evm.wallet(0n)).address,
    asset: tokens.usdc,
    amountAtomic: 1n,
  })
  expect(built.ok).toBe(true)
  expect(gate.requests).toBe(1)
  expect(methods).toHaveLength(10)
})

test('the newest block that is read for the funds of a wallet is not read again by the round after it', async () => {
  const { address } = await evm.wallet(ETH)
  await evm.mine()
  gate.requests = 0
  const newest = Number(await evm.client.getBlockNumber())
  expect(await chain.funds(address, async () => [])).toMatchObject({
    height: newest,
    balanceAtomic: ETH,
    nonce: 0,
  })
  expect(await chain.head()).toMatchObject({ height: newest })
  expect(gate.requests).toBe(2)
})

test('all who look at a transaction in one block share a look, and the next block has another', async () => {
  const hash = await send()
  await evm.mine()
  await untilKnown()
  const first = await Promise.all(Array.from({ length: 5 }, () => chain.observe(hash)))
  expect(first.map(({ state }) => state)).toEqual(Array(5).fill('landed'))
  await chain.observe(hash)
  expect(looks()).toBe(1)
  await evm.mine()
  await untilKnown()
  expect(await chain.observe(hash)).toMatchObject({ state: 'landed', confirmed: true })
  expect(looks()).toBe(1)
})

test('a transaction whose block was read before is looked at with one request', async () => {
  const hash = await send()
  await evm.mine()
  await untilKnown()
  gate.requests = 0
  const { blockNumber } = await evm.client.getTransactionReceipt({ hash })
  const { timestamp } = await evm.client.getBlock({ blockNumber })
  expect(await chain.observe(hash)).toMatchObject({
    state: 'landed',
    height: Number(blockNumber),
    blockTime: new Date(Number(timestamp) * 1_000),
  })
  const tips = methods.filter((method) => method.endsWith('latest')).length
  expect(gate.requests - tips).toBe(1)
  expect(methods.filter((method) => !/latest|finalized/.test(method)).toSorted()).toEqual([
    'eth_getTransactionByHash',
    'eth_getTransactionReceipt',
  ])
})

test('a transaction that was not found is looked for again at once', async () => {
  const serializedTransaction = await signed()
  await untilKnown()
  const hash = keccak256(serializedTransaction)
  expect(await chain.observe(hash)).toEqual({ state: 'not_found' })
  await evm.client.sendRawTransaction({ serializedTransaction })
  expect(await chain.observe(hash)).toMatchObject({ state: 'pending' })
})

test('a block that replaces another at the same height ends what was shared of it', async () => {
  await evm.mine(3)
  const hash = await send()
  await evm.mine()
  await untilKnown()
  expect(await chain.observe(hash)).toMatchObject({ state: 'landed' })
  await evm.client.request({ method: 'anvil_reorg' as never, params: [1, []] as never })
  const { state } = await eventually(
    () => chain.observe(hash),
    (seen) => seen.state !== 'landed',
  )
  expect(state).not.toBe('landed')
})

test('a block that was replaced since the newest one was read is gone for a round that begins now', async () => {
  await evm.mine(3)
  await untilKnown()
  const height = Number(await evm.client.getBlockNumber())
  const { hash: blockHash } = await evm.client.getBlock({ blockNumber: BigInt(height) })
  const landed = { signature: '0x', height, blockHash }
  const before = performance.now()
  expect(await chain.isGone(landed, before)).toBe(false)
  methods = []
  expect(await chain.isGone(landed, before)).toBe(false)
  expect(methods).toEqual([])
  await evm.client.request({ method: 'anvil_reorg' as never, params: [1, []] as never })
  expect(await chain.isGone(landed, performance.now())).toBe(true)
})

test('what one caller reads of a transaction as its payment is not what another one reads', async () => {
  const hash = await send()
  await evm.mine()
  await untilKnown()
  const failed = await chain.observe(hash, (seen) => ({ ...seen, state: 'not_found' }) as never)
  expect(failed.state).toBe('not_found')
  expect(await chain.observe(hash)).toMatchObject({ state: 'landed', succeeded: true })
})
