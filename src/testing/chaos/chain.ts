import { and, count, eq, ne } from 'drizzle-orm'
import type { Hex } from 'viem'
import * as v from 'valibot'
import { payment } from '#service/db/schema/payment.ts'
import { startServiceProcess } from '../service-process.ts'
import { pause, runCommand, waitUntil } from './command.ts'
import { DEEPEST_REORG, openFaultHarness, type FaultHarness } from './fault-harness.ts'
import { runLoad, type PaidOrder } from './load.ts'
import { checkLoad, checkRunning } from './measure.ts'
import type { SeededRng } from './rng.ts'

/**
 * Chains that change their mind while managed wallets send and payers pay orders. EVM: reorganizations of 1 to 64
 * blocks whose transactions are lost, transactions that nodes drop, no blocks for a while, a base fee
 * a hundred times as high. Solana: time passes at once, so that every blockhash under way expires.
 * Payers broadcast again what was lost, but for every fourth, who uses the nonce for something else. A
 * round is each of them once, in a random order.
 */
const TROUBLES = ['reorganization', 'drop', 'no mining', 'base fee × 100', 'expiry'] as const
type ChainFault = (typeof TROUBLES)[number]

/** More than the blocks after which everything is final, twice: once for the last transaction, once for its finality. */
const FINAL_BLOCKS = 2 * DEEPEST_REORG + 40
const FINAL_WITHIN_MS = 60_000
/** Until the chain holds what a fault is about. */
const WITHIN_MS = 20_000
/** Every blockhash is over after 150 slots. */
const EXPIRY_SLOTS = 200
const Pool = v.object({
  pending: v.record(v.string(), v.record(v.string(), v.object({ hash: v.string() }))),
})
const Reply = v.object({ result: v.optional(v.unknown()), error: v.optional(v.unknown()) })

await runCommand('chaos:chain', { short: 1, long: 25 }, async ({ rounds, rng, measure }) => {
  await using harness = await openFaultHarness({
    rng,
    slotsInEpoch: DEEPEST_REORG / 2 + 4,
    buriedPayers: 200 + rounds * 100,
  })
  await using service = await startServiceProcess(harness.env)
  const schedule = rng.fork('chain')
  const counts = new Map<ChainFault, number>(TROUBLES.map((fault) => [fault, 0]))
  const depths: number[] = []
  const load = await runLoad(
    harness,
    { target: () => service.url, rng, clients: { sends: 4, orders: 2, proofs: 0 } },
    async () => {
      for (let round = 0; round < rounds; round++) {
        for (const fault of shuffle(schedule)) {
          await pause(schedule.int(500, 1_500))
          const depth = await run(harness, fault, schedule)
          if (depth > 0) depths.push(depth)
          counts.set(fault, (counts.get(fault) ?? 0) + 1)
        }
      }
    },
  )
  const abandoned = load.orders.filter(({ sent: wallet }, index) => wallet && index % 4 === 3)
  const kept = load.orders.filter((order) => !abandoned.includes(order))
  for (const order of abandoned) await replace(harness, order)
  const happened = [...counts].map(([fault, times]) => `${times} × ${fault}`).join(', ')
  measure('chain faults', happened, `${rounds} of each`, Math.min(...counts.values()) === rounds)
  console.log(`depths of reorganizations: ${depths.join(', ')}`)

  const unfinal = () =>
    harness.db
      .select({ all: count() })
      .from(payment)
      .where(and(eq(payment.mode, 'hosted'), ne(payment.status, 'finalized')))
      .then(([row]) => row?.all ?? 0)
  const until = performance.now() + FINAL_WITHIN_MS
  let left = await unfinal()
  for (let mined = 0; left > 0 && performance.now() < until; mined += 10) {
    // More than once: the base fee may still be a hundred times as high at first.
    for (const order of kept) await again(harness, order)
    // Slowly enough that what waits for a block gets into one.
    await harness.makers.evm.mine(mined < FINAL_BLOCKS ? 10 : 1)
    await pause(500)
    left = await unfinal()
  }
  measure('sends that are not finalized', left, '0', left === 0)
  await checkRunning(measure, [service])
  await checkLoad(measure, harness, load)
})

