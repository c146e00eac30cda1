import { endpoints, type EndpointResponse } from '#contract/endpoints.ts'
import { MOST_PAYMENT_IDS } from '#contract/fields.ts'
import { createId, isPaymentId } from '#contract/payment.ts'
import { ProblemError } from '#contract/problem.ts'
import type { ProxyContext } from '../context/context.ts'
import { takeUnsettledContacts, unpaidBefore } from '../db/contacts.ts'
import {
  findLinkPayment,
  readNewestUse,
  recordChecked,
  restoreLinkUse,
  setPaymentStatus,
  takeAbandoned,
  takeUnsettledOfLimited,
  takeUnsettledPayments,
  type LinkPaymentRow,
} from '../db/links.ts'
import type { Refunded } from '../db/schema.ts'
import { findLimitedPayment, findUnclearRefunds, setRefunded } from '../db/surplus.ts'
import { spender } from '../session/rule.ts'
import type { Visitor } from '../session/visitor.ts'

type Asking = { context: ProxyContext; visitor: Visitor; requestId: string }
export type KnownStatus = EndpointResponse<'paymentStatuses'>['payments'][number]

/**
 * Asks the service what became of the payments of these links that were not settled, for what no
 * event has told. One request, for up to 100; the rest comes with the next. What cannot be asked now
 * stays as it was.
 */
export async function refreshPayments(
  context: ProxyContext,
  linkIds: readonly string[],
  asking: Omit<Asking, 'context'>,
): Promise<void> {
  const limits = { now: context.now(), most: MOST_PAYMENT_IDS }
  const rows = await takeUnsettledPayments(context.db, linkIds, limits)
  const ids = rows.flatMap(({ paymentId }) => paymentId ?? [])
  await noteStatuses(context, rows, await readStatuses({ ...asking, context }, ids))
}

/**
 * Asks the service what went back of the payments of these links, where that may change which of them
 * are owed back. Two requests at most; the rest comes with the next.
 */
export async function refreshSurplus(
  context: ProxyContext,
  linkIds: readonly string[],
  asking: Omit<Asking, 'context'>,
): Promise<void> {
  const { db, now } = context
  const found = await findUnclearRefunds(db, linkIds, 2 * MOST_PAYMENT_IDS)
  const rows = await recordChecked(db, found, now())
  const ids = rows.flatMap(({ paymentId }) => paymentId ?? [])
  await noteStatuses(context, rows, await readStatuses({ ...asking, context }, ids))
}

/**
 * Asks what may make a payment of any link owed back, whether or not anybody looks at the link: what
 * became of payments that were not settled, and what went back. No event told it where the proxy was
 * not running. One request each, for up to 100.
 * @throws OperatorError where the service cannot be asked
 */
export async function refreshAllSurplus(context: ProxyContext): Promise<void> {
  const { db } = context
  const limits = { now: context.now(), most: MOST_PAYMENT_IDS }
  await requestStatuses(context, await takeUnsettledOfLimited(db, limits))
  const found = await findUnclearRefunds(db, 'all', limits.most)
  await requestStatuses(context, await recordChecked(db, found, limits.now))
}

/**
 * Asks what went back of a payment of a link when an event tells of one of its refunds. Only where the
 * link takes so many payments: of others none is owed back.
 * @throws OperatorError where the service cannot be asked
 */
export async function refreshRefunded(context: ProxyContext, paymentId: string): Promise<void> {
  const row = await findLimitedPayment(context.db, paymentId)
  if (row) await requestStatuses(context, [row])
}

/**
 * Asks what became of payments whose payer left an email address a day ago or earlier: what never
 * came is erased whether or not anybody looks at its link. One request, for up to 100.
 * @throws OperatorError where the service cannot be asked
 */
export async function refreshOldContacts(context: ProxyContext): Promise<void> {
  const now = context.now()
  const rows = await takeUnsettledContacts(context.db, unpaidBefore(now), {
    now,
    most: MOST_PAYMENT_IDS,
  })
  await requestStatuses(context, rows)
}

