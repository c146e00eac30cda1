import { readSummary } from '../payments/summary.ts'
import type { Routes } from './handler.ts'

export const paymentSummary: Routes['paymentSummary'] = ({ context, actor, input }) => readSummary(context, actor, input.query)
