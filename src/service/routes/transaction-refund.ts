import { buildRefund } from '../payments/refund.ts'
import type { Routes } from './handler.ts'

export const transactionRefund: Routes['transactionRefund'] = ({ context, actor, input }) => buildRefund(context, actor, input.body)