/**
 * Asks what became of orders that nobody signed, whether or not anybody looks at their link. One
 * request, for up to 100.
 * @throws OperatorError where the service cannot be asked
 */
export async function refreshAbandoned(context: ProxyContext): Promise<void> {
  const limits = { now: context.now(), most: MOST_PAYMENT_IDS }
  await requestStatuses(context, await takeAbandoned(context.db, limits))
}

async function requestStatuses(
  context: ProxyContext,
  rows: readonly LinkPaymentRow[],
): Promise<void> {
  const ids = readableIds(
    context,
    rows.flatMap(({ paymentId }) => paymentId ?? []),
  )
  if (ids.length === 0) return
  const { payments } = await context.upstream.requestOwn(endpoints.paymentStatuses, {
    query: { paymentIds: ids.join(',') },
    requestId: createId('req'),
  })
  await noteStatuses(context, rows, byId(payments))
}

/**
 * Asks what became of a payment of a link when an event tells that a reorganization dropped it. The
 * event may be an old one that comes again, after which the payment landed in another block; and
 * without it an old confirmation that comes again would stand until somebody reads the link.
 * @throws OperatorError where the service cannot be asked
 */
export async function refreshRolledBack(context: ProxyContext, paymentId: string): Promise<void> {
  const row = await findLinkPayment(context.db, paymentId)
  if (row) await requestStatuses(context, [row])
}

/** What the clocks of this program and of the service differ by at most, and more. */
const REBUILT_BEFORE_MS = 86_400_000

/**
 * After a restore of this program's database: payments of links that the backup does not have get
 * their rows again. Without them the place of a link that was paid since is open.
 * @returns how many were missing
 * @throws OperatorError where the service cannot be asked; then nothing was written
 */
export async function rebuildLinkPayments({
  db,
  upstream,
}: Pick<ProxyContext, 'db' | 'upstream'>): Promise<number> {
  const newest = await readNewestUse(db)
  if (!newest) return 0
  const since = String(newest.getTime() - REBUILT_BEFORE_MS)
  const found: Parameters<typeof restoreLinkUse>[1][] = []
  // One that is not signed yet has its row too: an event tells when it is paid.
  for (const status of [undefined, 'incomplete']) {
    let cursor: string | null = null
    do {
      const query: Record<string, string> = {
        since,
        limit: String(REFUNDED_AT_ONCE.rows),
        ...(status !== undefined && { status }),
        ...(cursor !== null && { cursor }),
      }
      const page: EndpointResponse<'paymentList'> = await upstream.requestOwn(
        endpoints.paymentList,
        {
          query,
          requestId: createId('req'),
        },
      )
      for (const payment of page.payments) {
        const linkId = payment.metadata?.['paymentLink']
        if (typeof linkId === 'string')
          found.push({
            id: createId('lpm'),
            linkId,
            paymentId: payment.paymentId,
            sender: payment.sender,
            status: payment.status,
            createdAt: new Date(payment.timestamp),
          })
      }
      cursor = page.nextCursor
    } while (cursor !== null)
  }
  let missing = 0
  // The oldest first: so they get their numbers of arrival.
  for (const use of found.toSorted((a, b) => a.createdAt.getTime() - b.createdAt.getTime()))
    if (await restoreLinkUse(db, use)) missing++
  return missing
}

/** Rows of one answer, and answers: of a merchant who refunded more payments, the newest are read. */
const REFUNDED_AT_ONCE = { rows: 500, pages: 4 }

/** Refunded payments, and the moment since when they are all there; older ones may be missing. */
export type RefundStates = { states: Map<string, 'partial' | 'full'>; since: Date }

/**
 * Which of the account's payments since a moment were refunded: one request for each 500, and one
 * where there are none. Undefined where the service could not be asked.
 */
