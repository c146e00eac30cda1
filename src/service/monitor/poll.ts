import type { Chain, Found, Head, MonitoredTransaction } from '../chains/chain.ts'
import { inParallel } from '../chains/endpoints.ts'
import type { Context } from '../context/context.ts'
import { readCursor, writeCursor } from '../db/cursors.ts'
import {
  findBySignature,
  isMonitored,
  readMonitored,
  setReported,
  type PaymentRecord,
} from '../db/payments.ts'
import { readOrders, type SettlementOrder } from '../db/settlement-orders.ts'
import { readUnsettled } from '../db/unmatched.ts'
import { findOwner } from '../db/wallet-owners.ts'
import { applyObservation, type Applied, rollBack } from '../payments/apply-observation.ts'
import { chooseOrder, matchesPayment } from '../payments/attribution.ts'
import { expire } from '../payments/expire.ts'
import { monitorHosted } from '../hosted/monitor-hosted.ts'
import { monitorSettlement } from '../settlement/monitor-settlement.ts'
import { checkUnmatched, noteUnmatched } from '../payments/unmatched.ts'
import { monitorOrder } from '../settlement/monitor-self.ts'

/** How long an expired payment is still looked for: a day, and the longest pause between two looks. */
const AFTERLIFE_MS = 25 * 60 * 60 * 1000
/** Expired payments of up to this age are looked for when the clock passes a multiple of `everyMs`; younger ones in each round. */
const EXPIRED_GRIDS = [
  { youngerThanMs: AFTERLIFE_MS, everyMs: 60 * 60_000 },
  { youngerThanMs: 60 * 60_000, everyMs: 5 * 60_000 },
  { youngerThanMs: 2 * 60_000, everyMs: 1 },
] as const
const PARALLEL_PAYMENTS = 8

type Round = { context: Context; chain: Chain; head: Head; failures: unknown[] }

/**
 * Checks a chain once, and every payment that may change by it. The head is read before the
 * payments: everything in blocks up to it belongs to payments that were recorded before, so the
 * cursor may pass them. A payment that cannot be checked holds up no other.
 * `idle`: the round before found nothing but expired payments. The chain is then asked nothing until
 * there is something else, or they are due; the cursor stays, and the search begins at the height the first payment was built at.
 * `expiredAt`: when expired payments were looked for before; old ones are looked for more rarely.
 * @returns how many payments are still awaited, and what went wrong with single ones
 * @throws ProblemError `CHAIN_UNAVAILABLE` when there is nothing to check
 */
export async function pollOnce(
  context: Context,
  chain: Chain,
  options: { expiredToo: boolean; idle?: boolean; expiredAt?: Date | undefined },
): Promise<{ open: number; failures: unknown[]; idle: boolean }> {
  const { network } = chain.network
  const now = context.now()
  const expiredSince = new Date(now.getTime() - AFTERLIFE_MS)
  const due = dueSince(now, options.expiredAt)
  const idleSince = options.expiredToo ? (chain.scansBlocks ? expiredSince : due) : now
  if (options.idle && !(await isMonitored(context.db, network, idleSince)))
    return { open: 0, failures: [], idle: true }
  const head = await chain.head()
  const payments = await readMonitored(context.db, network, expiredSince)
  const round: Round = { context, chain, head, failures: [] }
  const open = payments.filter(isWaiting)
  const over = payments.filter(({ status }) => status === 'expired')
  // Settlements built for a payee to execute are found and used up separately.
  const ordered = (options.expiredToo ? [...open, ...over] : open).filter(isReceived)
  const orders = await readOrders(
    context.db,
    ordered.map(({ id }) => id),
  )
  const waiting = open.filter(({ id }) => !orders.has(id))
  const expired = over.filter((payment) => !isReceived(payment))
  const dueAgain = options.expiredToo
    ? expired.filter(({ expiresAt }) => expiresAt === null || expiresAt > due)
    : []

  const [hosted, others] = [
    waiting.filter(isHosted),
    waiting.filter((payment) => !isHosted(payment)),
  ]
  await each(round, hosted, checkHosted)
  await each(round, ordered, (each, payment) => checkOrdered(each, payment, orders.get(payment.id)))
  await each(round, waiting.filter(isReceived), checkReceived)
  await each(round, [...others, ...dueAgain], checkReported)
  const readTo = await search(
    round,
    [...waiting, ...(chain.scansBlocks ? expired : dueAgain)].filter((payment) =>
      isSearched(payment, chain),
    ),
  )
  await each(round, payments.filter(isConfirmed), checkConfirmed)
  const unsettled = await readUnsettled(context.db, network)
  await each(round, unsettled, (each, row) => checkUnmatched(each.context, each, row))
  // Everything in blocks up to the finalized one has been found by now; before that, nothing may be
  // called missing.
  if (readTo >= head.finalizedHeight) await each(round, others, checkLate)
  return {
    open: payments.length - over.length,
    failures: round.failures,
    idle: payments.length === over.length && unsettled.length === 0,
  }
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
async function checkReported({ context, chain }: Round, payment: PaymentRecord): Promise<void> {
  const { id: paymentId, reportedSignature: reported, signature: seen } = payment
  for (const signature of new Set([reported, seen])) {
    if (signature === null) continue
    const observation = await chain.observe(signature)
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
      await setReported(context.db, paymentId, { signature: null, at: context.now() })
  }
}

/**
 * Looks for payments nobody reported. The cursor stays where it is until everything found has been
 * checked.
 */
async function search(round: Round, searched: readonly PaymentRecord[]): Promise<number> {
  const { context, chain, head } = round
  const { network } = chain.network
  // A chain that is shorter than what was read of it has been restarted.
  const cursor = await readCursor(context.db, network)
  const from = Math.min(cursor, head.height)
  const { found, readTo } =
    searched.length === 0
      ? { found: [], readTo: head.height }
      : await chain.find(searched.map(toMonitored), from, head.height)
  const failures = round.failures.length
  const byId = new Map(searched.map((payment) => [payment.id, payment]))
  let decidedTo = readTo
  await each(round, found, async (each, one) => {
    const { paymentIds, landed } = one
    const payments = paymentIds
      .flatMap((id) => byId.get(id) ?? [])
      .filter((payment) => !landed || matchesPayment(payment, landed.transfer, landed))
    if (payments.length === 0 || (await checkFound(each, one, payments))) return
    if (landed) decidedTo = Math.min(decidedTo, landed.height - 1)
  })
  if (round.failures.length > failures) return from
  if (decidedTo !== cursor) await writeCursor(context.db, network, decidedTo)
  return decidedTo
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
  payments: readonly PaymentRecord[],
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
        if ((await checkCandidate({ context, chain }, { payment, signature })) !== 'unproven')
          settled.add(accountId)
      }
    }
  }
  if (!landed) return decided
  const accountIds = [...byAccount.keys()]
  if (await noteUnmatched(context, chain, { signature, accountIds, settled })) return decided
  if (isNewerThan(UNSEEN_MS)) return false
  context.log.warn(
    { network, signature, blockHeight: landed.height },
    'a block has a transaction that no node has shown for a minute; unless an order names it, it is looked for no longer',
  )
  return decided
}

