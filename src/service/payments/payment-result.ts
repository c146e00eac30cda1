import type { Authorization } from '#chains/evm/authorization.ts'
import type { Observation, ObservedTransfer } from '../chains/chain.ts'
import type { PaymentRecord } from '../db/payments.ts'
import { matchesPayment } from './matches-payment.ts'

/**
 * A transaction that executes this payment and nothing else: if it moved something else, this
 * payment has failed.
 * @param authorization what it should have executed. A payer may sign a nonce twice, for two payees,
 * and use the other one in the transaction that makes an equal payment.
 */
export function asPaymentResult(
  payment: PaymentRecord,
  observation: Observation,
  authorization?: Authorization,
): Observation {
  if (observation.state === 'not_found') return observation
  const { sender, recipient, asset, amount: amountAtomic } = payment
  const nonce = observation.transfer?.nonce ?? null
  const transfer: ObservedTransfer = { sender, recipient, asset, amountAtomic, memo: null, nonce }
  if (observation.state === 'pending') return { state: 'pending', transfer }
  const paid = [...(observation.moved ?? []), observation.transfer].some(
    (moved) =>
      matchesPayment(payment, moved, observation.height) &&
      (authorization?.method !== 'eip3009' || isMovedBy(authorization, moved)),
  )
  if (!observation.succeeded || paid) return { ...observation, transfer }
  return {
    ...observation,
    transfer,
    succeeded: false,
    failure: 'The transaction landed and moved something else than was asked for.',
  }
}

function isMovedBy({ nonce }: Authorization, { authorization }: ObservedTransfer): boolean {
  return authorization?.toLowerCase() === nonce.toLowerCase()
}