export async function readRefunded(
  { context, visitor, requestId }: Asking,
  since: Date,
): Promise<RefundStates | undefined> {
  const states: RefundStates['states'] = new Map()
  let oldest = since
  let cursor: string | null = null
  try {
    for (let page = 0; page < REFUNDED_AT_ONCE.pages; page++) {
      const query: Record<string, string> = {
        status: 'refunded,partly_refunded',
        since: String(since.getTime()),
        limit: String(REFUNDED_AT_ONCE.rows),
        ...(cursor !== null && { cursor }),
      }
      const { parsed }: { parsed: EndpointResponse<'paymentList'> } = await context.upstream.read(
        'paymentList',
        { query, requestId },
        () => context.budgets.spend(spender(visitor), 'tail'),
      )
      for (const { paymentId, refund } of parsed.payments)
        if (refund.state !== 'none') states.set(paymentId, refund.state)
      oldest = new Date(parsed.payments.at(-1)?.timestamp ?? since)
      cursor = parsed.nextCursor
      if (cursor === null) return { states, since }
    }
  } catch (error) {
    if (!(error instanceof ProblemError)) throw error
    return undefined
  }
  return { states, since: oldest }
}

async function noteStatuses(
  context: Pick<ProxyContext, 'db'>,
  rows: readonly LinkPaymentRow[],
  known: ReadonlyMap<string, KnownStatus>,
): Promise<void> {
  // One at a time: payments of one link wait for its row, and each that waits has a connection.
  for (const row of rows) {
    const now = known.get(row.paymentId ?? '')?.status
    if (now !== undefined && now !== row.status) await setPaymentStatus(context.db, row, now)
  }
  await noteRefunds(context, rows, known)
}

/**
 * Writes what went back in full of payments that have arrived, as the service has just said.
 * @returns whether that changed who pays a link
 */
export async function noteRefunds(
  { db }: Pick<ProxyContext, 'db'>,
  rows: readonly Pick<LinkPaymentRow, 'id' | 'linkId' | 'paymentId' | 'refunded'>[],
  known: ReadonlyMap<string, KnownStatus>,
): Promise<boolean> {
  let changed = false
  // One at a time, as above.
  for (const row of rows) {
    const payment = known.get(row.paymentId ?? '')
    if (payment && (await setRefunded(db, row, refundedOf(payment)))) changed = true
  }
  return changed
}

function refundedOf({ refund, refundFinal }: KnownStatus): Refunded | null {
  if (refund.state !== 'full') return null
  return refundFinal ? 'final' : 'full'
}

function byId(payments: readonly KnownStatus[]): Map<string, KnownStatus> {
  return new Map(payments.map((payment) => [payment.paymentId, payment]))
}

/** The service refuses a request with an id that is none: the others would not be asked about. */
function readableIds({ log }: ProxyContext, paymentIds: readonly string[]): string[] {
  const unreadable = paymentIds.filter((id) => !isPaymentId(id))
  if (unreadable.length > 0)
    log.error({ paymentIds: unreadable }, 'the database has payment ids that are none')
  return paymentIds.filter(isPaymentId)
}

/** Status and refunds of these payments: one request for each 100. Those that could not be asked are not in the answer. */
export async function readStatuses(
  { context, visitor, requestId }: Asking,
  paymentIds: readonly string[],
): Promise<Map<string, KnownStatus>> {
  const readable = readableIds(context, paymentIds)
  const parts = Array.from({ length: Math.ceil(readable.length / MOST_PAYMENT_IDS) }, (_, part) =>
    readable.slice(part * MOST_PAYMENT_IDS, (part + 1) * MOST_PAYMENT_IDS),
  )
  const found = await Promise.all(
    parts.map(async (ids) => {
      try {
        const request = { query: { paymentIds: ids.join(',') }, requestId }
        const { parsed } = await context.upstream.read('paymentStatuses', request, () =>
          context.budgets.spend(spender(visitor), 'tail'),
        )
        return parsed.payments
      } catch (error) {
        if (error instanceof ProblemError) return []
        throw error
      }
    }),
  )
  return byId(found.flat())
}
