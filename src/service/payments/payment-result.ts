import type { Authorization } from '#chains/evm/authorization.ts'
import { checksumAddress } from '#contract/address.ts'
import type { Chain, Observation, ObservedTransfer } from '../chains/chain.ts'
import type { MonitoredRecord } from '../db/payments.ts'
import { matchesPayment } from './attribution.ts'

/**
 * A transaction that executes this payment and nothing else: if it moved something else, this
 * payment has failed.
 * @param authorization what it should have executed. A payer may sign a nonce twice, for two payees,
 * and use the other one in the transaction that makes an equal payment.
 */
export function asPaymentResult(
  payment: MonitoredRecord,
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
      matchesPayment(payment, moved, observation) &&
      (authorization === undefined || isMovedBy(authorization, moved)),
  )
  if (!observation.succeeded || paid) return { ...observation, transfer }
  return {
    ...observation,
    transfer,
    succeeded: false,
    failure: 'The transaction landed and moved something else than was asked for.',
  }
}

/** What `asPaymentResult` shows, once the transfers of the transaction have all paid other payments. */
export function asTaken(seen: Observation): Observation {
  if (seen.state !== 'landed' || !seen.succeeded) return seen
  return {
    ...seen,
    succeeded: false,
    failure: 'What the transaction moved has paid another payment: nothing more arrived for this.',
  }
}

/** What our wallet signed to settle a payment: all with one nonce of its queue. */
export type SignedSettlement = { signer: string; nonce: number; signatures: readonly string[] }

/** Whether the chain itself shows another transaction with that nonce, so that none of these can land. */
export function isNonceTaken(
  chain: Chain,
  {
    id: paymentId,
    asset,
    recipient,
    amount: amountAtomic,
    builtHeight,
    createdAt,
  }: MonitoredRecord,
  { signer: sender, nonce, signatures: signed }: SignedSettlement,
): Promise<boolean> {
  const payment = { paymentId, asset, recipient, amountAtomic, builtHeight, createdAt }
  const order = { lastValidBlockHeight: null, reported: null, open: true }
  return chain.canNeverLand({ ...payment, ...order, sender, nonce, signed })
}

/** How many payments equal to this one the tokens of a transaction say they have made. */
export function countEqual(
  {
    sender,
    recipient,
    asset,
    amountAtomic,
  }: Pick<ObservedTransfer, 'sender' | 'recipient' | 'asset' | 'amountAtomic'>,
  moved: readonly ObservedTransfer[] = [],
): number {
  return moved.filter(
    (each) =>
      each.sender === sender &&
      each.recipient === recipient &&
      each.asset === asset &&
      each.amountAtomic === amountAtomic,
  ).length
}

/** Whether the token names this use for a transfer. Permit2 names none: `findUse` proves the use. */
function isMovedBy({ method, nonce }: Authorization, transfer: ObservedTransfer | null): boolean {
  return method === 'permit2' || transfer?.authorization?.toLowerCase() === nonce.toLowerCase()
}

/**
 * What the execution of an authorization moved: exactly what its payer signed, or less where the
 * token keeps a part, and names the authorization of what is left.
 */
export function findExecuted(
  authorization: Authorization,
  moved: readonly ObservedTransfer[] = [],
): ObservedTransfer | undefined {
  const { method, from, to, token, amountAtomic } = authorization
  const [sender, recipient, asset] = [from, to, token].map((address) => checksumAddress(address))
  const arrived = moved.filter(
    (transfer) =>
      transfer.sender === sender &&
      transfer.recipient === recipient &&
      transfer.asset === asset &&
      transfer.amountAtomic > 0n &&
      isMovedBy(authorization, transfer),
  )
  const exact = arrived.find((transfer) => transfer.amountAtomic === amountAtomic)
  return exact ?? (method === 'eip3009' && arrived.length === 1 ? arrived[0] : undefined)
}
