import { isSameWay, type PaymentChallenge, type PaymentOption } from './request/challenge.ts'
import type { PaymentChoice } from './open-purchase.ts'

/** Terms that were read longer ago than this are read again before anything is built on them. */
export const FRESH_MS = 30_000

/** The same way to pay among the terms of now. */
export function findSame(
  challenge: PaymentChallenge,
  { offer, version }: Pick<PaymentChoice, 'offer' | 'version'>,
): PaymentOption | undefined {
  return challenge.offers.find(
    (each) => version in each.entries && isSameWay(each.terms, offer.terms),
  )
}

export function hasRisen(before: PaymentOption, now: PaymentOption): boolean {
  return now.terms.amountAtomic > before.terms.amountAtomic
}
