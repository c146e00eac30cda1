import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import type { Family } from '#contract/address.ts'
import type { SealedWallet } from './protocol.ts'

const ALGORITHM = 'aes-256-gcm'
const NONCE_LENGTH = 12
const TAG_LENGTH = 16

/**
 * The key that wraps the data keys of managed wallets. It never leaves its keeper: a file of this machine, or a key management service.
 * What is wrapped is bound to its `context` and cannot be unwrapped under another one.
 */
export interface KeyVault {
  /** Names the key, so that a wallet tells which one wraps it. */
  readonly keyId: string
  wrap(dataKey: Uint8Array, context: string): Promise<Uint8Array>
  /** @throws Error when the bytes, the context or the key are not those of the wrapping */
  unwrap(wrapped: Uint8Array, context: string): Promise<Uint8Array>
}

/** Whose secret it is: sealed bytes cannot be moved to another row. `webhook`: it signs messages, and is no wallet's. `source`: credentials of a file's source, which the proxy seals. */
export type Owner = {
  id: string
  accountId: string
  family: Family | 'webhook' | 'source'
  address: string
}
export type Sealed = Omit<SealedWallet, keyof Owner>

/** Encrypts a secret under a new data key, and the data key under the vault's. */
export async function seal(vault: KeyVault, owner: Owner, secret: Uint8Array): Promise<Sealed> {
  const dataKey = randomBytes(32)
  try {
    const context = contextOf(owner)
    return {
      vaultKeyId: vault.keyId,
      wrappedKey: toBase64(await vault.wrap(dataKey, context)),
      sealedSecret: toBase64(encrypt(dataKey, secret, context)),
    }
  } finally {
    dataKey.fill(0)
  }
}

/**
 * The secret, for as long as it takes to sign; the caller must overwrite it.
 * @throws Error when another key of the vault wraps it, or the row was changed
 */
export async function unseal(vault: KeyVault, owner: Owner, sealed: Sealed): Promise<Uint8Array> {
  if (sealed.vaultKeyId !== vault.keyId) {
    throw new Error(
      `The secret of ${owner.id} is sealed under the vault key ${sealed.vaultKeyId}, and this process has ${vault.keyId}. Point VAULT_KEY_FILE or VAULT_KMS_KEY to the right one.`,
    )
  }
  const context = contextOf(owner)
  const dataKey = await vault.unwrap(Buffer.from(sealed.wrappedKey, 'base64'), context)
  try {
    return decrypt(dataKey, Buffer.from(sealed.sealedSecret, 'base64'), context)
  } finally {
    dataKey.fill(0)
  }
}

function contextOf({ id, accountId, family, address }: Owner): string {
  return ['paydesk wallet 1', id, accountId, family, address].join('\n')
}

function toBase64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64')
}

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
