import { ProblemError } from '#contract/problem.ts'
import type { Routes } from './handler.ts'

/** Stands in until the ledger answers it. */
export const unmatchedList: Routes['unmatchedList'] = async () => {
  throw new ProblemError('NOT_FOUND')
}
