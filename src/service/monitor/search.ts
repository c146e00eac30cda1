import type { Chain, ExpiredTransactions, Found, Head } from '../chains/chain.ts'
import { inParallel } from '../chains/endpoints.ts'
import type { Context } from '../context/context.ts'
import type { AttemptRecord } from '../db/attempts.ts'
import { readCursor, writeCursor } from '../db/cursors.ts'
import {
  findBySignature,
  findExpiredHeight,
  findExpiredPayers,
  findExpiredWith,
  setReported,
  type MonitoredRecord,
} from '../db/payments.ts'
import { findOwner } from '../db/wallet-owners.ts'
import { applyObservation, type Applied } from '../payments/apply-observation.ts'
import { chooseOrder, matchesPayment } from '../payments/attribution.ts'
import { noteShort, noteUnmatched } from '../payments/unmatched.ts'
import { toMonitored } from './monitored.ts'

/** One look at a chain, and what went wrong with single payments. */
export type Round = {
  context: Context
  chain: Chain
  head: Head
  /** What the service has signed, or was given to broadcast, by payment. */
  attempts: ReadonlyMap<string, readonly AttemptRecord[]>
  failures: unknown[]
  /** Settlements that could not be looked at. */
  unseen: Set<string>
}

const PARALLEL_PAYMENTS = 8

/** Checks some at a time; one that fails holds up no other. */
export async function each<T>(
  round: Round,
  items: readonly T[],
  check: (round: Round, item: T) => Promise<void>,
): Promise<void> {
  await inParallel(items, PARALLEL_PAYMENTS, async (item) => {
    try {
      await check(round, item)
    } catch (error) {
      round.failures.push(error)
    }
  })
}

/**
 * Looks for payments nobody reported. The cursor stays where it is until everything found has been
 * checked. Where blocks are scanned, those that expired are looked for in the same blocks.
 * `unsearched`: those that could not be looked for.
 */
export async function search(
  round: Round,
  searched: readonly MonitoredRecord[],
  { expiredSince }: { expiredSince: Date },
): Promise<{ readTo: number; unsearched: ReadonlySet<string> }> {
  const { context, chain, head } = round
  const { network } = chain.network
  const byId = new Map(searched.map((payment) => [payment.id, payment]))
  const builtHeight = chain.scansBlocks
    ? await findExpiredHeight(context.db, network, expiredSince)
    : undefined
  const expired: ExpiredTransactions | undefined =
    builtHeight === undefined
      ? undefined
      : {
          builtHeight,
          equalTo: async (transfers) => {
            const equal = await findExpiredWith(context.db, { network, expiredSince }, transfers)
            for (const payment of equal) byId.set(payment.id, payment)
            return equal.map(toMonitored)
          },
        }
  // A chain that is shorter than what was read of it has been restarted.
  const cursor = await readCursor(context.db, network)
  const from = Math.min(cursor, head.height)
  // Below the blocks of what is open, only expired payments are looked for.
  const below = searched.reduce(
    (least, { builtHeight }) => Math.min(least, (builtHeight ?? 0) - 1),
    head.height,
  )
  const isSkipped = expired && (await skip(round, { expiredSince, from, to: below }))
  const range = { from: isSkipped ? below : from, to: head.height }
  const {
    found,
    readTo,
    failed = [],
  } = searched.length > 0 || (expired && !isSkipped)
    ? await chain.find(
        searched.map(toMonitored),
        range,
        isSkipped ? { ...expired, builtHeight: below + 1 } : expired,
      )
    : { found: [], readTo: head.height }
  round.failures.push(...failed.map(({ error }) => error))
  const unsearched = new Set(failed.flatMap(({ paymentIds }) => paymentIds))
  const failures = round.failures.length
  let decidedTo = readTo
  await each(round, found, async (each, one) => {
    const { paymentIds, landed } = one
    const payments = paymentIds
      .flatMap((id) => byId.get(id) ?? [])
      .filter((payment) => !landed || matchesPayment(payment, landed.transfer, landed))
    if (payments.length === 0 || (await checkFound(each, one, payments))) return
    if (landed) decidedTo = Math.min(decidedTo, landed.height - 1)
  })
  if (round.failures.length > failures) return { readTo: from, unsearched }
  if (decidedTo !== cursor) await writeCursor(context.db, network, { from: cursor, to: decidedTo })
  return { readTo: decidedTo, unsearched }
}

/** What is read of a range that may be skipped, beside its payers. */
const ENDS = 2

