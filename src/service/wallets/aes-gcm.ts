import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'

const ALGORITHM = 'aes-256-gcm'
const NONCE_LENGTH = 12
const TAG_LENGTH = 16

/** Nonce, tag and ciphertext in one piece. `context` is authenticated, not contained. */
export function encrypt(key: Uint8Array, plain: Uint8Array, context: string): Uint8Array {
  const nonce = randomBytes(NONCE_LENGTH)
  const cipher = createCipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_LENGTH }).setAAD(
    Buffer.from(context),
  )
  const sealed = Buffer.concat([cipher.update(plain), cipher.final()])
  return Buffer.concat([nonce, cipher.getAuthTag(), sealed])
}

/** @throws Error when key, context or a single bit is another */
export function decrypt(key: Uint8Array, sealed: Uint8Array, context: string): Uint8Array {
  const nonce = sealed.subarray(0, NONCE_LENGTH)
  const tag = sealed.subarray(NONCE_LENGTH, NONCE_LENGTH + TAG_LENGTH)
  const decipher = createDecipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_LENGTH })
    .setAAD(Buffer.from(context))
    .setAuthTag(tag)
  return Buffer.concat([
    decipher.update(sealed.subarray(NONCE_LENGTH + TAG_LENGTH)),
    decipher.final(),
  ])
}
