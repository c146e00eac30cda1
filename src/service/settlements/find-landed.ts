import type { Hex } from 'viem'
import type { Authorization } from '#chains/evm/authorization.ts'
import type { Chain, Observation, Transfer } from '../chains/chain.ts'
import type { PaymentRecord } from '../db/payments.ts'
import type { SettlementOrder } from '../db/settlement-orders.ts'
import { pays } from '../payments/pays.ts'
import { messageKey } from '../proofs/read-signed.ts'

export type Ordered = { payment: PaymentRecord; order: SettlementOrder; chain: Chain }

type Sighting =
  | { state: 'seen'; signature: string; observation: Exclude<Observation, { state: 'not_found' }> }
  | { state: 'unseen' }
  /** The payer has taken it back, or it was carried out so long ago that nobody finds by what. */
  | { state: 'void' }

/** Looks for the transaction that carried an ordered settlement out, whoever sent it. */
export async function findLanded(ordered: Ordered): Promise<Sighting> {
  const authorization = readAuthorization(ordered)
  return authorization ? findUse(ordered, authorization) : findSigned(ordered)
}

/** What was signed for others to carry out, as far as the key of its claim names it: `permit2:from:nonce` or `asset:from:nonce`. */
export function readAuthorization({ order, payment }: Pick<Ordered, 'order' | 'payment'>): Authorization | undefined {
  const [scope = '', from, nonce] = order.key.split(':')
  if (from === undefined || nonce === undefined) return undefined
  return {
    method: scope === 'permit2' ? 'permit2' : 'eip3009',
    token: payment.asset as Hex,
    from: from as Hex,
    to: payment.recipient as Hex,
    amountAtomic: payment.amount,
    nonce: nonce as Hex,
    // These take no part in finding it.
    validAfter: 0n,
    validBefore: 0n,
    signature: '0x',
  }
}

async function findUse({ payment, chain }: Ordered, authorization: Authorization): Promise<Sighting> {
  const use = await chain.contracts?.findUse(authorization)
  if (!use?.used) return { state: 'unseen' }
  if (use.signature === null) return { state: 'void' }
  const observation = await chain.observe(use.signature)
  if (observation.state === 'not_found') return { state: 'unseen' }
  return { state: 'seen', signature: use.signature, observation: asPayment(payment, observation) }
}

/** A transaction whose message is known: by the name it must have, by the one it is said to have, or by its memo among the payer's transactions. */
async function findSigned({ payment, order, chain }: Ordered): Promise<Sighting> {
  for (const signature of new Set([order.signature, payment.signature, payment.reportedSignature, ...(await findByMemo({ payment, order, chain }))])) {
    if (signature === null) continue
    const observation = await chain.observe(signature)
    if (observation.state === 'not_found' || !isOrdered(order, { signature, observation })) continue
    return { state: 'seen', signature, observation: asPayment(payment, observation) }
  }
  return { state: 'unseen' }
}

/** Memos are the payer's own words: what is found is only a candidate. */
async function findByMemo({ payment, order, chain }: Ordered): Promise<string[]> {
  if (order.memo === null || order.signature !== null) return []
  const { asset, sender, recipient, amount: amountAtomic, builtHeight, createdAt } = payment
  const wanted = { paymentId: order.memo, asset, sender, recipient, amountAtomic, nonce: null, builtHeight, lastValidBlockHeight: null, createdAt }
  const { found } = await chain.find([{ ...wanted, reported: null, open: true }], 0, 0)
  return found.map(({ signature }) => signature)
}

/** The message is the payment; a name alone is trusted only where it follows from the message. */
export function isOrdered(
  { key, signature: known }: SettlementOrder,
  { signature, observation }: { signature: string; observation: Exclude<Observation, { state: 'not_found' }> },
): boolean {
  if (observation.state === 'landed' && observation.messageHash !== undefined) return messageKey(observation.messageHash) === key
  return signature === known
}

/** What the proof was held against is what its transaction moves; of a token, the chain must show it too. */
function asPayment(payment: PaymentRecord, observation: Exclude<Observation, { state: 'not_found' }>): Exclude<Observation, { state: 'not_found' }> {
  const { sender, recipient, asset, amount: amountAtomic } = payment
  const transfer: Transfer = { sender, recipient, asset, amountAtomic, memo: observation.transfer?.memo ?? null, nonce: observation.transfer?.nonce ?? null }
  if (observation.state === 'pending') return { state: 'pending', transfer }
  const { moved, succeeded } = observation
  if (!succeeded || moved === undefined || moved.length === 0 || moved.some((candidate) => pays(payment, candidate, null))) return { ...observation, transfer }
  return { ...observation, transfer, succeeded: false, failure: 'The transaction landed and moved something else than was signed.' }
}
