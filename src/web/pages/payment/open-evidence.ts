import type { NetworkId } from '#contract/network.ts'
import type { PaymentStatusBody } from '#contract/payment-body.ts'
import type { OpenEvidence } from '../../payment-flow/EvidenceCard.tsx'

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
