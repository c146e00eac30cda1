import { isSameWay, type Challenge, type Offer } from './request/challenge.ts'
import type { Choice } from './open-visit.ts'

/** Terms that were read longer ago than this are read again before anything is built on them. */
export const FRESH_MS = 30_000

/** The same way to pay among the terms of now. */
export function findSame(
  challenge: Challenge,
  { offer, version }: Pick<Choice, 'offer' | 'version'>,
): Offer | undefined {
  return challenge.offers.find(
    (each) => version in each.entries && isSameWay(each.terms, offer.terms),
  )
}

export function hasRisen(before: Offer, now: Offer): boolean {
  return now.terms.amountAtomic > before.terms.amountAtomic
}
