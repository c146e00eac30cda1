import { ed25519 } from '@noble/curves/ed25519.js'
import bs58 from 'bs58'
import { utf8ToBytes } from '@noble/hashes/utils.js'

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

/** 64 bytes in base58. */
const SIGNATURE = /^[1-9A-HJ-NP-Za-km-z]{64,88}$/

/**
 * Whether `wallet` itself signed the text (`signMessage`). The key is the address that the text names, never one that comes with the signature.
 * Strict as Solana is: canonical encodings only, and no key or nonce point of small order, under which one signature fits many texts.
 */
export function isSignedBySolana(wallet: string, message: string, signature: string): boolean {
  if (!SIGNATURE.test(signature)) return false
  const bytes = bs58.decodeUnsafe(signature)
  const publicKey = bs58.decodeUnsafe(wallet)
  if (bytes?.length !== 64 || publicKey?.length !== 32) return false
  try {
    if (
      ed25519.Point.fromBytes(publicKey).isSmallOrder() ||
      ed25519.Point.fromBytes(bytes.subarray(0, 32)).isSmallOrder()
    )
      return false
    return ed25519.verify(bytes, utf8ToBytes(message), publicKey, { zip215: false })
  } catch {
    // Not a point on the curve: an address no one can sign for.
    return false
  }
}
