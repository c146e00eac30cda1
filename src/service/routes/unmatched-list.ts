import { readUnmatched } from '../payments/unmatched-list.ts'
import type { Routes } from './handler.ts'

export const unmatchedList: Routes['unmatchedList'] = ({ context, actor, input }) => readUnmatched(context, actor, input.query)
