import { readStatus } from '../payments/status.ts'
import type { Routes } from './handler.ts'

export const paymentStatus: Routes['paymentStatus'] = ({ context, actor, input }) => readStatus(context, actor, input.params.paymentId)
