import type { Network } from '#contract/network.ts'
import type { Database } from '#postgres/open.ts'
import type { Chain, SenderFunds } from '../chains/chain.ts'
import { nativeShortage, type Shortage } from '../chains/shortage.ts'
import type { Context } from '../context/context.ts'
import {
  lockNonceQueue,
  readFromNonce,
  readUnpaid,
  readUnpaidSignatures,
  type NonceQueue,
  type Unpaid,
} from '../db/nonce-queue.ts'

/**
 * The nonce is null where the chain has none. `uncertain`: payments under way caused the shortage,
 * and some of them may have left the balance already, so a later check may find room.
 */
export type NonceSlot =
  | { ok: true; nonce: number | null }
  | { ok: false; shortage: Shortage; uncertain: boolean }

/** Balance readings under way, by nonce queue. */
const readings = new WeakMap<Context, Map<string, Promise<SenderFunds>>>()

/**
 * What a nonce queue can spend, as the chain shows it now. No lock is held: `allocateNonce` compares it with
 * the rows later, and counts everything that a reading does not certainly include as still to be
 * paid. So a reading stays valid while others take their places, and concurrent callers share one.
 */
export function readSenderFunds(
  context: Context,
  chain: Chain,
  sender: string,
): Promise<SenderFunds> {
  const nonceQueue = { network: chain.network.network, sender }
  const name = `${nonceQueue.network} ${sender}`
  const underWay = readings.get(context) ?? new Map<string, Promise<SenderFunds>>()
  readings.set(context, underWay)
  const reading =
    underWay.get(name) ??
    chain
      .funds(sender, (since) => readUnpaidSignatures(context.db, nonceQueue, since))
      .finally(() => underWay.delete(name))
  underWay.set(name, reading)
  return reading
}

type Request = {
  network: Network
  sender: string
  funds: SenderFunds
  amountAtomic: bigint
  feeAtomic: bigint
  replacing?: string
  budget?: string
}

/**
 * The next place in a nonce queue for an amount and its fee, when the balance covers it on top of
 * everything promised before. Locks the nonce queue until the transaction ends, so that no two payments
 * get the same nonce or the same funds. `replacing`: the payment this place is for, when it holds
 * one that is void. `budget`: the name of the lock of the budget that pays the fee.
 */
export async function allocateNonce(tx: Database, request: Request): Promise<NonceSlot> {
  const { network, sender, funds, amountAtomic, feeAtomic, replacing, budget } = request
  const nonceQueue = { network: network.network, sender }
  await lockNonceQueue(tx, nonceQueue, budget)
  const promised = await readPromised(tx, nonceQueue, funds)
  const others = promised.filter(({ id }) => id !== replacing)
  const reserved = others.reduce(
    (sum, payment) => sum + payment.amount + (payment.maxFee ?? 0n),
    0n,
  )
  const available = funds.balanceAtomic - reserved
  const left = available - amountAtomic - feeAtomic
  // Emptied only when nothing else is under way: we do not control the order of landing.
  const fits = left >= funds.minimumAtomic || (left === 0n && others.length === 0)
  if (!fits) {
    const uncertain =
      funds.nonce === null &&
      others.length > 0 &&
      funds.balanceAtomic - amountAtomic - feeAtomic >= funds.minimumAtomic
    return { ok: false, shortage: describeShortage(request, available), uncertain }
  }
  const used = promised.map(({ nonce }) => (nonce ?? 0) + 1)
  return { ok: true, nonce: funds.nonce === null ? null : Math.max(funds.nonce, ...used) }
}

/**
 * What is under way and not in the balance that was read: payments, and the network fees the wallet
 * pays when it settles those of others.
 */
async function readPromised(
  tx: Database,
  nonceQueue: NonceQueue,
  funds: SenderFunds,
): Promise<Unpaid[]> {
  if (funds.nonce !== null) return readFromNonce(tx, nonceQueue, funds.nonce)
  const unpaid = await readUnpaid(tx, nonceQueue, { height: funds.height, named: funds.unproven })
  return unpaid.filter(({ id }) => !funds.landed.has(id))
}

function describeShortage(
  { network, funds, amountAtomic, feeAtomic }: Request,
  available: bigint,
): Shortage {
  const availableAtomic = available > 0n ? available : 0n
  const rentAtomic = available > amountAtomic + feeAtomic ? funds.minimumAtomic : 0n
  return nativeShortage(network, { amountAtomic, feeAtomic, rentAtomic, availableAtomic })
}

const lines = new WeakMap<Context, Map<string, Promise<unknown>>>()

/**
 * Runs work on a nonce queue after all earlier work of this process on it. Between processes the nonce queue's lock decides; here a line costs no connection to the
 * database, of which a hundred payments waiting for one wallet would take all.
 */
export async function runInQueue<T>(
  context: Context,
  { network, sender }: NonceQueue,
  work: () => Promise<T>,
): Promise<T> {
  const name = `${network} ${sender}`
  const line = lines.get(context) ?? new Map<string, Promise<unknown>>()
  lines.set(context, line)
  const before = line.get(name)
  const turn = (async () => {
    await before?.catch(() => {})
    return work()
  })()
  line.set(name, turn)
  try {
    return await turn
  } finally {
    if (line.get(name) === turn) line.delete(name)
  }
}
