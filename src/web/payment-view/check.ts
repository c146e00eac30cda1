import type { AnyCheckFact } from '../payment-intent/check-facts.ts'
import type { KnownReason } from '../errors/proof-reasons.ts'

/** One thing that was looked at. `open`: nobody could tell. */
export type Check = {
  name: string
  /** Who says so: the proof itself, read here; the reader's own node; the service's node; the service's record; a facilitator. */
  source: 'local' | 'chain' | 'service_chain' | 'record' | 'facilitator'
  state: 'ok' | 'bad' | 'open'
  expected: AnyCheckFact
  got: AnyCheckFact
  reason?: KnownReason
}

/** `paid`: settled, and only what was bought is open, which nobody signs. */
export const VERDICTS = ['settled', 'paid', 'valid', 'invalid', 'unknown'] as const
export type ProofVerdict = (typeof VERDICTS)[number]

/** What is known beyond the checks. */
export type CheckOutcome = {
  checks: readonly Check[]
  /** The payee has the money, by the chain or by the service's reading of it. */
  settled: boolean
  /** Somebody who can look further than this page said that it could be settled now. */
  vouched: boolean
  /** Nothing is decided, and the reason. */
  undecided: string | null
}

/**
 * The one word for a proof. A single check that does not hold decides; what could not be looked at never counts as good, and never as bad.
 */
export function verdictOf({ checks, settled, vouched, undecided }: CheckOutcome): ProofVerdict {
  if (checks.some(({ state }) => state === 'bad')) return 'invalid'
  if (settled && checks.every(({ state }) => state === 'ok')) return 'settled'
  if (settled && undecided === null && isOnlyPurposeOpen(checks)) return 'paid'
  if (undecided !== null || checks.some(({ state }) => state === 'open')) return 'unknown'
  return vouched ? 'valid' : 'unknown'
}

/** Whether every check that can be made holds: what a receipt names as bought is signed by nobody. */
export function isOnlyPurposeOpen(checks: readonly Check[]): boolean {
  const others = checks.filter(({ state }) => state !== 'ok')
  return (
    others.length > 0 &&
    others.every(({ state, got }) => state === 'open' && got.code === 'not_signed')
  )
}

export function firstBad(checks: readonly Check[]): Check | undefined {
  return checks.find(({ state }) => state === 'bad')
}