function shuffle(rng: SeededRng): ChainFault[] {
  return TROUBLES.map((fault) => ({ fault, at: rng.next() }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ fault }) => fault)
}

/** The depth of a reorganization; 0 for the others. */
async function run(harness: FaultHarness, fault: ChainFault, rng: SeededRng): Promise<number> {
  const { evm, solana } = harness.makers
  if (fault === 'expiry') await solana.skipSlots(EXPIRY_SLOTS)
  else if (fault === 'reorganization') {
    const depth = rng.int(1, DEEPEST_REORG)
    await untilOneLands(harness)
    harness.mining.paused = true
    await call(evm.rpcUrl, 'anvil_reorg', [depth, []])
    // The node puts the transactions of the dropped blocks back into its pool.
    await dropPool(harness)
    harness.mining.paused = false
    return depth
  } else if (fault === 'drop') {
    harness.mining.paused = true
    await waitUntil(WITHIN_MS, async () => (await readPool(harness)).length > 0)
    await dropPool(harness)
    harness.mining.paused = false
  } else if (fault === 'no mining') {
    harness.mining.paused = true
    await pause(rng.int(2_000, 4_000))
    harness.mining.paused = false
  } else {
    const { baseFeePerGas } = await evm.client.getBlock()
    await evm.client.setNextBlockBaseFeePerGas({ baseFeePerGas: (baseFeePerGas ?? 1n) * 100n })
  }
  return 0
}

/** The names of the transactions that wait for a block. */
async function readPool({ makers: { evm } }: FaultHarness): Promise<Hex[]> {
  const { pending } = v.parse(Pool, await call(evm.rpcUrl, 'txpool_content', []))
  return Object.values(pending).flatMap((each) =>
    Object.values(each).map(({ hash }) => hash as Hex),
  )
}

async function dropPool(harness: FaultHarness): Promise<void> {
  for (const hash of await readPool(harness))
    await harness.makers.evm.client.dropTransaction({ hash })
}

/** So that a reorganization, however short, has something to lose. */
async function untilOneLands({ tills, payments }: FaultHarness): Promise<void> {
  const mine = tills.filter(({ family }) => family === 'evm')
  const count = async () =>
    (await Promise.all(mine.map(({ address }) => payments(address)))).reduce((a, b) => a + b, 0)
  const before = await count()
  await waitUntil(WITHIN_MS, async () => (await count()) > before)
}

/** The payer's wallet broadcasts an order again. One that has landed is refused, as it should be. */
async function again({ makers }: FaultHarness, { sent }: PaidOrder): Promise<void> {
  if (!sent) return
  await makers.evm.client
    .sendRawTransaction({ serializedTransaction: sent.raw })
    .catch(() => undefined)
}

/** The payer uses the nonce of an order for something else, where that is still possible. */
async function replace({ makers }: FaultHarness, { sent }: PaidOrder): Promise<void> {
  if (!sent) return
  const raw = await sent.payer.signTransaction({
    type: 'eip1559',
    chainId: 31_337,
    nonce: 0,
    gas: 21_000n,
    maxFeePerGas: 10n ** 12n,
    maxPriorityFeePerGas: 10n ** 11n,
    to: sent.payer.address,
    value: 1n,
  })
  await makers.evm.client.sendRawTransaction({ serializedTransaction: raw }).catch(() => undefined)
}

async function call(rpcUrl: string, method: string, params: unknown[]): Promise<unknown> {
  const response = await fetch(rpcUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  })
  const { result, error } = v.parse(Reply, await response.json())
  if (error !== undefined) throw new Error(`${method}: ${JSON.stringify(error)}`)
  return result
}
