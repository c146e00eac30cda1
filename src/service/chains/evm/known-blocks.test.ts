import { BlockNotFoundError, type Hex, type PublicClient } from 'viem'
import { beforeEach, expect, test } from 'vitest'
import { readTipOf, type EvmEndpoints, type Tip } from './client.ts'
import { KnownBlocks, openIsGone } from './known-blocks.ts'

/** A payment's block is gone only when a node shows another one there; it is still there without a request where the blocks that were read show it. */

type Branch = 'a' | 'b'
const BRANCH = 98
const hashOf = (branch: Branch, height: number): Hex =>
  `0x${height < BRANCH ? 'a' : branch}${height}`
const headerOf = (branch: Branch, height: number) => ({
  hash: hashOf(branch, height),
  parentHash: hashOf(branch, height - 1),
  timestamp: BigInt(height),
})

let asked: number[]
let node: { branch: Branch; height: number; finalized: number; fails: boolean }
let tip: Tip
let known: KnownBlocks
let ask: ReturnType<typeof openIsGone>
let isGone: (height: number) => Promise<boolean>

/** A node with the blocks of `node`, whose newest one is `latest`. */
let latest: number
const openNode = () =>
  ({
    getBlock: async ({ blockNumber, blockTag }: { blockNumber?: bigint; blockTag?: string }) => {
      if (blockTag === 'finalized')
        return { ...headerOf(node.branch, node.finalized), number: BigInt(node.finalized) }
      if (blockTag === 'latest') return { ...headerOf(node.branch, latest), number: BigInt(latest) }
      const height = Number(blockNumber)
      asked.push(height)
      if (node.fails) throw new Error('no answer')
      if (height > node.height) throw new BlockNotFoundError({ blockNumber: BigInt(height) })
      return { ...headerOf(node.branch, height), number: BigInt(height) }
    },
  }) as unknown as PublicClient
let client: PublicClient

/** A new newest block, which a round has read. */
async function see(branch: Branch, height: number): Promise<void> {
  node.branch = branch
  node.height = Math.max(node.height, height)
  latest = height
  tip = await readTipOf(client)
  known.note(client, tip)
}

beforeEach(async () => {
  asked = []
  node = { branch: 'a', height: 0, finalized: 90, fails: false }
  known = new KnownBlocks()
  client = openNode()
  const endpoints = {
    request: (work: (of: PublicClient) => Promise<unknown>) => work(client),
  } as unknown as EvmEndpoints
  ask = openIsGone(endpoints, known, async () => tip)
  isGone = (height) => ask({ signature: '0xpaid', height, blockHash: hashOf('a', height) }, 0)
  for (let height = 95; height <= 100; height++) await see('a', height)
})

test('a block below the newest one is there, and no node is asked', async () => {
  expect(await Promise.all([95, 99, 100].map((height) => isGone(height)))).toEqual([
    false,
    false,
    false,
  ])
  expect(asked).toEqual([])
})

test.each([
  ['by a longer chain', 101],
  ['at the same height', 100],
  ['by a shorter chain', 99],
])('a block that was replaced %s is gone at once, and one below it is not', async (_, height) => {
  await see('b', height)
  expect(await isGone(99)).toBe(true)
  expect(await isGone(97)).toBe(false)
  await see('a', height + 1)
  expect(await isGone(99)).toBe(false)
})

test('a block is there still where its own branch has come back', async () => {
  for (const height of [98, 99, 100, 101]) await see('b', height)
  expect(await isGone(100)).toBe(true)
  await see('a', 101)
  expect(await isGone(100)).toBe(false)
})

test('a node that has no block there proves nothing', async () => {
  await see('a', 97)
  node.height = 97
  expect(await isGone(100)).toBe(false)
  expect(asked).toEqual([100])
})

test('a node is asked where the caller does not say since when a block counts as read', async () => {
  expect(await ask({ signature: '0xpaid', height: 99, blockHash: hashOf('a', 99) })).toBe(false)
  expect(asked).toEqual([99])
})

test('what is final is asked for each time', async () => {
  node.finalized = 99
  await see('a', 100)
  expect(await isGone(99)).toBe(false)
  node.branch = 'b'
  expect(await isGone(99)).toBe(true)
  expect(asked).toEqual([99, 99])
})

test('blocks that no round has read are read once, and a failure of the node is no reading', async () => {
  await see('a', 104)
  node.fails = true
  await expect(isGone(99)).rejects.toThrow('no answer')
  node.fails = false
  asked = []
  expect(await isGone(99)).toBe(false)
  expect(asked.toSorted((a, b) => a - b)).toEqual([99, 100, 101, 102, 103])
  asked = []
  expect(await Promise.all([isGone(99), isGone(96)])).toEqual([false, false])
  expect(asked).toEqual([])
})

test('what a node told counts no more once another node tells the newest block', async () => {
  // The first node told branch a; the true chain, which the next node has, is b.
  client = openNode()
  await see('b', 101)
  expect(await isGone(100)).toBe(true)
  expect(asked).toContain(100)
  // A true block with a false parent, by a node that is gone again.
  known.note(openNode(), { ...headerOf('b', 100), parentHash: hashOf('a', 99) })
  known.note(client, { ...headerOf('b', 101) })
  expect(await isGone(99)).toBe(true)
})
