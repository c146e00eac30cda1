import type { Hex, PublicClient } from 'viem'
import { expect, test } from 'vitest'
import { checksumAddress, EVM_NATIVE } from '#contract/address.ts'
import type { MonitoredTransaction } from '../chain.ts'
import type { EvmEndpoints } from './client.ts'
import { BlockScan } from './find.ts'
import { KnownBlocks } from './known-blocks.ts'

/** No block of the chain is left out where a reorganization and a failure come together. */

const SENDER = checksumAddress('0x00000000000000000000000000000000000000a1')
const RECIPIENT = checksumAddress('0x00000000000000000000000000000000000000b2')
const MONITORED = {
  paymentId: 'order',
  sender: SENDER,
  recipient: RECIPIENT,
  asset: EVM_NATIVE,
  amountAtomic: 5n,
  builtHeight: 1,
} as unknown as MonitoredTransaction
const BRANCH = 98

/** Two branches with the same blocks below 98; in block 99 of the second one is the payment. */
function blockOf(branch: 'a' | 'b', height: number) {
  const nameOf = (at: number): Hex => `0x${at < BRANCH ? 'a' : branch}${at}`
  const payment = {
    from: SENDER,
    to: RECIPIENT,
    value: 5n,
    input: '0x',
    nonce: 1,
    type: 'eip1559',
    hash: '0xpaid',
    maxFeePerGas: 1n,
    maxPriorityFeePerGas: 1n,
  }
  return {
    number: BigInt(height),
    hash: nameOf(height),
    parentHash: nameOf(height - 1),
    timestamp: 1n,
    transactions: branch === 'b' && height === 99 ? [payment] : [],
  }
}

function openScan() {
  const node = {
    branch: (_height: number): 'a' | 'b' => 'a',
    failsAt: new Set<number>(),
  }
  const client = {
    getBlock: async ({ blockNumber }: { blockNumber: bigint }) => {
      const height = Number(blockNumber)
      if (node.failsAt.has(height)) throw new Error('no answer')
      return blockOf(node.branch(height), height)
    },
  } as unknown as PublicClient
  const endpoints = {
    request: (work: (asked: PublicClient) => Promise<unknown>) => work(client),
  } as unknown as EvmEndpoints
  const head = async () => ({
    height: 101,
    finalizedHeight: 90,
    blockHeight: 101,
    finalizedBlockHeight: 90,
  })
  const scan = new BlockScan(endpoints, { head, known: new KnownBlocks() })
  const find = async (from: number, to: number) => {
    const { found, readTo } = await scan.find([MONITORED], { from, to })
    return { names: found.map(({ signature }) => signature), readTo }
  }
  return { node, find }
}

const FOUND = { names: ['0xpaid'], readTo: 101 }

test('a payment in a replaced block is found', async () => {
  const { node, find } = openScan()
  await find(95, 100)
  node.branch = () => 'b'
  expect(await find(100, 101)).toEqual(FOUND)
})

test.each([
  ['while it looks how far a reorganization goes', 98],
  ['while it looks how far a reorganization goes, a block later', 99],
])('replaced blocks are read again after the node failed %s', async (_, height) => {
  const { node, find } = openScan()
  await find(95, 100)
  node.branch = () => 'b'
  node.failsAt.add(height)
  await expect(find(100, 101)).rejects.toThrow('no answer')
  node.failsAt.clear()
  expect(await find(100, 101)).toEqual(FOUND)
})

test('replaced blocks are read again after the node failed at a block that came later', async () => {
  const { node, find } = openScan()
  await find(95, 100)
  node.branch = () => 'b'
  node.failsAt.add(102)
  await expect(find(100, 102)).rejects.toThrow('no answer')
  node.failsAt.clear()
  expect(await find(100, 102)).toEqual({ ...FOUND, readTo: 102 })
})

test('replaced blocks are read again where what was found in them could not be written', async () => {
  const { node, find } = openScan()
  await find(95, 100)
  node.branch = () => 'b'
  expect(await find(100, 101)).toEqual(FOUND)
  expect(await find(100, 101)).toEqual(FOUND)
  expect(await find(101, 102)).toEqual({ names: [], readTo: 102 })
})

test('blocks that do not follow each other are read again: one was replaced, or an endpoint is behind', async () => {
  const { node, find } = openScan()
  await find(95, 100)
  node.branch = (height) => (height > 100 ? 'b' : 'a')
  const from = await find(100, 101).then(
    ({ readTo }) => readTo,
    () => 100,
  )
  node.branch = () => 'b'
  expect(await find(from, 102)).toEqual({ ...FOUND, readTo: 102 })
})
