import { secp256k1 } from '@noble/curves/secp256k1.js'
import { bytesToHex, hashTypedData, hexToBytes, type Hex, type TypedDataDefinition } from 'viem'
import type { PaymentIntent } from '#chains/intent.ts'
import { familyOf } from '#contract/network.ts'
import { encodeHeader } from '#x402/header.ts'
import { EXACT_SCHEME, TXID_METHOD, UPFRONT_FLOW } from '#x402/methods.ts'
import type { Requirements } from '#x402/requirements.ts'
import { proofTypedData } from '#x402/txid.ts'

/** The time to pay that the terms of such a proof name, in seconds: the payment has been made. */
const MAX_TIMEOUT_S = 60

export type Proven = {
  intent: Pick<
    PaymentIntent,
    'paymentId' | 'network' | 'asset' | 'sender' | 'recipient' | 'amountAtomic'
  >
  signature: string
  resource: string | null
}

/**
 * The x402 header value by which the payee recognizes a payment from a managed wallet: the
 * transaction's name and, on EVM, the payer's signature over it, the resource and the terms; on
 * Solana its memo, the id of the payment, binds it. Null for tokens: those are proven by what their
 * payer signs for others to execute, and this payment is made.
 */
export function provePayment(
  { intent, signature: txRef, resource: url }: Proven,
  secret: Uint8Array,
): string | null {
  const { paymentId, network, asset, sender: from, recipient: payTo, amountAtomic } = intent
  if (!asset.native) return null
  const resource = url === null ? {} : { url }
  const evm = familyOf(network) === 'evm'
  const accepted: Requirements = {
    scheme: EXACT_SCHEME,
    network,
    amount: amountAtomic.toString(),
    asset: asset.address,
    payTo,
    maxTimeoutSeconds: MAX_TIMEOUT_S,
    extra: {
      assetTransferMethod: TXID_METHOD,
      paymentFlow: UPFRONT_FLOW,
      ...(!evm && { memo: paymentId }),
    },
  }
  const terms = {
    network,
    from,
    payTo,
    asset: asset.address,
    amountAtomic,
    maxTimeoutSeconds: MAX_TIMEOUT_S,
    resource,
  }
  const payload = evm
    ? {
        type: 'payment-proof',
        alg: 'ES256K',
        format: 'eip712',
        txRef,
        from,
        signature: sign(proofTypedData(terms, txRef), secret),
      }
    : { type: 'payment-proof', alg: 'Ed25519', format: 'solana-memo', txRef, from }
  return encodeHeader({ x402Version: 2, ...(url !== null && { resource }), accepted, payload })
}

/** r, s and the recovery byte; s is the low one. */
function sign(typedData: TypedDataDefinition, secret: Uint8Array): Hex {
  const signature = secp256k1.sign(hexToBytes(hashTypedData(typedData)), secret, {
    prehash: false,
    format: 'recovered',
  })
  return bytesToHex(Uint8Array.of(...signature.subarray(1), 27 + (signature[0] ?? 0)))
}
