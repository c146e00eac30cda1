import { decideUndelivered } from '../payments/undelivered.ts'
import type { Routes } from './handler.ts'

export const undeliveredReopen: Routes['undeliveredReopen'] = ({ context, actor, input }) =>
  decideUndelivered(context, { actor, paymentId: input.params.paymentId, delivered: false }, input.body)
