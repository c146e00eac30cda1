import type { Chain, Observation, ObservedTransfer } from '../chains/chain.ts'
import type { MonitoredRecord } from '../db/payments.ts'
import type { SettlementOrder } from '../db/settlement-orders.ts'
import { asPaymentResult } from '../payments/payment-result.ts'
import {
  readSignedAuthorization,
  type SignedAuthorization,
} from '../payments/signed-authorization.ts'
import { messageKey } from '../verification/read-signed.ts'

export type Ordered = { payment: MonitoredRecord; order: SettlementOrder; chain: Chain }

type Sighting =
  | { state: 'seen'; signature: string; observation: Exclude<Observation, { state: 'not_found' }> }
  /** `used`: it was executed or cancelled, and no node shows which. */
  | { state: 'unseen'; used: boolean }

/** Looks for the transaction that executed an ordered settlement, from any sender. */
export async function findLanded(ordered: Ordered): Promise<Sighting> {
  const authorized = readSignedAuthorization(ordered.chain, ordered.order.key, ordered.payment)
  return authorized ? findUse(ordered, authorized) : findSigned(ordered)
}

async function findUse(
  { payment, chain }: Ordered,
  { authorization, contracts }: SignedAuthorization,
): Promise<Sighting> {
  const use = await contracts.findUse(authorization, payment.builtHeight)
  if (!use.used) return { state: 'unseen', used: false }
  if (use.signature === null) return { state: 'unseen', used: true }
  const observation = await chain.observe(use.signature, (seen) =>
    asPaymentResult(payment, seen, authorization),
  )
  return observation.state === 'not_found'
    ? { state: 'unseen', used: true }
    : { state: 'seen', signature: use.signature, observation }
}

/**
 * A transaction whose message is known: by the name it must have, by a reported name, or by its
 * memo among the payer's transactions.
 */
async function findSigned({ payment, order, chain }: Ordered): Promise<Sighting> {
  for (const signature of new Set([
    order.signature,
    payment.signature,
    payment.reportedSignature,
    ...(await findByMemo({ payment, order, chain })),
  ])) {
    if (signature === null) continue
    const observation = await chain.observe(signature, (seen) => asPayment(payment, seen))
    if (observation.state === 'not_found' || !isOrdered(order, { signature, observation })) continue
    return { state: 'seen', signature, observation }
  }
  return { state: 'unseen', used: false }
}

/** The payer chooses memos: what is found is only a candidate. */
async function findByMemo({ payment, order, chain }: Ordered): Promise<string[]> {
  if (order.memo === null || order.signature !== null) return []
  const { asset, sender, recipient, amount: amountAtomic, builtHeight, createdAt } = payment
  const expected = {
    paymentId: order.memo,
    asset,
    sender,
    recipient,
    amountAtomic,
    nonce: null,
    builtHeight,
    lastValidBlockHeight: null,
    createdAt,
  }
  const { found, failed } = await chain.find([{ ...expected, reported: null, open: true }], {
    from: 0,
    to: 0,
  })
  // Not to be taken for an answer: what is not found may be called over.
  if (failed?.[0]) throw failed[0].error
  return found.map(({ signature }) => signature)
}

/**
 * The message identifies the payment; a name alone is trusted only where it follows from the
 * message.
 */
export function isOrdered(
  { key, signature: known }: SettlementOrder,
  {
    signature,
    observation,
  }: { signature: string; observation: Exclude<Observation, { state: 'not_found' }> },
): boolean {
  if (observation.state === 'landed' && observation.messageHash !== undefined)
    return messageKey(observation.messageHash) === key
  return signature === known
}

/** The message is known and was checked against the proof: it moves exactly that, or fails. */
function asPayment(
  { sender, recipient, asset, amount: amountAtomic }: MonitoredRecord,
  observation: Observation,
): Observation {
  if (observation.state === 'not_found') return observation
  const transfer: ObservedTransfer = {
    sender,
    recipient,
    asset,
    amountAtomic,
    memo: observation.transfer?.memo ?? null,
    nonce: observation.transfer?.nonce ?? null,
  }
  return observation.state === 'pending'
    ? { state: 'pending', transfer }
    : { ...observation, transfer }
}
