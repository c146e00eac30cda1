import type { LinkBody, ShortLinkBody } from '#contract/link-endpoints.ts'
import { readLink } from '#contract/payment-link.ts'
import type { LinkCounts, LinkRow } from '../db/links.ts'
import { stateOf } from './open-link.ts'

export type LinkUse = {
  counts: LinkCounts
  surplus?: readonly string[]
  /** What of its payments was refunded; undefined where the service could not be asked. */
  refunds?: LinkRefunds | undefined
  /** Of more of them it may be unknown whether they were refunded. */
  partlyRead?: boolean
  now: Date
}

export type LinkRefunds = ReadonlyMap<string, 'partial' | 'full'>

export function describeLink(row: LinkRow, use: LinkUse): LinkBody {
  const read = readLink(row.link)
  if (!read) throw new Error(`The link ${row.id} cannot be read back.`)
  return { ...usageOf(row, use), terms: read.terms }
}

export function describeShortLink(row: LinkRow, use: LinkUse): ShortLinkBody {
  if (!row.short) throw new Error(`The link ${row.id} is not a short one.`)
  return { ...usageOf(row, use), short: row.short }
}

function usageOf(row: LinkRow, { counts, surplus = [], refunds, partlyRead, now }: LinkUse) {
  const counted = [...(refunds ?? [])].filter(([paymentId]) => !surplus.includes(paymentId))
  const count = (wanted: string) => counted.filter(([, state]) => state === wanted).length
  return {
    link: row.link,
    state: stateOf(row, counts, now),
    paid: counts.paid,
    pending: counts.pending,
    surplus: surplus.filter((paymentId) => refunds?.get(paymentId) !== 'full'),
    refunded: refunds && !partlyRead ? { full: count('full'), partial: count('partial') } : null,
    createdAt: row.createdAt.getTime(),
    withdrawnAt: row.withdrawnAt?.getTime() ?? null,
  }
}
