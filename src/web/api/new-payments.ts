import { useSyncExternalStore } from 'react'
import type { PaymentStatusBody } from '#contract/payment-body.ts'

const MAX_STORED = 200

let arrivals: readonly PaymentStatusBody[] = []
const listeners = new Set<() => void>()

/** Payments the live stream told of, newest first: a list offers those it does not show yet. */
export function useNewPayments(): readonly PaymentStatusBody[] {
  return useSyncExternalStore(subscribe, () => arrivals)
}

export function addNewPayment(payment: PaymentStatusBody): void {
  arrivals = [payment, ...arrivals.filter((each) => each.paymentId !== payment.paymentId)].slice(
    0,
    MAX_STORED,
  )
  for (const listener of listeners) listener()
}

export function clearNewPayments(): void {
  arrivals = []
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
