import type { Chain, ExpiredTransactions, Found, Head } from '../chains/chain.ts'
import { inParallel } from '../chains/endpoints.ts'
import type { Context } from '../context/context.ts'
import { readCursor, writeCursor } from '../db/cursors.ts'
import {
  findBySignature,
  findExpiredHeight,
  findExpiredWith,
  isMonitored,
  readExpired,
  readMonitored,
  setReported,
  type ExpiredPlace,
  type MonitoredRecord,
} from '../db/payments.ts'
import { readOrders, type SettlementOrder } from '../db/settlement-orders.ts'
import { readUnsettled } from '../db/unmatched.ts'
import { findOwner } from '../db/wallet-owners.ts'
import { applyObservation, type Applied, rollBack } from '../payments/apply-observation.ts'
import { chooseOrder, matchesPayment } from '../payments/attribution.ts'
import { expire } from '../payments/expire.ts'
import { monitorHosted } from '../hosted/monitor-hosted.ts'
import { monitorOutpaced, monitorSettlement } from '../settlement/monitor-settlement.ts'
import { checkUnmatched, noteShort, noteUnmatched } from '../payments/unmatched.ts'
import { monitorOrder } from '../settlement/monitor-self.ts'
import { checkFurtherTransfers } from './further-transfers.ts'
import { isHosted, isReceived, toMonitored } from './monitored.ts'

/** How long an expired payment is still looked for: a day, and the longest pause between two looks. */
const AFTERLIFE_MS = 25 * 60 * 60 * 1000
/**
 * Expired payments, by how long ago they expired: those of a group are looked for when the clock passes a multiple of `everyMs`. The last group is of presented
 * proofs, which may be valid for long after. Where memos name orders, further transfers for orders that ended otherwise are looked for at the same times.
 */
const EXPIRED_GROUPS = [
  { name: 'newest', fromMs: null, toMs: 2 * 60_000, everyMs: 1, received: false },
  { name: 'newer', fromMs: 2 * 60_000, toMs: 60 * 60_000, everyMs: 5 * 60_000, received: false },
  { name: 'older', fromMs: 60 * 60_000, toMs: AFTERLIFE_MS, everyMs: 60 * 60_000, received: false },
  { name: 'received', fromMs: null, toMs: AFTERLIFE_MS, everyMs: 1, received: true },
] as const
type ExpiredGroup = (typeof EXPIRED_GROUPS)[number]
/** How many expired payments are read in one statement, and searched for in one call. */
const EXPIRED_AT_ONCE = 2_000
const PARALLEL_PAYMENTS = 8

type Round = { context: Context; chain: Chain; head: Head; failures: unknown[] }

export type PollOptions = {
  /** Whether expired payments are looked for. */
  expiredToo: boolean
  /**
   * The round before found nothing but expired payments. The chain is then asked nothing until there is something else, or they are due; the cursor stays, and
   * the search begins at the height the first payment was built at.
   */
  idle?: boolean
  /** When expired payments were looked for before; old ones are looked for more rarely. */
  expiredAt?: Date | undefined
  /**
   * Takes over the look at a group of expired payments, of which strangers may have made very many: the round does not wait for it. It ends early at the
   * `signal`, never throws, and returns what went wrong with single ones. Without this it is part of the round.
   */
  beside?: (group: string, look: Look) => void
}
type Look = (signal?: AbortSignal) => Promise<unknown[]>

/**
 * Checks a chain once, and every payment that may change by it. The head is read before the
 * payments: everything in blocks up to it belongs to payments that were recorded before, so the
 * cursor may pass them. A payment that cannot be checked holds up no other.
 * @returns how many payments are still awaited, and what went wrong with single ones
 * @throws ProblemError `CHAIN_UNAVAILABLE` when there is nothing to check
 */
