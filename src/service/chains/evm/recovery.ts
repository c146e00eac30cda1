import { recoverInJavaScript, recoverWith, type Recover } from '#chains/evm/recover.ts'

/** What recovers the signers of EVM signatures in this process. */
export type Recovery = 'libsecp256k1' | 'javascript'

/**
 * Recovers signers with libsecp256k1, compiled to WebAssembly: ten times as fast as in JavaScript. Where it cannot be
 * loaded, or does not agree on known signatures, they are recovered in JavaScript as elsewhere.
 * @param onFailure hears why
 */
export async function openRecovery(onFailure: (error: unknown) => void): Promise<Recovery> {
  try {
    // The whole library has 300 files more.
    const { instantiateSecp256k1 } = await import('@bitauth/libauth/build/lib/crypto/secp256k1.js')
    const { recoverPublicKeyUncompressed } = await instantiateSecp256k1()
    recoverWith(orInJavaScript(recoverPublicKeyUncompressed))
    return 'libsecp256k1'
  } catch (error) {
    onFailure(error)
    return 'javascript'
  }
}

/**
 * As libsecp256k1 recovers it; its answer is a text where nobody signed. What it does not answer at all, for lack of
 * memory, says nothing about a signature: that is recovered in JavaScript.
 */
export function orInJavaScript(
  recover: (compact: Uint8Array, parity: 0 | 1, hash: Uint8Array) => Uint8Array | string,
): Recover {
  return (hash, compact, parity) => {
    let key: Uint8Array | string
    try {
      key = recover(compact, parity, hash)
    } catch {
      return recoverInJavaScript(hash, compact, parity)
    }
    if (typeof key === 'string') throw new Error(key)
    return key
  }
}
