import { addressFact, networkFact, textFact, type CheckFact } from '#contract/facts.ts'
import type { ProofCheck, ProofReason } from '#contract/proof.ts'
import { ProblemError } from '#contract/problem.ts'
import type { DecodeProblem } from '#contract/reasons.ts'
import { renderCheckFact } from '#contract/render-facts.ts'
import { printableText } from '../chains/contracts.ts'

/** A check as the code states it. */
export type NewCheck = Pick<ProofCheck, 'name' | 'source' | 'ok'> & {
  expected: CheckFact
  got: CheckFact
}

/** A check of two texts that must be the same. */
export type EqualCheck = Pick<ProofCheck, 'name' | 'source'> & { expected: string; got: string }

/** The checks of one proof, in order. The first that fails ends them. */
export class VerificationReport {
  readonly checks: ProofCheck[] = []

  /** @throws ProofRefusedError when the check fails */
  check(reason: ProofReason, check: NewCheck): void {
    const recorded = this.record(check)
    if (!recorded.ok) throw new ProofRefusedError(reason, recorded, this.checks)
  }

  /** The refusal by a check that has failed; the caller throws it. */
  refuse(reason: ProofReason, check: Omit<NewCheck, 'ok'>): ProofRefusedError {
    return new ProofRefusedError(reason, this.record({ ...check, ok: false }), this.checks)
  }

  /**
   * Two texts that must be the same, as facts of one kind. `factOf`: their kind, addresses by
   * default.
   * @throws ProofRefusedError when they differ
   */
  equal(
    reason: ProofReason,
    { expected, got, ...check }: EqualCheck,
    factOf: (value: string) => CheckFact = addressFact,
  ): void {
    this.check(reason, {
      ...check,
      ok: expected === got,
      expected: factOf(expected),
      got: factOf(got),
    })
  }

  /** Adds a check, whether it passes or not. */
  record({ expected, got, ...check }: NewCheck): ProofCheck {
    const facts = { expectedFact: printable(expected), gotFact: printable(got) }
    const recorded = {
      ...check,
      expected: sentence(facts.expectedFact),
      got: sentence(facts.gotFact),
      ...facts,
    }
    this.checks.push(recorded)
    return recorded
  }
}

function sentence(fact: CheckFact): string {
  return printableText(renderCheckFact(fact)) ?? 'nothing'
}

type CheckItem = Exclude<CheckFact, { code: 'list' }>

function printable(fact: CheckFact): CheckFact {
  return fact.code === 'list'
    ? { code: 'list', params: { facts: fact.params.facts.map(printableItem) } }
    : printableItem(fact)
}

/** Payers choose some of these texts. */
function printableItem(fact: CheckItem): CheckItem {
  const clean = (text: string) => printableText(text) ?? ''
  switch (fact.code) {
    case 'text':
      return textFact(clean(fact.params.text))
    case 'address':
      return addressFact(clean(fact.params.address))
    case 'network':
      return networkFact(clean(fact.params.network))
    case 'unreadable':
      return { code: fact.code, params: { problem: printableProblem(fact.params.problem) } }
    case 'unreadable_field':
      return {
        code: fact.code,
        params: {
          field: clean(fact.params.field),
          problem: printableProblem(fact.params.problem),
        },
      }
    case 'refused_with':
    case 'contract_reverts':
      return { code: fact.code, params: { answer: clean(fact.params.answer) } }
    default:
      return fact
  }
}

/** Of a problem, what the payer wrote. */
function printableProblem(problem: DecodeProblem): DecodeProblem {
  return problem.code === 'json_duplicate_key'
    ? { code: problem.code, params: { key: printableText(problem.params.key) ?? '' } }
    : problem
}

/** The proof is permanently bad: sending it again cannot help. */
export class ProofRefusedError extends ProblemError {
  override name = 'ProofRefusedError'
  readonly reason: ProofReason
  /** The name of the check that failed. */
  readonly check: string

  constructor(reason: ProofReason, check: ProofCheck, checks: readonly ProofCheck[]) {
    const { expectedFact, gotFact } = check
    super('INVALID_PAYMENT_PROOF', {
      // The finding is a word or two, or a full sentence.
      message: `The payment proof is not valid: ${check.name}. Expected ${check.expected}${check.got.endsWith('.') ? `. ${check.got}` : `, received ${check.got}.`}`,
      reason,
      details: {
        check: check.name,
        expected: check.expected,
        got: check.got,
        expectedFact,
        gotFact,
        checks: [...checks],
      },
    })
    this.reason = reason
    this.check = check.name
  }
}

/** Nothing is decided: the same request may succeed later. */
export function undecided(message: string): ProblemError {
  return new ProblemError('PAYMENT_VERIFICATION_FAILED', { message, details: { retryable: true } })
}
