import { hashTypedData, hexToBytes } from 'viem'
import { isHashSignedByEvm } from '#chains/evm/verify-signature.ts'
import { familyOf } from '#contract/network.ts'
import { payerEvidenceRequest, type PayerEvidenceRequest } from '#contract/payer-evidence.ts'
import type { PaymentRecord } from '../db/payments.ts'

/** What the payer of an EVM order signs to say that it is theirs; null where the order needs none. `nonce`: of the transaction that pays it. */
export function evidenceRequest(
  row: PaymentRecord,
  deployment: string,
  nonce = row.nonce,
): PayerEvidenceRequest | null {
  if (row.mode !== 'local' || familyOf(row.network) !== 'evm' || nonce === null) return null
  const { id: paymentId, network, sender, recipient, asset, amount: amountAtomic } = row
  return payerEvidenceRequest({
    paymentId,
    network,
    deployment,
    sender,
    nonce,
    recipient,
    asset,
    amountAtomic,
  })
}

/** Whether the order's sender itself signed that its transaction with this nonce pays the order. */
export function isPayerSignature(
  row: PaymentRecord,
  deployment: string,
  signed: { nonce: number; signature: string },
): boolean {
  const request = evidenceRequest(row, deployment, signed.nonce)
  return (
    request !== null &&
    isHashSignedByEvm(row.sender, hexToBytes(hashTypedData(typed(request))), signed.signature)
  )
}

/** Addresses are in their normal form by now, which the types of viem cannot see. */
function typed(request: PayerEvidenceRequest): Parameters<typeof hashTypedData>[0] {
  return request as unknown as Parameters<typeof hashTypedData>[0]
}
