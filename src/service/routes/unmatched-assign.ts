import { ProblemError } from '#contract/problem.ts'
import type { Routes } from './handler.ts'

/** Stands in until the ledger answers it. */
export const unmatchedAssign: Routes['unmatchedAssign'] = async () => {
  throw new ProblemError('NOT_FOUND')
}
