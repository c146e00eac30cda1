import { randomBytes } from 'node:crypto'
import type { Family } from '#contract/address.ts'
import { decrypt, encrypt } from './aes-gcm.ts'
import type { KeyVault } from '../context/vault.ts'

/** Whose secret it is: sealed bytes cannot be moved to another wallet's row. */
export type Owner = { id: string; accountId: string; family: Family; address: string }
export type Sealed = { vaultKeyId: string; wrappedKey: string; sealedSecret: string }

/** Encrypts a wallet's secret under a new data key, and the data key under the vault's. */
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
      `The wallet ${owner.id} is sealed under the vault key ${sealed.vaultKeyId}, and this process has ${vault.keyId}. Point VAULT_KEY_FILE or VAULT_KMS_KEY to the right one.`,
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
