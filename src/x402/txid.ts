import * as v from 'valibot'
import type { FieldFormat } from '#contract/reasons.ts'
import { chainIdOf, type NetworkId } from '#contract/network.ts'
import { EXACT_SCHEME, TXID_METHOD } from './methods.ts'
import { RequirementsV1 } from './requirements.ts'

/**
 * The proof a payer signs for a native transfer it broadcast itself: scheme `exact`, `assetTransferMethod: "txid"`.
 * @see scheme_exact_txid.md, draft v0.2 (x402 pull request #1004); family "client-submitted", scheme_exact.md (pull request #3145)
 */

const text = <N extends string>(name: N) => ({ name, type: 'string' }) as const

const REFERENCE = [text('txRef'), { name: 'from', type: 'address' }] as const
const RESOURCE = [text('url'), text('description'), text('mimeType')] as const
const METHOD = [text('scheme'), text('assetTransferMethod'), text('network')] as const
const PAYEE = [text('asset'), { name: 'payTo', type: 'address' }] as const
const TIMEOUT = { name: 'maxTimeoutSeconds', type: 'uint256' } as const

export const PROOF_TYPES = {
  PaymentProof: [
    ...REFERENCE,
    { name: 'resource', type: 'Resource' },
    { name: 'accepted', type: 'Accepted' },
  ],
  Resource: RESOURCE,
  Accepted: [...METHOD, text('amount'), ...PAYEE, TIMEOUT],
} as const

/** The types of a v1 proof: terms and resource stand together in the offer. */
export const OFFER_PROOF_TYPES = {
  PaymentProof: [...REFERENCE, { name: 'offer', type: 'Offer' }],
  Offer: [
    ...METHOD,
    text('maxAmountRequired'),
    ...PAYEE,
    text('resource'),
    text('description'),
    text('mimeType'),
    TIMEOUT,
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
  const { amount, url, description, mimeType, ...accepted } = messageOf(terms, terms.network)
  return {
    domain: domainOf(terms),
    types: PROOF_TYPES,
    primaryType: 'PaymentProof' as const,
    message: {
      ...(txRef !== undefined && { txRef }),
      from: terms.from,
      resource: { url, description, mimeType },
      accepted: { ...accepted, amount },
    },
  }
}

/** The EIP-712 typed data of a v1 proof. `networkName` is spelled as the offer spells it; the chain itself is in the domain. */
export function offerProofTypedData(terms: ProofTerms & { networkName: string }, txRef: string) {
  const {
    amount: maxAmountRequired,
    url: resource,
    ...message
  } = messageOf(terms, terms.networkName)
  return {
    domain: domainOf(terms),
    types: OFFER_PROOF_TYPES,
    primaryType: 'PaymentProof' as const,
    message: { txRef, from: terms.from, offer: { ...message, maxAmountRequired, resource } },
  }
}

function domainOf({ network }: ProofTerms) {
  return { name: 'x402 Payment Proof', version: '1', chainId: chainIdOf(network) }
}

/** Everything that is signed beside the transaction and its sender; the versions only arrange it differently. */
function messageOf(
  { payTo, asset, amountAtomic, maxTimeoutSeconds, resource }: ProofTerms,
  network: string,
) {
  const { url = '', description = '', mimeType = '' } = resource
  const terms = {
    scheme: EXACT_SCHEME,
    assetTransferMethod: TXID_METHOD,
    network,
    amount: amountAtomic.toString(),
    asset,
    payTo,
    maxTimeoutSeconds,
  }
  return { ...terms, url, description, mimeType }
}

/** A proof on EVM: the payer's signature binds the transaction to the resource and the terms. */
export const TxidPayload = v.object({
  type: v.literal('payment-proof'),
  alg: v.literal('ES256K'),
  format: v.literal('eip712'),
  txRef: v.pipe(
    v.string(),
    v.regex(/^0x[0-9a-fA-F]{64}$/, 'transaction_hash' satisfies FieldFormat),
    v.toLowerCase(),
  ),
  from: v.pipe(v.string(), v.maxLength(64)),
  signature: v.pipe(
    v.string(),
    v.regex(/^0x[0-9a-fA-F]{130}$/, 'signature_65_bytes' satisfies FieldFormat),
  ),
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
  txRef: v.pipe(
    v.string(),
    v.regex(/^[1-9A-HJ-NP-Za-km-z]{64,88}$/, 'base58_signature' satisfies FieldFormat),
  ),
  from: v.optional(v.pipe(v.string(), v.maxLength(64))),
})
export type MemoPayload = v.InferOutput<typeof MemoPayload>
