import { chainIdOf, type NetworkId } from '#contract/network.ts'

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
