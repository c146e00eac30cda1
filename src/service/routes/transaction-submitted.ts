import { reportSubmitted } from '../payments/report.ts'
import type { Routes } from './handler.ts'

export const transactionSubmitted: Routes['transactionSubmitted'] = ({ context, actor, input }) => reportSubmitted(context, actor, input.body)
