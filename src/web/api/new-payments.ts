import type { PaymentStatusBody } from '#contract/payment-body.ts'
import { createStore } from '../local-data/store.ts'

const MAX_STORED = 200

const arrivals = createStore<readonly PaymentStatusBody[]>([])

/** Payments the live stream told of, newest first: a list offers those it does not show yet. */
export const useNewPayments = arrivals.use

export function addNewPayment(payment: PaymentStatusBody): void {
  const others = arrivals.get().filter((each) => each.paymentId !== payment.paymentId)
  arrivals.set([payment, ...others].slice(0, MAX_STORED))
}

export function clearNewPayments(): void {
  arrivals.set([])
}
