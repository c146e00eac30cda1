import type { VaultKey } from '../context/config.ts'
import { openFileVault } from './file-vault.ts'
import type { KeyVault } from '../context/vault.ts'

/** The vault that the configuration names. @throws ConfigError for a key file that cannot be used */
export async function openVault(key: VaultKey): Promise<KeyVault> {
  if ('file' in key) return openFileVault(key.file)
  // The client of AWS is large, and most installations have none.
  const { openKmsVault } = await import('./kms-vault.ts')
  return openKmsVault(key.kmsKey)
}
