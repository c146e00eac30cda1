import type { ProblemError } from '#contract/problem.ts'
import { balanceProblem, recipientProblem } from '#contract/reason-problems.ts'
import type { BuiltTransaction } from '../chains/chain.ts'

/** What a caller is told of a payment that the chain would not take. */
export function refuseBuilt(
  built: Exclude<BuiltTransaction, { ok: true }>,
  recipientAddress: string,
): ProblemError {
  return built.code === 'INVALID_RECIPIENT'
    ? recipientProblem(built.reason, { received: recipientAddress })
    : balanceProblem(built.reason)
}
