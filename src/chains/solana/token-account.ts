import { ed25519 } from '@noble/curves/ed25519.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { concatBytes, utf8ToBytes } from '@noble/hashes/utils.js'
import bs58 from 'bs58'
import { ASSOCIATED_TOKEN_PROGRAM } from './programs.ts'

/** The owner of tokens, their mint, and the token program of the two. */
export type TokenHolding = { owner: string; mint: string; program: string }

const MARKER = utf8ToBytes('ProgramDerivedAddress')

/** A derivation takes some tenths of a millisecond, and the same few are needed again and again. */
const MAX_KNOWN = 500
const known = new Map<string, { address: string; bump: number }>()

/**
 * Where a wallet's tokens of a mint are held: the associated token account, an address without a
 * key. It follows from owner, program and mint alone, so it is computed here and never taken from
 * input.
 * @returns `bump`: how far the search went, from 255 down; opening the account repeats the search
 * on the chain
 */
export function associatedTokenAccount({ owner, mint, program }: TokenHolding): {
  address: string
  bump: number
} {
  const key = `${owner} ${program} ${mint}`
  const derived = known.get(key) ?? derive([owner, program, mint].map((part) => bs58.decode(part)))
  known.delete(key)
  known.set(key, derived)
  const oldest = known.keys().next()
  if (known.size > MAX_KNOWN && !oldest.done) known.delete(oldest.value)
  return derived
}

function derive(seeds: readonly Uint8Array[]): { address: string; bump: number } {
  const program = bs58.decode(ASSOCIATED_TOKEN_PROGRAM)
  for (let bump = 255; bump >= 0; bump--) {
    const hash = sha256(concatBytes(...seeds, Uint8Array.of(bump), program, MARKER))
    if (!isOnCurve(hash)) return { address: bs58.encode(hash), bump }
  }
  throw new RangeError('No address can be derived from these seeds.')
}

/**
 * As lenient as the cluster's own check: bytes that decompress to a point are a key, in any
 * encoding.
 */
function isOnCurve(bytes: Uint8Array): boolean {
  try {
    ed25519.Point.fromBytes(bytes, true)
    return true
  } catch {
    return false
  }
}
