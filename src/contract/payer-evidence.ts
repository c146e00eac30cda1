import * as v from 'valibot'
import { chainIdOf, type NetworkId } from './network.ts'

/** What a payer signs to say that an order is theirs, and which of their transactions pays it (EIP-712). It moves nothing. */
export type PayerEvidence = {
  paymentId: string
  network: NetworkId
  /** 32 bytes in hex: what is signed for one deployment means nothing to another one. */
  deployment: string
  sender: string
  /** Of the transaction: replacements keep it. */
  nonce: number
  recipient: string
  asset: string
  amountAtomic: bigint
}

/** As `eth_signTypedData_v4` takes it; numbers as decimal text. */
export const PayerEvidenceRequest = v.object({
  domain: v.object({
    name: v.string(),
    version: v.string(),
    chainId: v.number(),
    salt: v.string(),
  }),
  types: v.record(v.string(), v.array(v.object({ name: v.string(), type: v.string() }))),
  primaryType: v.literal('PaymentEvidence'),
  message: v.object({
    paymentId: v.string(),
    sender: v.string(),
    nonce: v.string(),
    recipient: v.string(),
    asset: v.string(),
    amount: v.string(),
  }),
})
export type PayerEvidenceRequest = v.InferOutput<typeof PayerEvidenceRequest>

const TYPES = {
  PaymentEvidence: [
    { name: 'paymentId', type: 'string' },
    { name: 'sender', type: 'address' },
    { name: 'nonce', type: 'uint256' },
    { name: 'recipient', type: 'address' },
    { name: 'asset', type: 'address' },
    { name: 'amount', type: 'uint256' },
  ],
}

export function payerEvidenceRequest(evidence: PayerEvidence): PayerEvidenceRequest {
  const { paymentId, network, deployment, sender, nonce, recipient, asset, amountAtomic } = evidence
  return {
    domain: {
      name: 'Paydesk Payment',
      version: '1',
      chainId: chainIdOf(network),
      salt: deployment,
    },
    types: TYPES,
    primaryType: 'PaymentEvidence',
    message: {
      paymentId,
      sender,
      nonce: nonce.toString(),
      recipient,
      asset,
      amount: amountAtomic.toString(),
    },
  }
}
