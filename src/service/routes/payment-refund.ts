import { refundPayment } from '../payments/refund.ts'
import type { Routes } from './handler.ts'

export const paymentRefund: Routes['paymentRefund'] = ({ context, actor, input, idempotency, waitMs }) =>
  refundPayment(context, actor, { body: input.body, idempotency, waitMs })