async function checkCandidate(
  { context, chain }: Pick<Round, 'context' | 'chain'>,
  { payment, signature }: { payment: PaymentRecord; signature: string },
): Promise<Applied> {
  const observation = await chain.observe(signature)
  const seen = { paymentId: payment.id, signature, observation, source: 'watcher' } as const
  // A node that is behind says nothing about the block that the order has.
  const applied = observation.state === 'not_found' ? 'same' : await applyObservation(context, seen)
  // An order that was built meanwhile may fit better: the next rounds decide between them.
  if (applied === 'same' || applied === 'unproven')
    await setReported(context.db, payment.id, { signature, at: context.now() })
  return applied
}

/**
 * Finalizes a confirmed payment, or rolls it back when its block is gone, or when two endpoints show
 * that its transaction is final and failed: the next round then ends it.
 */
async function checkConfirmed(
  { context, chain, head }: Round,
  payment: PaymentRecord,
): Promise<void> {
  const { id, signature, blockHeight, blockHash } = payment
  if (signature === null || blockHeight === null) return
  const final = blockHeight <= head.finalizedHeight
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
    (await chain.isGone({ signature, height: blockHeight, blockHash }))
  )
    await rollBack(context, payment)
}

async function checkHosted({ context, chain, head }: Round, payment: PaymentRecord): Promise<void> {
  await monitorHosted(context, { payment, monitored: toMonitored(payment), chain, head })
}

/** What the service broadcasts for a presented proof is followed to its end as well. */
async function checkReceived({ context, chain }: Round, payment: PaymentRecord): Promise<void> {
  await monitorSettlement(context, { payment, chain, source: 'watcher' })
}

async function checkOrdered(
  { context, chain }: Round,
  payment: PaymentRecord,
  order: SettlementOrder | undefined,
): Promise<void> {
  if (order) await monitorOrder(context, { payment, order, chain, source: 'watcher' })
}

async function checkLate({ context, chain, head }: Round, payment: PaymentRecord): Promise<void> {
  await expire(context, { payment, monitored: toMonitored(payment), chain, head })
}

/**
 * What expired after this is looked for now. Old drafts share the times at which they are looked
 * for, so that one call to a node serves many.
 */
function dueSince(now: Date, before: Date | undefined): Date {
  const due = EXPIRED_GRIDS.find(
    ({ everyMs }) =>
      before === undefined ||
      Math.floor(now.getTime() / everyMs) !== Math.floor(before.getTime() / everyMs),
  )
  return new Date(now.getTime() - (due?.youngerThanMs ?? 0))
}

/** The service itself signed it and follows it to its end. */
function isHosted({ mode }: PaymentRecord): boolean {
  return mode === 'hosted'
}

function isConfirmed(payment: PaymentRecord): boolean {
  return payment.status === 'confirmed'
}

function isReceived({ mode }: PaymentRecord): boolean {
  return mode === 'received'
}

/**
 * The transaction of a proof is known from the beginning; so is what the service signed, and where
 * a memo names a payment, only that can be it.
 */
function isSearched(payment: PaymentRecord, { scansBlocks }: Chain): boolean {
  return !isReceived(payment) && (scansBlocks || !isHosted(payment))
}

function isWaiting({ status }: PaymentRecord): boolean {
  return status === 'created' || status === 'pending' || status === 'rolled_back'
}

function toMonitored(payment: PaymentRecord): MonitoredTransaction {
  const {
    id,
    asset,
    sender,
    recipient,
    amount,
    nonce,
    builtHeight,
    lastValidBlockHeight,
    createdAt,
    reportedSignature,
  } = payment
  const open = payment.status !== 'expired'
  return {
    paymentId: id,
    asset,
    sender,
    recipient,
    amountAtomic: amount,
    nonce,
    builtHeight,
    lastValidBlockHeight,
    createdAt,
    reported: reportedSignature,
    open,
    ...(isHosted(payment) && { signed: [] }),
    ...(isReceived(payment) && { signed: reportedSignature === null ? [] : [reportedSignature] }),
  }
}
