import type { ProofCheck, ProofReason } from '#contract/proof.ts'
import { ProblemError } from '#contract/problem.ts'
import { printableText } from '../chains/printable-text.ts'

/** The checks of one proof, in their order. The first that does not hold ends them. */
export class Checklist {
  readonly checks: ProofCheck[] = []

  /** @throws ProofRefused when the check does not hold */
  check(reason: ProofReason, check: ProofCheck): void {
    // Payers choose parts of these texts.
    const told = { ...check, expected: printableText(check.expected) ?? 'nothing', got: printableText(check.got) ?? 'nothing' }
    this.checks.push(told)
    if (!told.ok) throw new ProofRefused(reason, told, this.checks)
  }

  /** Two spellings that must be the same. */
  equal(reason: ProofReason, check: Omit<ProofCheck, 'ok'>): void {
    this.check(reason, { ...check, ok: check.expected === check.got })
  }
}

/** The proof is bad, for good: sending it again cannot help. */
export class ProofRefused extends ProblemError {
  override name = 'ProofRefused'
  readonly reason: ProofReason
  /** The name of the check that failed. */
  readonly check: string

  constructor(reason: ProofReason, check: ProofCheck, checks: readonly ProofCheck[]) {
    super('INVALID_PAYMENT_PROOF', {
      // What was found is a word or two, or a sentence of its own.
      message: `The payment proof is not valid: ${check.name}. Expected ${check.expected}${check.got.endsWith('.') ? `. ${check.got}` : `, received ${check.got}.`}`,
      details: { reason, check: check.name, expected: check.expected, got: check.got, checks: [...checks] },
    })
    this.reason = reason
    this.check = check.name
  }
}

/** Nothing is decided: the same request may succeed later. */
export function undecided(message: string): ProblemError {
  return new ProblemError('PAYMENT_VERIFICATION_FAILED', { message, details: { retryable: true } })
}
