import { ed25519 } from '@noble/curves/ed25519.js'
import { secp256k1 } from '@noble/curves/secp256k1.js'
import { keccak_256 } from '@noble/hashes/sha3.js'
import { bytesToHex } from '@noble/hashes/utils.js'
import bs58 from 'bs58'
import { checksumAddress, type Family } from '#contract/address.ts'

/** The address a secret of 32 bytes signs for. */
export function addressOf(family: Family, secret: Uint8Array): string {
  if (family === 'solana') return bs58.encode(ed25519.getPublicKey(secret))
  const point = secp256k1.getPublicKey(secret, false)
  return checksumAddress(`0x${bytesToHex(keccak_256(point.subarray(1)).subarray(12))}`)
}