export async function pollOnce(
  context: Context,
  chain: Chain,
  options: PollOptions,
): Promise<{ open: number; failures: unknown[]; idle: boolean }> {
  const { network } = chain.network
  const now = context.now()
  const expiredSince = before(now, AFTERLIFE_MS)
  const due = options.expiredToo ? dueGroups(now, options.expiredAt) : []
  const ages = due.map(({ received, toMs }) => (received ? 0 : toMs))
  const idleSince =
    options.expiredToo && chain.scansBlocks ? expiredSince : before(now, Math.max(0, ...ages))
  if (options.idle && !(await isMonitored(context.db, network, idleSince)))
    return { open: 0, failures: [], idle: true }
  const head = await chain.head()
  const open = await readMonitored(context.db, network)
  const round: Round = { context, chain, head, failures: [] }
  const lookBeside = async (group: string, look: Look) => {
    if (options.beside) options.beside(group, look)
    else round.failures.push(...(await look()))
  }
  const unsettledPayments = open.filter(isWaiting)
  // Settlements built for a payee to execute are found and used up separately.
  const ordered = unsettledPayments.filter(isReceived)
  const orders = await readOrders(
    context.db,
    ordered.map(({ id }) => id),
  )
  const waiting = unsettledPayments.filter(({ id }) => !orders.has(id))

  const [hosted, others] = [
    waiting.filter(isHosted),
    waiting.filter((payment) => !isHosted(payment)),
  ]
  await each(round, hosted, checkHosted)
  await each(round, ordered, (each, payment) => checkOrdered(each, payment, orders.get(payment.id)))
  await each(round, waiting.filter(isReceived), checkReceived)
  await each(round, others, checkReported)
  const { readTo, unsearched } = await search(
    round,
    waiting.filter((payment) => isSearched(payment, chain)),
    {
      expiredSince,
    },
  )
  const isGone = shareBlocks(chain)
  await each(round, open.filter(isConfirmed), (each, payment) =>
    checkConfirmed(each, payment, isGone),
  )
  const unsettled = await readUnsettled(context.db, network)
  await each(round, unsettled, (each, row) => checkUnmatched(each.context, each, row))
  // Everything in blocks up to the finalized one has been found by now; before that, nothing may be
  // called missing.
  if (readTo >= head.finalizedHeight)
    await each(
      round,
      others.filter(({ id }) => !unsearched.has(id)),
      checkLate,
    )
  for (const group of due) {
    await lookBeside(group.name, (signal) => checkExpired(round, group, { now, signal }))
    const range = { network, ...spanOf(group, now) }
    if (!chain.scansBlocks && !group.received)
      await lookBeside(`${group.name} ended`, (signal) =>
        checkFurtherTransfers(round, range, signal),
      )
  }
  return {
    open: open.length,
    failures: round.failures,
    idle: open.length === 0 && unsettled.length === 0,
  }
}

/**
 * Looks for the expired payments of a group, some at a time, the newest first. What cannot be read now is read at the next look.
 * @returns what went wrong
 */
async function checkExpired(
  { context, chain, head }: Round,
  group: ExpiredGroup,
  { now, signal }: { now: Date; signal: AbortSignal | undefined },
): Promise<unknown[]> {
  const round: Round = { context, chain, head, failures: [] }
  const range = {
    network: chain.network.network,
    received: group.received,
    ...spanOf(group, now),
  }
  let from: ExpiredPlace | undefined
  try {
    do {
      const some = await readExpired(context.db, range, { from, limit: EXPIRED_AT_ONCE })
      from = some.length < EXPIRED_AT_ONCE ? undefined : some.at(-1)
      if (group.received) {
        const orders = await readOrders(
          context.db,
          some.map(({ id }) => id),
        )
        await each(round, some, (each, payment) =>
          checkOrdered(each, payment, orders.get(payment.id)),
        )
        continue
      }
      await each(
        round,
        some.filter(({ reportedSignature, signature }) => reportedSignature ?? signature),
        checkReported,
      )
      // In blocks they are looked for with all others, as each block is read once.
      const searched = some.filter((payment) => isSearched(payment, chain))
      if (!chain.scansBlocks && searched.length > 0) await each(round, [searched], searchExpired)
    } while (from && !signal?.aborted)
  } catch (error) {
    round.failures.push(error)
  }
  return round.failures
}

