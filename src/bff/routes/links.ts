import {
  countPayments,
  listLinks,
  paymentsOfLinks,
  setWithdrawn,
  type LinkRow,
} from '../db/links.ts'
import { leaseLinkUse } from '../db/link-places.ts'
import { surplusOf } from '../db/surplus.ts'
import {
  createLink,
  describeLink,
  describeShortLink,
  type LinkRefunds,
  type LinkUse,
  openLink,
  readState,
} from '../links/open-link.ts'
import {
  readRefunded,
  refreshPayments,
  refreshSurplus,
  type RefundStates,
} from '../links/refresh.ts'
import { createShortLink, findShort, openShortLink } from '../links/short-link.ts'
import { isLinkCode } from '#contract/payment-link.ts'
import {
  type OwnCall,
  type OwnRule,
  notFound,
  requireRole,
  requireSession,
} from '../session/rule.ts'
import type { Visitor } from '../session/visitor.ts'

const MOST = 500
const DAY_MS = 86_400_000
const NONE: LinkRefunds = new Map()
const NONE_READ: RefundStates = { states: new Map(), since: new Date(0) }
const UNUSED = { paid: 0, pending: 0, taken: 0 }

type Asking = Pick<OwnCall<'linkList'>, 'context' | 'visitor' | 'requestId'>

export const linkList: OwnRule<'linkList'> = async (call) => {
  const rows = await listLinks(call.context.db, MOST)
  const ids = rows.map(({ id }) => id)
  await refreshPayments(call.context, ids, call)
  await refreshSurplus(call.context, ids, call)
  const usageOf = await readUsage(call, rows)
  return {
    value: {
      links: rows.filter((row) => !row.short).map((row) => describeLink(row, usageOf(row))),
      short: rows.filter((row) => row.short).map((row) => describeShortLink(row, usageOf(row))),
    },
  }
}

export const linkWithdraw: OwnRule<'linkWithdraw'> = (call) => withdraw(call, call.context.now())

export const linkRestore: OwnRule<'linkRestore'> = (call) => withdraw(call, null)

async function withdraw(call: OwnCall<'linkWithdraw' | 'linkRestore'>, at: Date | null) {
  const row = await setWithdrawn(call.context.db, call.body.id, at)
  if (!row) throw notFound()
  const use = (await readUsage(call, [row]))(row)
  return { value: { link: row.short ? describeShortLink(row, use) : describeLink(row, use) } }
}

/** What came of the payments of each link, as last known, and what of them was refunded, as of now. */
async function readUsage(
  call: Asking,
  rows: readonly LinkRow[],
): Promise<(row: LinkRow) => LinkUse> {
  const { db, now } = call.context
  const ids = rows.map(({ id }) => id)
  const counts = await countPayments(db, ids)
  const surplus = await surplusOf(db, ids)
  const paid = rows.filter(({ id }) => (counts.get(id)?.paid ?? 0) > 0)
  // No payment is older than its link, by clocks that may differ; where nothing was paid, nobody is asked.
  const since = Math.min(...paid.map(({ createdAt }) => createdAt.getTime())) - DAY_MS
  const refunded = paid.length === 0 ? NONE_READ : await readRefunded(call, new Date(since))
  const refunds = new Map<string, Map<string, 'partial' | 'full'>>()
  for (const { linkId, paymentId } of await paymentsOfLinks(
    db,
    paid.map(({ id }) => id),
    [...(refunded?.states.keys() ?? [])],
  )) {
    const state = refunded?.states.get(paymentId ?? '')
    const known = refunds.get(linkId) ?? new Map<string, 'partial' | 'full'>()
    if (paymentId !== null && state !== undefined) refunds.set(linkId, known.set(paymentId, state))
  }
  return (row) => {
    const known = refunds.get(row.id) ?? NONE
    const use = counts.get(row.id) ?? UNUSED
    const older =
      refunded !== undefined && row.createdAt.getTime() - DAY_MS < refunded.since.getTime()
    return {
      counts: use,
      surplus: surplus.get(row.id) ?? [],
      refunds: refunded && known,
      partlyRead: older && known.size < use.paid,
      now: now(),
    }
  }
}

export const linkCreate: OwnRule<'linkCreate'> = async ({ context, visitor, body }) => {
  const row = await createLink(context, body, memberWallet(visitor))
  return {
    value: { link: describeLink(row, { counts: UNUSED, refunds: NONE, now: context.now() }) },
  }
}

export const shortLinkCreate: OwnRule<'shortLinkCreate'> = async ({ context, visitor, body }) => {
  const operator = memberWallet(visitor)
  const row = await createShortLink(context, body, operator)
  return {
    value: { link: describeShortLink(row, { counts: UNUSED, refunds: NONE, now: context.now() }) },
  }
}

function memberWallet(visitor: Visitor): string {
  return requireRole(visitor, 'operator').member.wallet
}

/** For anybody who holds the link; an address may ask so often a minute, for all links. */
export const linkRead: OwnRule<'linkRead'> = async ({ context, visitor, body, requestId }) => {
  context.budgets.spendLink(visitor.address)
  const { row, terms } = await openLink(context, body.link)
  if (row.maxPayments !== null) await refreshPayments(context, [row.id], { visitor, requestId })
  return { value: { terms, state: await readState(context, row) } }
}

/** For anybody who holds the code. An address may try so many codes a minute that guessing finds none. */
export const linkOpen: OwnRule<'linkOpen'> = async ({ context, visitor, body, requestId }) => {
  context.budgets.spendLink(visitor.address)
  const { row } = await findShort(context, body.link)
  if (row.maxPayments !== null) await refreshPayments(context, [row.id], { visitor, requestId })
  return { value: await openShortLink(context, body.link) }
}

/** For the payer: whether the link has all its payments without theirs. */
export const linkSurplus: OwnRule<'linkSurplus'> = async (call) => {
  const { context, visitor, body, requestId } = call
  requireSession(visitor)
  context.budgets.spendLink(visitor.address)
  const { row } = isLinkCode(body.link)
    ? await findShort(context, body.link)
    : await openLink(context, body.link)
  if (row.maxPayments === null) return { value: { surplus: false } }
  await refreshPayments(context, [row.id], { visitor, requestId })
  await refreshSurplus(context, [row.id], { visitor, requestId })
  const surplus = await surplusOf(context.db, [row.id])
  return { value: { surplus: surplus.get(row.id)?.includes(body.paymentId) ?? false } }
}

/** For the payer of a wallet code: whether it may be paid now. */
export const linkLease: OwnRule<'linkLease'> = async (call) => {
  const { context, visitor, body, requestId } = call
  const session = requireSession(visitor)
  context.budgets.spendLink(visitor.address)
  const { row } = isLinkCode(body.link)
    ? await findShort(context, body.link)
    : await openLink(context, body.link)
  if (row.maxPayments !== null) await refreshPayments(context, [row.id], { visitor, requestId })
  if ((await readState(context, row)) === 'expired') return { value: { leased: false } }
  const place = { paymentId: body.paymentId, sessionId: session.id, now: context.now() }
  return { value: { leased: await leaseLinkUse(context.db, row, place) } }
}
