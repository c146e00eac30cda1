import { randomBytes } from 'node:crypto'
import { and, eq, isNull, ne } from 'drizzle-orm'
import type { Hex } from 'viem'
import { generatePrivateKey, privateKeyToAccount, type PrivateKeyAccount } from 'viem/accounts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createId } from '#contract/payment.ts'
import { proveTxid } from '#testing/proofs.ts'
import { openAccount, openContext, type OpenedContext } from '#testing/service-context.ts'
import { SIMULATED, SimulatedChain } from '#testing/simulated-chain.ts'
import { typedDataOf } from '#testing/typed-data.ts'
import type { Actor, Context } from '../context/context.ts'
import { findPayment } from '../db/payments.ts'
import { chainCursor, payment, unmatchedTransfer } from '../db/schema/payment.ts'
import { walletOwner } from '../db/schema/wallet.ts'
import { receivePayment } from '../settlement/receive.ts'
import { pollOnce } from '../monitor/poll.ts'
import { buildTransaction } from './build.ts'
import { reportSubmitted } from '../monitor/report.ts'

/**
 * Every order in which a buyer and a thief can build, pay, report and wait, over wallets that keep
 * or change the fees, verified and unverified senders, a thief at the same merchant or in a
 * separate account, and a proof of the same transfer: a confirmed order is always its payer's, and
 * a transfer is used once.
 */

const STEPS = ['build', 'plant', 'pay', 'report', 'steal', 'observe', 'wait'] as const
type Step = (typeof STEPS)[number]

/** A thief needs the hash to report it, and a payer pays what was built. */
const BEFORE: readonly (readonly [Step, Step])[] = [
  ['build', 'pay'],
  ['pay', 'report'],
  ['pay', 'steal'],
  ['plant', 'steal'],
]

function ordersOf(steps: readonly Step[]): Step[][] {
  if (steps.length === 0) return [[]]
  return steps
    .filter((step) => !BEFORE.some(([first, then]) => then === step && steps.includes(first)))
    .flatMap((step) =>
      ordersOf(steps.filter((other) => other !== step)).map((rest) => [step, ...rest]),
    )
}

const flags = ['keepsFees', 'verified', 'signs', 'speedsUp', 'ownAccount', 'proves'] as const
type World = Record<(typeof flags)[number], boolean>
const WORLDS: World[] = Array.from({ length: 2 ** flags.length }, (_, bits) => ({
  keepsFees: (bits & 1) > 0,
  verified: (bits & 2) > 0,
  /** Signs the order when it reports. */
  signs: (bits & 4) > 0,
  /** Replaces the transaction while it is in the pool, before anything else happens. */
  speedsUp: (bits & 8) > 0,
  /** The thief has an account and a key. */
  ownAccount: (bits & 16) > 0,
  /** The buyer presents the same transfer as a proof for a resource. */
  proves: (bits & 32) > 0,
}))

const RESOURCE = 'https://shop.example/a'
const AMOUNT = 10_000_000_000_000_000n
const OTHER_FEES = { maxFeePerGas: 5_000_000_001n, maxPriorityFeePerGas: 1_500_000_001n }

let opened: OpenedContext
let thiefsAccount: Actor
const payee = privateKeyToAccount(generatePrivateKey()).address

beforeAll(async () => {
  opened = await openContext([], { engine: 'postgres' })
  thiefsAccount = await openAccount(opened.context)
  const owned = {
    scope: 'evm',
    address: payee,
    accountId: opened.actor.accountId,
    kind: 'payout',
    proof: 'operator',
  } as const
  await opened.context.db.insert(walletOwner).values({ id: createId('own'), ...owned })
})
afterAll(() => opened?.[Symbol.asyncDispose]())

type Ended = {
  buyer: string | undefined
  thief: string | undefined
  received: number
  unmatched: number
  granted: boolean
}

async function play(steps: readonly Step[], world: World): Promise<Ended> {
  const chain = new SimulatedChain()
  const context: Context = {
    ...opened.context,
    config: { ...opened.context.config, networks: [SIMULATED] },
    chains: new Map([[SIMULATED.network, chain]]),
  }
  // Each world starts alone: what others left behind is closed.
  await context.db.update(payment).set({ status: 'failed' }).where(ne(payment.status, 'failed'))
  await context.db
    .update(unmatchedTransfer)
    .set({ finalizedAt: new Date() })
    .where(isNull(unmatchedTransfer.finalizedAt))
  await context.db.update(chainCursor).set({ height: 0, holder: null, leaseUntil: null })
  const buyer = privateKeyToAccount(generatePrivateKey())
  const thiefActor = world.ownAccount ? thiefsAccount : opened.actor
  const body = { walletAddress: buyer.address, recipientAddress: payee, amount: '0.01' }
  const made: {
    buyer?: Awaited<ReturnType<typeof buildTransaction>>
    thief?: Awaited<ReturnType<typeof buildTransaction>>
    hash?: Hex
  } = {}
  const look = async () => void (await pollOnce(context, chain, { expiredToo: true }))
  const run: Record<Step, () => Promise<void>> = {
    build: async () =>
      void (made.buyer = await buildTransaction(context, opened.actor, {
        ...body,
        senderVerified: world.verified,
      })),
    // Nobody has verified the thief; a thief with a key says nothing about it, or lies.
    plant: async () =>
      void (made.thief = await buildTransaction(context, thiefActor, {
        ...body,
        senderVerified: world.ownAccount,
      })),
    pay: async () => {
      made.hash = send(chain, buyer, { built: made.buyer, world })
    },
    report: () => report(context, { actor: opened.actor, buyer, made, world }),
    steal: async () => {
      const stolen = { paymentId: made.thief?.paymentId ?? '', signature: made.hash ?? '' }
      await reportSubmitted(context, thiefActor, stolen).catch(() => {})
    },
    observe: look,
    wait: async () => {
      chain.mine(6)
      await look()
    },
  }
  for (const step of steps) await run[step]()
  chain.mine(4)
  await look()
  const granted = world.proves && (await prove(context, { buyer, hash: made.hash }))
  // The page reports again when it comes back.
  await report(context, { actor: opened.actor, buyer, made, world })
  for (let round = 0; round < 3; round++) {
    chain.mine(6)
    await look()
  }
  const statusOf = async (id: string | undefined) =>
    id === undefined ? undefined : (await findPayment(context.db, id))?.status
  const ofTransfer = and(
    eq(payment.accountId, opened.actor.accountId),
    eq(payment.signature, made.hash ?? ''),
  )
  return {
    buyer: await statusOf(made.buyer?.paymentId),
    thief: await statusOf(made.thief?.paymentId),
    received: await context.db.$count(payment, and(ofTransfer, eq(payment.mode, 'received'))),
    unmatched: await context.db.$count(
      unmatchedTransfer,
      and(
        eq(unmatchedTransfer.signature, made.hash ?? ''),
        eq(unmatchedTransfer.accountId, opened.actor.accountId),
      ),
    ),
    granted,
  }
}