async function searchExpired(round: Round, searched: readonly MonitoredRecord[]): Promise<void> {
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

async function each<T>(
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
 * Follows what a client reported and what was seen before: a wrong report must not hide the
 * transaction the chain has shown. A report that turns out to be another transaction is dropped.
 */
async function checkReported({ context, chain }: Round, payment: MonitoredRecord): Promise<void> {
  const { id: paymentId, reportedSignature: reported, signature: seen } = payment
  for (const signature of new Set([reported, seen])) {
    if (signature === null) continue
    const observation = await chain.observe(signature)
    await noteShort(context, chain, { payment, signature, observation })
    const applied = await applyObservation(context, {
      paymentId,
      signature,
      observation,
      source: 'watcher',
    })
    if (applied === 'moved') return
    // The payer may still sign for it: the report stays.
    if (applied === 'unproven')
      await noteUnmatched(context, chain, { signature, accountIds: [payment.accountId] })
    else if (applied !== 'same' && signature === reported && !isReceived(payment))
      await setReported(context.db, paymentId, {
        signature: null,
        at: context.now(),
        replaces: reported,
      })
  }
}

/**
 * Looks for payments nobody reported. The cursor stays where it is until everything found has been
 * checked. Where blocks are scanned, those that expired are looked for in the same blocks.
 * `unsearched`: those that could not be looked for.
 */
async function search(
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
  const {
    found,
    readTo,
    failed = [],
  } = searched.length === 0 && !expired
    ? { found: [], readTo: head.height }
    : await chain.find(searched.map(toMonitored), { from, to: head.height }, expired)
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

/**
 * Finalizes a confirmed payment, or rolls it back when its block is gone, or when two endpoints show
 * that its transaction is final and failed: the next round then ends it.
 */
async function checkConfirmed(
  { context, chain, head }: Round,
  payment: MonitoredRecord,
  isGone: Chain['isGone'],
): Promise<void> {
  const { id, signature, blockHeight, blockHash, reportedSignature: broadcast } = payment
  if (signature === null || blockHeight === null) return
  const outpaced = isReceived(payment) && broadcast !== null && broadcast !== signature
  const isOver = !outpaced || (await monitorOutpaced(context, { payment, chain }))
  const final = isOver && blockHeight <= head.finalizedHeight
  if (final) {
    const observation = await chain.observe(signature)
    if (
      (await applyObservation(context, {
        paymentId: id,
        signature,
        observation,
        source: 'watcher',
      })) === 'moved'
    )
      return
    if (observation.state === 'landed' && observation.finalized && !observation.succeeded)
      return void (await rollBack(context, payment))
  }
  // Where blocks have no hash to compare, only the finalized chain can show that one is gone.
  if (
    (final || blockHash !== null) &&
    (await isGone({ signature, height: blockHeight, blockHash }))
  )
    await rollBack(context, payment)
}

/** Asks for each block once a round, however many payments it has. Where blocks have no hash, each transaction is asked for. */
function shareBlocks(chain: Chain): Chain['isGone'] {
  const answers = new Map<string, Promise<boolean>>()
  return (landed) => {
    if (landed.blockHash === null) return chain.isGone(landed)
    const block = `${landed.height} ${landed.blockHash}`
    const answer = answers.get(block) ?? chain.isGone(landed)
    answers.set(block, answer)
    return answer
  }
}

async function checkHosted(
  { context, chain, head }: Round,
  payment: MonitoredRecord,
): Promise<void> {
  await monitorHosted(context, { payment, monitored: toMonitored(payment), chain, head })
}

/** What the service broadcasts for a presented proof is followed to its end as well. */
async function checkReceived({ context, chain }: Round, payment: MonitoredRecord): Promise<void> {
  await monitorSettlement(context, { payment, chain, source: 'watcher' })
}

async function checkOrdered(
  { context, chain }: Round,
  payment: MonitoredRecord,
  order: SettlementOrder | undefined,
): Promise<void> {
  if (order) await monitorOrder(context, { payment, order, chain, source: 'watcher' })
}

async function checkLate({ context, chain, head }: Round, payment: MonitoredRecord): Promise<void> {
  await expire(context, { payment, monitored: toMonitored(payment), chain, head })
}

/**
 * The groups of expired payments that are looked for now. Old drafts share the times at which they
 * are looked for, so that one call to a node serves many.
 */
function dueGroups(now: Date, last: Date | undefined): ExpiredGroup[] {
  return EXPIRED_GROUPS.filter(
    ({ everyMs }) =>
      last === undefined ||
      Math.floor(now.getTime() / everyMs) !== Math.floor(last.getTime() / everyMs),
  )
}

/** When the payments of a group ended. */
function spanOf({ fromMs, toMs }: ExpiredGroup, now: Date): { after: Date; upTo: Date | null } {
  return { after: before(now, toMs), upTo: fromMs === null ? null : before(now, fromMs) }
}

function before(time: Date, ms: number): Date {
  return new Date(time.getTime() - ms)
}

function isConfirmed(payment: MonitoredRecord): boolean {
  return payment.status === 'confirmed'
}

/**
 * The transaction of a proof is known from the beginning; so is what the service signed, and where
 * a memo names a payment, only that can be it.
 */
function isSearched(payment: MonitoredRecord, { scansBlocks }: Chain): boolean {
  return !isReceived(payment) && (scansBlocks || !isHosted(payment))
}

function isWaiting({ status }: MonitoredRecord): boolean {
  return status === 'created' || status === 'pending' || status === 'rolled_back'
}
