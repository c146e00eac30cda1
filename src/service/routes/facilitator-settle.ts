import { settlePayment } from '../proofs/facilitator.ts'
import type { Routes } from './handler.ts'

export const facilitatorSettle: Routes['facilitatorSettle'] = ({ context, actor, input }) => settlePayment(context, actor, input.body)
