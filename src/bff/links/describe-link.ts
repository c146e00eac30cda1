import type { LinkBody } from '#contract/link-endpoints.ts'
import { readLink } from '#contract/payment-link.ts'
import type { LinkCounts, LinkRow } from '../db/links.ts'
import { stateOf } from './open-link.ts'

export function describeLink(row: LinkRow, counts: LinkCounts, now: Date): LinkBody {
  const read = readLink(row.link)
  if (!read) throw new Error(`The link ${row.id} cannot be read back.`)
  return {
    link: row.link,
    terms: read.terms,
    state: stateOf(row, counts, now),
    paid: counts.paid,
    pending: counts.pending,
    createdAt: row.createdAt.getTime(),
    withdrawnAt: row.withdrawnAt?.getTime() ?? null,
  }
}
