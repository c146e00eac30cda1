import { verifyPayment } from '../proofs/facilitator.ts'
import type { Routes } from './handler.ts'

export const facilitatorVerify: Routes['facilitatorVerify'] = ({ context, actor, input }) => verifyPayment(context, actor, input.body)
