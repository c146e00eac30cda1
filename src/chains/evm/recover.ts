import { secp256k1 } from '@noble/curves/secp256k1.js'
import { bytesToHex } from '@noble/hashes/utils.js'

/**
 * The public key, 65 bytes, that signed a hash of 32 bytes. `compact`: r and s, 32 bytes each.
 * @throws where no key did: r or s out of range, or no point on the curve
 */
export type Recover = (hash: Uint8Array, compact: Uint8Array, parity: 0 | 1) => Uint8Array

/** The highest s that the chain accepts in a signature (EIP-2). */
export const HALF_ORDER = secp256k1.Point.Fn.ORDER / 2n

/** By `@noble/curves`: everywhere but in a service that has something faster. */
export const recoverInJavaScript: Recover = (hash, compact, parity) =>
  secp256k1.Signature.fromBytes(compact, 'compact')
    .addRecoveryBit(parity)
    .recoverPublicKey(hash)
    .toBytes(false)

let recover = recoverInJavaScript

/**
 * The public key, 65 bytes, that signed a hash. Undefined for a signature of nobody, and for the higher of a
 * signature's two forms: only the lower one counts, as on the chain.
 * @see EIP-2
 */
export function recoverPublicKey(
  hash: Uint8Array,
  compact: Uint8Array,
  parity: 0 | 1,
): Uint8Array | undefined {
  if (hash.length !== 32 || compact.length !== 64) return undefined
  if (BigInt(`0x${bytesToHex(compact.subarray(32))}`) > HALF_ORDER) return undefined
  try {
    return recover(hash, compact, parity)
  } catch {
    return undefined
  }
}

/**
 * Recovers with another implementation in this process from now on.
 * @throws where it does not say of each known signature what the one in JavaScript says
 */
export function recoverWith(other: Recover): void {
  for (const [index, [hash, compact, parity]] of knownSignatures().entries())
    if (
      describe(other, hash, compact, parity) !==
      describe(recoverInJavaScript, hash, compact, parity)
    )
      throw new Error(`It recovers another key of the known signature ${index}.`)
  recover = other
}

function describe(by: Recover, ...signed: Parameters<Recover>): string {
  try {
    return bytesToHex(by(...signed))
  } catch {
    return 'nobody'
  }
}

/** Of the key 1: valid with either parity, and of nobody: r and s zero and out of range, and an r that is the x of no point. */
function knownSignatures(): Parameters<Recover>[] {
  const hash = new Uint8Array(32).fill(0x42)
  const key = new Uint8Array(32)
  key[31] = 1
  const valid = secp256k1.sign(hash, key, { prehash: false })
  const [zero, five] = [new Uint8Array(32), new Uint8Array(32)]
  five[31] = 5
  const order = secp256k1.Point.Fn.toBytes(-1n + secp256k1.Point.Fn.ORDER)
  order[31] = (order[31] ?? 0) + 1
  const [r, s] = [valid.subarray(0, 32), valid.subarray(32)]
  const pairs = [
    [r, s],
    [zero, s],
    [r, zero],
    [order, s],
    [r, order],
    [five, s],
  ] as const
  return pairs.flatMap(([first, second]) =>
    ([0, 1] as const).map((parity): Parameters<Recover> => {
      const compact = new Uint8Array(64)
      compact.set(first)
      compact.set(second, 32)
      return [hash, compact, parity]
    }),
  )
}
