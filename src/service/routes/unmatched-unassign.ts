import { unassignUnmatched } from '../payments/unmatched-assign.ts'
import type { Routes } from './handler.ts'

export const unmatchedUnassign: Routes['unmatchedUnassign'] = ({ context, actor, input }) =>
  unassignUnmatched(context, { actor, transferId: input.params.transferId }, input.body)
