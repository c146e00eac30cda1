import { parseTransaction, type Hex } from 'viem'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { startEvm, startGate, type EvmFixture } from '#testing/local-chains.ts'
import { eventually } from '#testing/service-context.ts'
import { openTokenFixture, type TokenFixture } from '#testing/token-fixture.ts'
import { payInvoice } from '#testing/token-payers.ts'
import { reconcile } from '../reconciliation/reconcile.ts'

/** What a settlement asks the RPC endpoint: before it is broadcast, and when its wallet is compared with the chain. */

let evm: EvmFixture
let gate: Awaited<ReturnType<typeof startGate>>
let fixture: TokenFixture
let methods: string[]
let broadcastAfter: number | undefined
/** Gas limits of what was broadcast, in order. */
const gasLimits: bigint[] = []

beforeAll(async () => {
  evm = await startEvm({ slotsInEpoch: 2 })
  gate = await startGate(evm.rpcUrl)
  methods = []
  gate.lie = (question, answer) => {
    const { method, params } = JSON.parse(question) as { method: string; params: [Hex] }
    if (broadcastAfter === undefined) methods.push(method)
    if (method === 'eth_sendRawTransaction') {
      broadcastAfter = gate.requests
      gasLimits.push(parseTransaction(params[0]).gas ?? 0n)
    }
    return answer
  }
  fixture = await openTokenFixture(evm, { rpcUrls: [gate.url] })
  // The gas of the function is known from here on.
  await settle()
})

afterAll(async () => {
  await fixture?.[Symbol.asyncDispose]()
  await gate?.[Symbol.asyncDispose]()
  await evm?.[Symbol.asyncDispose]()
})

beforeEach(() => {
  broadcastAfter = undefined
})

/** This process knows the newest block. */
async function learned(): Promise<void> {
  const newest = Number(await evm.client.getBlockNumber())
  await eventually(
    () => fixture.chain.head(),
    ({ height }) => height >= newest,
  )
}

/** @param code of the payer */
async function settle(code?: `0x${string}`) {
  const all = await fixture.parties()
  const header = await payInvoice(all.client, all.requirements)
  if (code) await evm.setCode(all.payer.address, code)
  await learned()
  methods = []
  gate.requests = 0
  const mining = setInterval(() => void evm.mine().catch(() => {}), 200)
  const received = await fixture.receive(all, header).finally(() => clearInterval(mining))
  expect(await fixture.balance(all.asset, all.payee.address)).toBe(all.amount)
  return received
}

const count = (method: string) => methods.filter((each) => each === method).length

test('a settlement is simulated with one request where a quote of the function is known', async () => {
  expect(await settle()).toMatchObject({ verified: true })
  expect(count('eth_estimateGas')).toBe(0)
  // The call in two blocks, and what the payer holds.
  expect(count('eth_call')).toBe(3)
  expect(count('eth_getCode')).toBe(1)
  // The simulation, the code, the newest block, the fees, the wallet in two steps, and the broadcast.
  expect(broadcastAfter).toBeLessThanOrEqual(7)
})

test('a settlement that is simulated with one request reserves no more gas than one that was quoted', async () => {
  const [quoted = 0n] = gasLimits
  await settle()
  expect(count('eth_estimateGas')).toBe(0)
  expect(gasLimits.at(-1)).toBe(quoted)
})

test('a wallet that has settled is compared with its chain in batches', async () => {
  const { context, chain, facilitator } = fixture
  const compare = () => reconcile(context, chain, facilitator.address)
  const begin = async () => {
    await evm.mine(8)
    return compare()
  }
  await eventually(begin, (verdict) => verdict === 'equal')
  for (let settlement = 0; settlement < 4; settlement++) await settle()
  await evm.mine(8)
  await learned()
  gate.requests = 0
  expect(await compare()).toBe('equal')
  // The wallet in two steps, the newest block, the settlements, and their blocks.
  expect(gate.requests).toBeLessThanOrEqual(6)
})

/** Accepts each signature (EIP-1271). */
const ACCEPTS_ALL = `0x7f1626ba7e${'00'.repeat(28)}60005260206000f3` as const

test('a payer with code may answer otherwise the next time, so each fact is read by itself', async () => {
  expect(await settle(ACCEPTS_ALL)).toMatchObject({ verified: true })
  expect(count('eth_estimateGas')).toBe(1)
  expect(count('eth_call')).toBeGreaterThan(5)
})
