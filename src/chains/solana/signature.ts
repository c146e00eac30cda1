import { ed25519 } from '@noble/curves/ed25519.js'
import bs58 from 'bs58'

/**
 * Verifies as Solana does (`verify_strict`): canonical spellings, no key and no nonce point of small order.
 * A key of small order, the identity first, would make one signature good for every message.
 */
export function verifySignature(
  signature: Uint8Array,
  message: Uint8Array,
  signer: string,
): boolean {
  const key = bs58.decodeUnsafe(signer)
  if (key?.length !== 32 || signature.length !== 64) return false
  try {
    if (ed25519.Point.fromBytes(signature.subarray(0, 32)).isSmallOrder()) return false
    return ed25519.verify(signature, message, key, { zip215: false })
  } catch {
    return false
  }
}
