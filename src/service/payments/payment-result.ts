import type { Observation, ObservedTransfer } from '../chains/chain.ts'
import type { PaymentRecord } from '../db/payments.ts'
import { matchesPayment } from './matches-payment.ts'

/**
 * A transaction that executes this payment and nothing else: if it moved something else, this
 * payment has failed.
 */
export function asPaymentResult(payment: PaymentRecord, observation: Observation): Observation {
  if (observation.state === 'not_found') return observation
  const { sender, recipient, asset, amount: amountAtomic } = payment
  const nonce = observation.transfer?.nonce ?? null
  const transfer: ObservedTransfer = { sender, recipient, asset, amountAtomic, memo: null, nonce }
  if (observation.state === 'pending') return { state: 'pending', transfer }
  const paid = [...(observation.moved ?? []), observation.transfer].some((moved) =>
    matchesPayment(payment, moved, observation.height),
  )
  if (!observation.succeeded || paid) return { ...observation, transfer }
  return {
    ...observation,
    transfer,
    succeeded: false,
    failure: 'The transaction landed and moved something else than was asked for.',
  }
}
