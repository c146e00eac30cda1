import { sendPayment } from '../payments/send.ts'
import type { Routes } from './handler.ts'

export const paymentSend: Routes['paymentSend'] = ({ context, actor, input, idempotency, waitMs }) =>
  sendPayment(context, actor, { body: input.body, idempotency, waitMs })
