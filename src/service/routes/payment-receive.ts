import { receivePayment } from '../proofs/receive.ts'
import type { Routes } from './handler.ts'

export const paymentReceive: Routes['paymentReceive'] = ({ context, actor, input }) => receivePayment(context, actor, input.body)
