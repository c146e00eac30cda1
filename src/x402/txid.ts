import * as v from 'valibot'
import { chainIdOf, type NetworkId } from '#contract/network.ts'
import { RequirementsV1 } from './requirements.ts'

/**
 * The proof a payer signs for a native transfer it broadcast itself: scheme `exact`, `assetTransferMethod: "txid"`.
 * @see scheme_exact_txid.md, draft v0.2 (x402 pull request #1004); family "client-submitted", scheme_exact.md (pull request #3145)
 */
export const TXID_METHOD = 'txid'

export const PROOF_TYPES = {
  PaymentProof: [
    { name: 'txRef', type: 'string' },
    { name: 'from', type: 'address' },
    { name: 'resource', type: 'Resource' },
    { name: 'accepted', type: 'Accepted' },
  ],
  Resource: [
    { name: 'url', type: 'string' },
    { name: 'description', type: 'string' },
    { name: 'mimeType', type: 'string' },
  ],
  Accepted: [
    { name: 'scheme', type: 'string' },
    { name: 'assetTransferMethod', type: 'string' },
    { name: 'network', type: 'string' },
    { name: 'amount', type: 'string' },
    { name: 'asset', type: 'string' },
    { name: 'payTo', type: 'address' },
    { name: 'maxTimeoutSeconds', type: 'uint256' },
  ],
} as const

export type ProofTerms = {
  network: NetworkId
  from: string
  payTo: string
  asset: string
  amountAtomic: bigint
  maxTimeoutSeconds: number
  /** Absent strings are signed as `""`. */
  resource: { url?: string; description?: string; mimeType?: string }
}

/** The EIP-712 typed data of a proof over `txRef`, the transaction's hash in lower case; without one the signer fills it in. */
export function proofTypedData(terms: ProofTerms, txRef?: string) {
  const { network, from, payTo, asset, amountAtomic, maxTimeoutSeconds, resource } = terms
  return {
    domain: { name: 'x402 Payment Proof', version: '1', chainId: chainIdOf(network) },
    types: PROOF_TYPES,
    primaryType: 'PaymentProof' as const,
    message: {
      ...(txRef !== undefined && { txRef }),
      from,
      resource: { url: resource.url ?? '', description: resource.description ?? '', mimeType: resource.mimeType ?? '' },
      accepted: { scheme: 'exact', assetTransferMethod: TXID_METHOD, network, amount: amountAtomic.toString(), asset, payTo, maxTimeoutSeconds },
    },
  }
}

/** The types of a v1 proof: terms and resource stand together in the offer. */
export const OFFER_PROOF_TYPES = {
  PaymentProof: [
    { name: 'txRef', type: 'string' },
    { name: 'from', type: 'address' },
    { name: 'offer', type: 'Offer' },
  ],
  Offer: [
    { name: 'scheme', type: 'string' },
    { name: 'assetTransferMethod', type: 'string' },
    { name: 'network', type: 'string' },
    { name: 'maxAmountRequired', type: 'string' },
    { name: 'asset', type: 'string' },
    { name: 'payTo', type: 'address' },
    { name: 'resource', type: 'string' },
    { name: 'description', type: 'string' },
    { name: 'mimeType', type: 'string' },
    { name: 'maxTimeoutSeconds', type: 'uint256' },
  ],
} as const

/** The EIP-712 typed data of a v1 proof. `networkName` is spelled as the offer spells it; the chain itself is in the domain. */
export function offerProofTypedData(terms: ProofTerms & { networkName: string }, txRef: string) {
  const { network, networkName, from, payTo, asset, amountAtomic, maxTimeoutSeconds, resource } = terms
  return {
    domain: { name: 'x402 Payment Proof', version: '1', chainId: chainIdOf(network) },
    types: OFFER_PROOF_TYPES,
    primaryType: 'PaymentProof' as const,
    message: {
      txRef,
      from,
      offer: {
        scheme: 'exact',
        assetTransferMethod: TXID_METHOD,
        network: networkName,
        maxAmountRequired: amountAtomic.toString(),
        asset,
        payTo,
        resource: resource.url ?? '',
        description: resource.description ?? '',
        mimeType: resource.mimeType ?? '',
        maxTimeoutSeconds,
      },
    },
  }
}

/** A proof on EVM: the payer's signature binds the transaction to the resource and the terms. */
export const TxidPayload = v.object({
  type: v.literal('payment-proof'),
  alg: v.literal('ES256K'),
  format: v.literal('eip712'),
  txRef: v.pipe(v.string(), v.regex(/^0x[0-9a-fA-F]{64}$/, 'Expected 0x and 64 hex digits.'), v.toLowerCase()),
  from: v.pipe(v.string(), v.maxLength(64)),
  signature: v.pipe(v.string(), v.regex(/^0x[0-9a-fA-F]{130}$/, 'Expected a signature of 65 bytes.')),
  /** v1 carries its terms here. */
  offer: v.optional(RequirementsV1),
})
export type TxidPayload = v.InferOutput<typeof TxidPayload>

/** A proof on Solana: the memo within the transaction binds it. */
export const MemoPayload = v.object({
  type: v.literal('payment-proof'),
  alg: v.literal('Ed25519'),
  format: v.literal('solana-memo'),
  /** The transaction's first signature, base58. */
  txRef: v.pipe(v.string(), v.regex(/^[1-9A-HJ-NP-Za-km-z]{64,88}$/, 'Expected base58 of 64 bytes.')),
  from: v.optional(v.pipe(v.string(), v.maxLength(64))),
})
export type MemoPayload = v.InferOutput<typeof MemoPayload>
