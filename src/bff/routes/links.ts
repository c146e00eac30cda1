import {
  countPayments,
  listLinks,
  setWithdrawn,
  surplusPayments,
  type LinkRow,
} from '../db/links.ts'
import { createLink } from '../links/create-link.ts'
import { describeLink, describeShortLink, type LinkUse } from '../links/describe-link.ts'
import { countsOf, openLink, stateOf } from '../links/open-link.ts'
import { refreshPayments } from '../links/refresh.ts'
import { createShortLink, findShort, openShortLink } from '../links/short-link.ts'
import { isLinkCode } from '#contract/payment-link.ts'
import type { OwnCall, OwnRule } from '../session/own-rule.ts'
import { notFound, requireRole, requireSession } from '../session/rule.ts'
import type { Visitor } from '../session/visitor.ts'

const MOST = 500
const UNUSED = { paid: 0, pending: 0, taken: 0 }

export const linkList: OwnRule<'linkList'> = async ({ context, visitor, requestId }) => {
  const rows = await listLinks(context.db, MOST)
  const ids = rows.map(({ id }) => id)
  await refreshPayments(context, ids, { visitor, requestId })
  const counts = await countPayments(context.db, ids)
  const surplus = await surplusPayments(context.db, rows)
  const usageOf = (row: LinkRow): LinkUse => ({
    counts: counts.get(row.id) ?? UNUSED,
    surplus: surplus.get(row.id) ?? [],
    now: context.now(),
  })
  return {
    value: {
      links: rows.filter((row) => !row.short).map((row) => describeLink(row, usageOf(row))),
      short: rows.filter((row) => row.short).map((row) => describeShortLink(row, usageOf(row))),
    },
  }
}

export const linkWithdraw: OwnRule<'linkWithdraw'> = (call) => withdraw(call, call.context.now())

export const linkRestore: OwnRule<'linkRestore'> = (call) => withdraw(call, null)

async function withdraw(
  { context, body }: OwnCall<'linkWithdraw' | 'linkRestore'>,
  at: Date | null,
) {
  const row = await setWithdrawn(context.db, body.id, at)
  if (!row) throw notFound()
  const surplus = await surplusPayments(context.db, [row])
  const use = {
    counts: await countsOf(context, row.id),
    surplus: surplus.get(row.id) ?? [],
    now: context.now(),
  }
  return { value: { link: row.short ? describeShortLink(row, use) : describeLink(row, use) } }
}

export const linkCreate: OwnRule<'linkCreate'> = async ({ context, visitor, body }) => {
  const row = await createLink(context, body, memberWallet(visitor))
  return { value: { link: describeLink(row, { counts: UNUSED, now: context.now() }) } }
}

export const shortLinkCreate: OwnRule<'shortLinkCreate'> = async ({ context, visitor, body }) => {
  const operator = memberWallet(visitor)
  const row = await createShortLink(context, body, operator)
  return { value: { link: describeShortLink(row, { counts: UNUSED, now: context.now() }) } }
}

function memberWallet(visitor: Visitor): string {
  return requireRole(visitor, 'operator').member.wallet
}

/** For anybody who holds the link. */
export const linkRead: OwnRule<'linkRead'> = async ({ context, visitor, body, requestId }) => {
  const { row, terms } = await openLink(context, body.link)
  if (row.maxPayments !== null) await refreshPayments(context, [row.id], { visitor, requestId })
  return { value: { terms, state: stateOf(row, await countsOf(context, row.id), context.now()) } }
}

/** For anybody who holds the code. An address may try so many codes a minute that guessing finds none. */
export const linkOpen: OwnRule<'linkOpen'> = async ({ context, visitor, body, requestId }) => {
  context.budgets.spendLink(visitor.address)
  const { row } = await findShort(context, body.link)
  if (row.maxPayments !== null) await refreshPayments(context, [row.id], { visitor, requestId })
  return { value: await openShortLink(context, body.link) }
}

/** For the payer: whether the link had all its payments before theirs arrived. */
export const linkSurplus: OwnRule<'linkSurplus'> = async (call) => {
  const { context, visitor, body, requestId } = call
  requireSession(visitor)
  context.budgets.spendLink(visitor.address)
  const { row } = isLinkCode(body.link)
    ? await findShort(context, body.link)
    : await openLink(context, body.link)
  if (row.maxPayments === null) return { value: { surplus: false } }
  await refreshPayments(context, [row.id], { visitor, requestId })
  const surplus = await surplusPayments(context.db, [row])
  return { value: { surplus: surplus.get(row.id)?.includes(body.paymentId) ?? false } }
}
