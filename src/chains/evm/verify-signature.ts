import { keccak_256 } from '@noble/hashes/sha3.js'
import { bytesToHex, concatBytes, hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js'
import { checksumAddress } from '#contract/address.ts'
import { recoverPublicKey } from './recover.ts'

const SIGNATURE = /^0x[0-9a-fA-F]{130}$/
/** Wallets end a signature with 27 or 28; some hardware wallets with the bare bit. */
const RECOVERY_BITS: Readonly<Record<number, 0 | 1>> = { 0: 0, 1: 1, 27: 0, 28: 1 }

/**
 * Whether `wallet` itself signed the text (EIP-191, `personal_sign`). The address comes out of the signature and is compared; nothing the
 * signer wrote is believed. Only the lower of a signature's two forms counts, as on the chain (EIP-2). Contract wallets (EIP-1271) cannot sign in.
 */
export function isSignedByEvm(wallet: string, message: string, signature: string): boolean {
  return isHashSignedByEvm(wallet, personalHash(message), signature)
}

/** The same of a hash that was made from what was signed, as EIP-712 does. */
export function isHashSignedByEvm(wallet: string, hash: Uint8Array, signature: string): boolean {
  if (!SIGNATURE.test(signature)) return false
  const bytes = hexToBytes(signature.slice(2))
  const bit = RECOVERY_BITS[bytes[64] ?? -1]
  if (bit === undefined) return false
  const publicKey = recoverPublicKey(hash, bytes.subarray(0, 64), bit)
  if (!publicKey) return false
  const address = bytesToHex(keccak_256(publicKey.subarray(1)).subarray(12))
  return checksumAddress(`0x${address}`) === checksumAddress(wallet)
}

function personalHash(message: string): Uint8Array {
  const text = utf8ToBytes(message)
  return keccak_256(concatBytes(utf8ToBytes(`\x19Ethereum Signed Message:\n${text.length}`), text))
}
