import type { Chain } from '../chains/chain.ts'
import type { Context } from '../context/context.ts'
import { readAttemptsOf } from '../db/attempts.ts'
import {
  isMonitored,
  readExpired,
  readMonitored,
  setReported,
  type ExpiredPlace,
  type MonitoredRecord,
} from '../db/payments.ts'
import { readOrders, type SettlementOrder } from '../db/settlement-orders.ts'
import { readUnsettled } from '../db/unmatched.ts'
import { applyObservation, isRecorded, rollBack } from '../payments/apply-observation.ts'
import { expire } from '../payments/expire.ts'
import { asPaymentResult } from '../payments/payment-result.ts'
import { monitorHosted } from '../hosted/monitor-hosted.ts'
import { monitorOutpaced, monitorSettlement } from '../settlement/monitor-settlement.ts'
import { checkUnmatched, noteShort, noteUnmatched } from '../payments/unmatched.ts'
import { monitorOrder } from '../settlement/monitor-self.ts'
import { checkFurtherTransfers } from './further-transfers.ts'
import { isHosted, isReceived, toMonitored } from './monitored.ts'
import { each, search, searchExpired, type Round } from './search.ts'

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
 * @returns how many payments are still awaited, what went wrong with single ones, and the settlements that could
 * not be looked at
 * @throws ProblemError `CHAIN_UNAVAILABLE` when there is nothing to check
 */
export async function pollOnce(
  context: Context,
  chain: Chain,
  options: PollOptions,
): Promise<{ open: number; failures: unknown[]; unseen: ReadonlySet<string>; idle: boolean }> {
  const { network } = chain.network
  const startedAt = performance.now()
  const now = context.now()
  const expiredSince = before(now, AFTERLIFE_MS)
  const due = options.expiredToo ? dueGroups(now, options.expiredAt) : []
  const ages = due.map(({ received, toMs }) => (received ? 0 : toMs))
  // In blocks, all of them are looked for together, with those that are newer.
  const isAll = chain.scansBlocks && due.some(({ name }) => name === 'newer')
  const idleSince = isAll ? expiredSince : before(now, Math.max(0, ...ages))
  if (options.idle && !(await isMonitored(context.db, network, idleSince)))
    return { open: 0, failures: [], unseen: new Set(), idle: true }
  const head = await chain.head()
  const open = await readMonitored(context.db, network)
  const attempts = await readAttemptsOf(
    context.db,
    open.filter(hasAttempts).map(({ id }) => id),
  )
  const round: Round = { context, chain, head, attempts, failures: [], unseen: new Set() }
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
  const isGone = shareBlocks(chain, startedAt)
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
    unseen: round.unseen,
    // One look reads so many blocks at most: the next one goes on.
    idle: open.length === 0 && unsettled.length === 0 && readTo >= head.height,
  }
}

/**
 * Looks for the expired payments of a group, some at a time, the newest first. What cannot be read now is read at the next look.
 * @returns what went wrong
 */
async function checkExpired(
  { context, chain, head, attempts }: Round,
  group: ExpiredGroup,
  { now, signal }: { now: Date; signal: AbortSignal | undefined },
): Promise<unknown[]> {
  const round: Round = { context, chain, head, attempts, failures: [], unseen: new Set() }
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
    // What a settlement moves is shown only once it has landed.
    const shown =
      isReceived(payment) && observation.state === 'pending'
        ? asPaymentResult(payment, observation)
        : observation
    if (isRecorded(payment, { observation: shown })) continue
    const applied = await applyObservation(context, {
      paymentId,
      signature,
      observation,
      source: 'watcher',
      // What else a transaction has paid decides about an order that waits for it.
      ...(isReceived(payment) && { read: payment }),
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
 * Finalizes a confirmed payment, or rolls it back when its block is gone, or when two endpoints show
 * that its transaction is final and failed: the next round then ends it.
 */
async function checkConfirmed(
  { context, chain, head, attempts }: Round,
  payment: MonitoredRecord,
  isGone: Chain['isGone'],
): Promise<void> {
  const { id, signature, blockHeight, blockHash } = payment
  if (signature === null || blockHeight === null) return
  const isOver =
    !isOutpaced(payment) ||
    (await monitorOutpaced(context, { payment, chain, attempts: attempts.get(payment.id) ?? [] }))
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

/** Looks for each block once a round, however many payments it has. Where blocks have no hash, each transaction is asked for. */
function shareBlocks(chain: Chain, startedAt: number): Chain['isGone'] {
  const answers = new Map<string, Promise<boolean>>()
  return (landed) => {
    if (landed.blockHash === null) return chain.isGone(landed)
    const block = `${landed.height} ${landed.blockHash}`
    const answer = answers.get(block) ?? chain.isGone(landed, startedAt)
    answers.set(block, answer)
    return answer
  }
}

async function checkHosted(
  { context, chain, head, attempts }: Round,
  payment: MonitoredRecord,
): Promise<void> {
  await monitorHosted(context, {
    payment,
    monitored: toMonitored(payment),
    attempts: attempts.get(payment.id) ?? [],
    chain,
    head,
  })
}

/** What the service broadcasts for a presented proof is followed to its end as well. */
async function checkReceived(
  { context, chain, attempts, unseen }: Round,
  payment: MonitoredRecord,
): Promise<void> {
  try {
    await monitorSettlement(context, {
      payment,
      chain,
      attempts: attempts.get(payment.id) ?? [],
      source: 'watcher',
    })
  } catch (error) {
    unseen.add(payment.id)
    throw error
  }
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

/** Whether a round looks at what was signed for a payment. */
function hasAttempts(payment: MonitoredRecord): boolean {
  if (payment.mode === 'local') return false
  return isWaiting(payment) || isOutpaced(payment)
}

/** Another transaction than ours has paid what a proof was presented for. */
function isOutpaced({ mode, signature, reportedSignature }: MonitoredRecord): boolean {
  return mode === 'received' && reportedSignature !== null && reportedSignature !== signature
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
