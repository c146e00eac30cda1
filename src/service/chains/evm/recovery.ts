import { recoverWith } from '#chains/evm/recover.ts'

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
    recoverWith((hash, compact, parity) => {
      const key = recoverPublicKeyUncompressed(compact, parity, hash)
      if (typeof key === 'string') throw new Error(key)
      return key
    })
    return 'libsecp256k1'
  } catch (error) {
    onFailure(error)
    return 'javascript'
  }
}
