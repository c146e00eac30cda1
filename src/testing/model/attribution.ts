import { randomBytes } from 'node:crypto'
import { and, eq, isNull, ne } from 'drizzle-orm'
import type { Hex } from 'viem'
import { generatePrivateKey, privateKeyToAccount, type PrivateKeyAccount } from 'viem/accounts'
import { createId } from '#contract/payment.ts'
import type { Actor, Context } from '#service/context/context.ts'
import { findPayment } from '#service/db/payments.ts'
import { chainCursor, payment, unmatchedTransfer } from '#service/db/schema/payment.ts'
import { walletOwner } from '#service/db/schema/wallet.ts'
import { pollOnce } from '#service/monitor/poll.ts'
import { reportSubmitted } from '#service/monitor/report.ts'
import { buildTransaction } from '#service/payments/build.ts'
import { receivePayment } from '#service/settlement/receive.ts'
import { proveTxid } from '../proofs.ts'
import { openAccount, openContext, type OpenedContext } from '../service-context.ts'
import { SIMULATED, SimulatedChain } from '../simulated-chain.ts'
import { typedDataOf } from '../typed-data.ts'

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

const payee = privateKeyToAccount(generatePrivateKey()).address

/** A service without its server, whose account has the payee, and the account of a thief. */
type Stage = { context: Context; actor: Actor; thief: Actor }

async function openStage({ context, actor }: OpenedContext): Promise<Stage> {
  const owned = {
    scope: 'evm',
    address: payee,
    accountId: actor.accountId,
    kind: 'payout',
    proof: 'operator',
  } as const
  await context.db.insert(walletOwner).values({ id: createId('own'), ...owned })
  return { context, actor, thief: await openAccount(context) }
}

type Ended = {
  buyer: string | undefined
  thief: string | undefined
  received: number
  unmatched: number
  granted: boolean
}

async function play(stage: Stage, steps: readonly Step[], world: World): Promise<Ended> {
  const chain = new SimulatedChain()
  const context: Context = {
    ...stage.context,
    config: { ...stage.context.config, networks: [SIMULATED] },
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
  const thiefActor = world.ownAccount ? stage.thief : stage.actor
  const body = { walletAddress: buyer.address, recipientAddress: payee, amount: '0.01' }
  const made: {
    buyer?: Awaited<ReturnType<typeof buildTransaction>>
    thief?: Awaited<ReturnType<typeof buildTransaction>>
    hash?: Hex
  } = {}
  const look = async () => void (await pollOnce(context, chain, { expiredToo: true }))
  const run: Record<Step, () => Promise<void>> = {
    build: async () =>
      void (made.buyer = await buildTransaction(context, stage.actor, {
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
    report: () => report(context, { actor: stage.actor, buyer, made, world }),
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
  const granted =
    world.proves && (await prove(context, { actor: stage.actor, buyer, hash: made.hash }))
  // The page reports again when it comes back.
  await report(context, { actor: stage.actor, buyer, made, world })
  for (let round = 0; round < 3; round++) {
    chain.mine(6)
    await look()
  }
  const statusOf = async (id: string | undefined) =>
    id === undefined ? undefined : (await findPayment(context.db, id))?.status
  const ofTransfer = and(
    eq(payment.accountId, stage.actor.accountId),
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
        eq(unmatchedTransfer.accountId, stage.actor.accountId),
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
  { actor, buyer, hash }: { actor: Actor; buyer: PrivateKeyAccount; hash: Hex | undefined },
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
  const answer = await receivePayment(context, actor, body).catch(() => undefined)
  return answer?.verified === true && !answer.alreadyProcessed
}

const PAID = ['confirmed', 'finalized']

/** What must not come of a world: an order that is anybody's but its payer's, or a transfer that is used twice or is lost. */
function isWrong(world: World, ended: Ended): boolean {
  const proven = world.verified || world.signs || (world.keepsFees && !world.speedsUp)
  const isThiefs = !world.ownAccount && ended.thief !== undefined && PAID.includes(ended.thief)
  const uses = (PAID.includes(ended.buyer ?? '') ? 1 : 0) + ended.received
  return (
    isThiefs ||
    uses > 1 ||
    (proven && uses !== 1) ||
    ended.granted !== (ended.received === 1) ||
    (!proven && !ended.granted && PAID.includes(ended.buyer ?? '') && !world.keepsFees) ||
    (!proven && !ended.granted && uses === 0 && ended.unmatched !== 1)
  )
}

const ORDERS = ordersOf(STEPS)
/** So many turns play every order in every world, once. */
export const ALL_TURNS = ORDERS.length * WORLDS.length
/** How far the next order is in the list, where neighbours are alike. It has no common divisor with the number of orders, so as many turns as there are orders play each of them once. */
const STRIDE = 125

/**
 * Plays turns from a random one on, or from `start`. Orders and worlds change from turn to turn.
 * @returns how many turns were played until `maxMs` had passed, and what was wrong
 */
export async function searchAttribution({
  turns,
  start = randomBytes(4).readUInt32BE() % ALL_TURNS,
  maxMs = Infinity,
}: {
  turns: number
  start?: number
  maxMs?: number
}): Promise<{ start: number; played: number; wrong: object[] }> {
  await using opened = await openContext([], { engine: 'postgres' })
  const stage = await openStage(opened)
  const until = performance.now() + maxMs
  const wrong: object[] = []
  let played = 0
  for (; played < turns && performance.now() < until; played++) {
    const turn = (start + played) % ALL_TURNS
    const steps = ORDERS[(turn * STRIDE) % ORDERS.length]
    const world = WORLDS[(turn + Math.floor(turn / ORDERS.length)) % WORLDS.length]
    if (!steps || !world) throw new Error('There is no such turn.')
    const ended = await play(stage, steps, world)
    if (isWrong(world, ended)) wrong.push({ turn, steps: steps.join(' '), world, ended })
  }
  return { start, played, wrong }
}
