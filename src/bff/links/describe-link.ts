import type { LinkBody, ShortLinkBody } from '#contract/link-endpoints.ts'
import { readLink } from '#contract/payment-link.ts'
import type { LinkCounts, LinkRow } from '../db/links.ts'
import { stateOf } from './open-link.ts'

export type LinkUse = { counts: LinkCounts; surplus?: readonly string[]; now: Date }

export function describeLink(row: LinkRow, use: LinkUse): LinkBody {
  const read = readLink(row.link)
  if (!read) throw new Error(`The link ${row.id} cannot be read back.`)
  return { ...usageOf(row, use), terms: read.terms }
}

export function describeShortLink(row: LinkRow, use: LinkUse): ShortLinkBody {
  if (!row.short) throw new Error(`The link ${row.id} is not a short one.`)
  return { ...usageOf(row, use), short: row.short }
}

function usageOf(row: LinkRow, { counts, surplus = [], now }: LinkUse) {
  return {
    link: row.link,
    state: stateOf(row, counts, now),
    paid: counts.paid,
    pending: counts.pending,
    surplus: [...surplus],
    createdAt: row.createdAt.getTime(),
    withdrawnAt: row.withdrawnAt?.getTime() ?? null,
  }
}