type Made = { built: Awaited<ReturnType<typeof buildTransaction>> | undefined; world: World }

function send(chain: SimulatedChain, buyer: PrivateKeyAccount, { built, world }: Made): Hex {
  const { nonce, maxFeePerGas, maxPriorityFeePerGas } = built?.decoded ?? {}
  const own = {
    maxFeePerGas: BigInt(String(maxFeePerGas)),
    maxPriorityFeePerGas: BigInt(String(maxPriorityFeePerGas)),
  }
  const sending = {
    sender: buyer.address,
    recipient: payee,
    amountAtomic: AMOUNT,
    nonce: Number(nonce),
    fees: world.keepsFees ? own : OTHER_FEES,
  }
  const hash = chain.send(sending)
  if (!world.speedsUp) return hash
  return chain.send({
    ...sending,
    fees: { ...OTHER_FEES, maxFeePerGas: OTHER_FEES.maxFeePerGas * 2n },
  })
}

type Reporting = {
  actor: Actor
  buyer: PrivateKeyAccount
  made: { buyer?: Awaited<ReturnType<typeof buildTransaction>>; hash?: Hex }
  world: World
}

async function report(context: Context, { actor, buyer, made, world }: Reporting): Promise<void> {
  const { request } = made.buyer?.evidence ?? {}
  const signed =
    world.signs && request
      ? { payerSignature: await buyer.signTypedData(typedDataOf(request)) }
      : {}
  const body = { paymentId: made.buyer?.paymentId ?? '', signature: made.hash ?? '', ...signed }
  await reportSubmitted(context, actor, body).catch(() => {})
}

/** Whether the transfer bought a resource. */
async function prove(
  context: Context,
  { buyer, hash }: { buyer: PrivateKeyAccount; hash: Hex | undefined },
): Promise<boolean> {
  const paymentProof = await proveTxid({
    payer: buyer,
    network: SIMULATED.network,
    payTo: payee,
    amount: AMOUNT,
    txRef: hash ?? '',
    url: RESOURCE,
  })
  const body = {
    walletAddress: payee,
    paymentProof,
    expectedAmount: '0.01',
    resource: RESOURCE,
    timeout: 1,
  }
  const answer = await receivePayment(context, opened.actor, body).catch(() => undefined)
  return answer?.verified === true && !answer.alreadyProcessed
}

const PAID = ['confirmed', 'finalized']
const orders = ordersOf(STEPS)
/**
 * Each order of events runs in this many worlds, in turn. Together they meet every world many
 * times.
 */
const WORLDS_EACH = 1

test(
  `of ${orders.length} orders of events, each in ${WORLDS_EACH} of ${WORLDS.length} worlds, none confirms an order of anybody but its payer`,
  { timeout: 240_000 },
  async () => {
    const start = randomBytes(1)[0] ?? 0
    const wrong: unknown[] = []
    for (const [index, steps] of orders.entries()) {
      for (let turn = 0; turn < WORLDS_EACH; turn++) {
        const world = WORLDS[(start + index * WORLDS_EACH + turn * 23) % WORLDS.length]
        if (!world) continue
        const ended = await play(steps, world)
        const proven = world.verified || world.signs || (world.keepsFees && !world.speedsUp)
        const isThiefs =
          !world.ownAccount && ended.thief !== undefined && PAID.includes(ended.thief)
        const uses = (PAID.includes(ended.buyer ?? '') ? 1 : 0) + ended.received
        const fails =
          isThiefs ||
          uses > 1 ||
          (proven && uses !== 1) ||
          ended.granted !== (ended.received === 1) ||
          (!proven && !ended.granted && PAID.includes(ended.buyer ?? '') && !world.keepsFees) ||
          (!proven && !ended.granted && uses === 0 && ended.unmatched !== 1)
        if (fails) wrong.push({ start, steps: steps.join(' '), world, ended })
      }
    }
    expect(wrong.slice(0, 5)).toEqual([])
  },
)
