import { ed25519 } from '@noble/curves/ed25519.js'
import { secp256k1 } from '@noble/curves/secp256k1.js'
import bs58 from 'bs58'
import type { Family } from '#contract/address.ts'

const HEX = /^(0x)?[0-9a-fA-F]{64}$/

/**
 * A wallet's secret in the spellings that wallets export: hex on EVM; on Solana base58 of 64 bytes, or the array of a keypair file.
 * @returns 32 bytes; undefined when the text is no key. The text never stands in an error.
 */
export function readSecret(family: Family, text: string): Uint8Array | undefined {
  const trimmed = text.trim()
  if (family === 'solana') return readSolana(trimmed)
  if (!HEX.test(trimmed)) return undefined
  const secret = Buffer.from(trimmed.replace(/^0x/, ''), 'hex')
  return secp256k1.utils.isValidSecretKey(secret) ? secret : undefined
}

/** The second half is the public key, which must be the first half's. */
function readSolana(text: string): Uint8Array | undefined {
  const bytes = text.startsWith('[') ? readArray(text) : bs58.decodeUnsafe(text)
  if (bytes?.length !== 64) return undefined
  const secret = bytes.slice(0, 32)
  return Buffer.from(ed25519.getPublicKey(secret)).equals(bytes.slice(32)) ? secret : undefined
}

function readArray(text: string): Uint8Array | undefined {
  const numbers = /^\[([0-9, \n]*)\]$/.exec(text)?.[1]?.split(',').map(Number)
  return numbers?.every((number) => Number.isInteger(number) && number < 256)
    ? Uint8Array.from(numbers)
    : undefined
}
