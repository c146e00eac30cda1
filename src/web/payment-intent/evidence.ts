import type { NetworkId } from '#contract/network.ts'
import {
  payerEvidenceRequest,
  type PayerEvidence,
  type PayerEvidenceRequest,
} from '#contract/payer-evidence.ts'
import type { PaymentStatusBody } from '#contract/payment-body.ts'

/** What the payer's own RPC shows of a transaction: its nonce, and the fees it bids in wei per gas; null where it bids another way. */
export type BroadcastEvidence = {
  nonce: number
  maxFeePerGas: bigint | null
  maxPriorityFeePerGas: bigint | null
}

/** Why the payee cannot tell whose payment it is; `unrecognised`: the service says so, although the fees are those that were built. */
export type EvidenceGap = 'fees_replaced' | 'no_fingerprint' | 'unrecognised'

type Fees = { maxFeePerGas: bigint; maxPriorityFeePerGas: bigint }

/**
 * What is missing to tie what the wallet broadcast to the order it was built for; null where its fees do.
 * @param built `fingerprint`: whether the service put random digits into the fees
 */
export function findGap(
  built: { fees: Fees; fingerprint: boolean },
  sent: BroadcastEvidence,
): EvidenceGap | null {
  if (!built.fingerprint) return 'no_fingerprint'
  const feesMatch =
    sent.maxFeePerGas === built.fees.maxFeePerGas &&
    sent.maxPriorityFeePerGas === built.fees.maxPriorityFeePerGas
  return feesMatch ? null : 'fees_replaced'
}

/** What this page knows of a payment, by what it showed. */
export type EvidenceIntent = Omit<PayerEvidence, 'deployment'>

export type EvidenceText =
  | { ok: true; data: PayerEvidenceRequest }
  | { ok: false; fields: string[] }

const SALT = /^0x[0-9a-f]{64}$/i

/**
 * The typed data that the payer signs, built from what this page showed. What the service asks for is only compared: any field that differs blocks it. The
 * nonce is the page's own, read from the transaction, which the service may not have seen yet; only the deployment's salt is taken over.
 */
export function evidenceText(intent: EvidenceIntent, request: PayerEvidenceRequest): EvidenceText {
  const data = payerEvidenceRequest({ ...intent, deployment: request.domain.salt })
  const fields: string[] = []
  if (!SALT.test(request.domain.salt)) fields.push('salt')
  for (const name of ['name', 'version', 'chainId'] as const)
    if (request.domain[name] !== data.domain[name]) fields.push(name)
  if (
    request.primaryType !== data.primaryType ||
    JSON.stringify(request.types) !== JSON.stringify(data.types)
  )
    fields.push('types')
  for (const name of ['paymentId', 'sender', 'recipient', 'asset', 'amount'] as const)
    if (request.message[name] !== data.message[name]) fields.push(name)
  return fields.length === 0 ? { ok: true, data } : { ok: false, fields }
}

/**
 * A payment that nothing ties to its payer: what this page knows of it, and what the service asks
 * the payer to sign.
 */
export type OpenEvidence = {
  gap: EvidenceGap
  transaction: string
  intent: EvidenceIntent
  request: PayerEvidenceRequest
}

/** What the payer of a payment could sign, by what its page shows; null where nothing is missing. */
export function openEvidence(
  { attribution, ...payment }: PaymentStatusBody,
  network: NetworkId,
): OpenEvidence | null {
  const { missing, transfer, request } = attribution
  if (!missing.includes('payer_signature') || transfer === null || request === null) return null
  const { paymentId, sender, recipient, asset, amountAtomic } = payment
  const intent = {
    paymentId,
    network,
    sender,
    nonce: Number(request.message.nonce),
    recipient,
    asset,
    amountAtomic: BigInt(amountAtomic),
  }
  return { gap: 'unrecognised', transaction: transfer, intent, request }
}