/** Skips blocks in which no payer of an expired payment has sent anything: reading them for a day would cost a request each. */
async function skip(
  { context, chain, head }: Round,
  { expiredSince, from, to }: { expiredSince: Date; from: number; to: number },
): Promise<boolean> {
  const { network } = chain.network
  // A node is asked about both ends and each payer, of whom there is one at least, or about each block.
  if (to - from <= ENDS + 1) return false
  const payers = await findExpiredPayers(context.db, network, expiredSince)
  if (!payers || to - from <= ENDS + payers.length) return false
  try {
    return await chain.skip(payers, { from, to, finalizedHeight: head.finalizedHeight })
  } catch (error) {
    // A node may have blocks and no state. One that is down has no blocks either.
    context.log.debug({ network, err: error }, 'blocks are read that might have been skipped')
    return false
  }
}

/**
 * How long a transfer that fits two equal orders of one payer stays undecided: the payer's report
 * may still name one of them.
 */
const UNDECIDED_MS = 10_000
/**
 * How long a block is read again while its node does not show a transaction of it: behind one address
 * there may be several nodes. A transaction of an orphaned block is not found again.
 */
const UNSEEN_MS = 60_000

/**
 * Assigns what was found to the order that it pays in each account. What is not certain yet is
 * stored as if it had been reported: its block is not searched again. False while a report may
 * still decide between equal orders of one payer, and while a transfer that nothing ties to an order
 * is not shown.
 */
async function checkFound(
  { context, chain, head }: Round,
  { signature, landed }: Found,
  payments: readonly MonitoredRecord[],
): Promise<boolean> {
  const { network, blockTimeMs } = chain.network
  const isNewerThan = (ms: number) =>
    landed !== undefined && head.height < landed.height + Math.ceil(ms / blockTimeMs)
  let decided = true
  const byAccount = Map.groupBy(payments, (payment) => payment.accountId)
  const settled = new Set<string>()
  for (const [accountId, orders] of byAccount) {
    if (await findBySignature(context.db, { accountId, network, signature })) {
      settled.add(accountId)
      continue
    }
    const senderOwned =
      landed !== undefined &&
      (await findOwner(context.db, network, landed.transfer.sender)) === accountId
    const chosen = landed
      ? (chooseOrder(orders, { transfer: landed.transfer, signature, senderOwned })?.orders ?? [])
      : orders
    if (chosen.length > 1 && isNewerThan(UNDECIDED_MS)) decided = false
    else {
      for (const payment of landed ? chosen.slice(0, 1) : chosen) {
        const applied = await checkCandidate({ context, chain }, { payment, signature })
        if (applied === 'reported') decided = false
        if (applied !== 'unproven') settled.add(accountId)
      }
    }
  }
  if (!landed) return decided
  const accountIds = [...byAccount.keys()]
  const noted = await noteUnmatched(context, chain, { signature, accountIds, settled })
  if (noted !== 'unseen') return decided
  if (isNewerThan(UNSEEN_MS)) return false
  context.log.warn(
    { network, signature, blockHeight: landed.height },
    'a block has a transaction that no node has shown for a minute; unless an order names it, it is looked for no longer',
  )
  return decided
}

/** `reported`: another transaction was reported meanwhile, or the former report was dropped, so this one is not stored. */
async function checkCandidate(
  { context, chain }: Pick<Round, 'context' | 'chain'>,
  { payment, signature }: { payment: MonitoredRecord; signature: string },
): Promise<Applied | 'reported'> {
  const observation = await chain.observe(signature)
  await noteShort(context, chain, { payment, signature, observation })
  const seen = { paymentId: payment.id, signature, observation, source: 'watcher' } as const
  // A node that is behind says nothing about the block that the order has.
  const applied = observation.state === 'not_found' ? 'same' : await applyObservation(context, seen)
  // What failed takes the place of no report: its payer may have reported another one since.
  const failed = 'failedBlockhash' in observation && observation.failedBlockhash !== undefined
  // An order that was built meanwhile may fit better: the next rounds decide between them.
  if ((applied !== 'same' || failed) && applied !== 'unproven') return applied
  const report = { signature, at: context.now(), replaces: payment.reportedSignature }
  return (await setReported(context.db, payment.id, report)) ? applied : 'reported'
}

/** Searches for these alone, by the present head. */
export async function searchExpired(
  round: Round,
  searched: readonly MonitoredRecord[],
): Promise<void> {
  const { chain, head } = round
  const { found, failed = [] } = await chain.find(searched.map(toMonitored), {
    from: head.height,
    to: head.height,
  })
  round.failures.push(...failed.map(({ error }) => error))
  const byId = new Map(searched.map((payment) => [payment.id, payment]))
  await each(round, found, async (each, one) => {
    await checkFound(
      each,
      one,
      one.paymentIds.flatMap((id) => byId.get(id) ?? []),
    )
  })
}
