import { assignUnmatched } from '../payments/unmatched-assign.ts'
import type { Routes } from './handler.ts'

export const unmatchedAssign: Routes['unmatchedAssign'] = ({ context, actor, input }) =>
  assignUnmatched(context, { actor, transferId: input.params.transferId }, input.body)
