import { decideUndelivered } from '../payments/undelivered.ts'
import type { Routes } from './handler.ts'

export const undeliveredClose: Routes['undeliveredClose'] = ({ context, actor, input }) =>
  decideUndelivered(context, { actor, paymentId: input.params.paymentId, delivered: true }, input.body)
